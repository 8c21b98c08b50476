// From a dataset to a complete model, in one call.
//
//   kerf::Fit fit = kerf::fit(train, {.map = kerf::maps::Rff{.features = 2048}});
//   fit.model.save("model.kerf");
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kerf/api/dataset.h"
#include "kerf/api/model.h"

namespace kerf {

/// What a fit is asked for, apart from the data.  What is not given keeps its default, which is also
/// that of the program: the same rows and options give the same model, bit by bit.
struct FitRequest {
  MapSpec map =
      "auto";  ///< a feature map; "auto": chosen for the data; "exact" with option kernel: the kernel itself
  FitOptions fit = {};          ///< lambda, solver, scale, ...
  ImageOptions image = {};      ///< steps before scaling
  AugmentOptions augment = {};  ///< copies of training images
  Params by_name = {};          ///< options of these three by name, as a configuration has them
  double holdout = 0;  ///< part of the rows that is kept out of training, to score the model on,
  std::vector<std::string> test = {};  ///< or files to score it on
  std::string test_labels = {};        ///< whose labels may be in a file of their own
  bool page = false;                   ///< also an HTML page about the fit
  std::string command = {};            ///< for the model's record: what somebody typed
};

/// How well a fit predicts beside a constant.
struct Quality {
  std::string metric;     ///< accuracy or r2
  double value = 0;       ///< larger is better
  double constant = 0;    ///< the same of the commonest class, or of the mean
  std::string how;        ///< on which rows: "leave-one-out", ...
  bool left_out = false;  ///< whether the fit did not see them
};

/// How a fit went.
struct FitReport {
  double lambda = 0;
  std::vector<double> lambda_per_target;  ///< empty: one for all
  std::optional<double> cv_error;         ///< of rows left out; none: lambda was given
  std::string metric, validation;         ///< what that is, and how it was found, in words
  std::optional<Quality> quality;         ///< none: targets that do not vary
  std::string scale, solver, solver_reason, map_reason;
  Index estimated_memory = 0;  ///< in bytes, before the fit began
  double seconds = 0;
  std::vector<std::string> notes;     ///< how the solver went about it
  std::vector<std::string> warnings;  ///< what the user should know about the result: show them
};

struct Fit {
  Model model;
  FitReport report;
  std::optional<Score> test;  ///< of the rows held out, or of the test files
  std::string page;           ///< HTML, where it was asked for
};

/// Trains on all rows but those held out.  Errors come before the work where they can: usage for wrong
/// options, memory for a fit that needs more than it may take, data for rows that cannot be learned.
KERF_API Fit fit(Dataset& data, const FitRequest& request = {}, const Context& context = {});

/// The same on blocks of rows that arrive one at a time, with a model to be had at any moment.  The
/// first block decides scaling, bandwidth and bias; memory does not grow with the rows.
/// Movable; one thread at a time.
class KERF_API BlockwiseFit {
 public:
  /// Hold-out, test files, image steps, balanced classes and map "exact" need all rows: Error (usage).
  explicit BlockwiseFit(const FitRequest& request = {}, const Context& context = {},
                        const DataOptions& data = {});
  BlockwiseFit(BlockwiseFit&&) noexcept;
  BlockwiseFit& operator=(BlockwiseFit&&) noexcept;
  ~BlockwiseFit();

  /// The first block names all classes that will come; later ones have its columns.  A block with a
  /// fault in it is refused as a whole; what is stopped in the middle (by progress) ends the fit.
  void add(const Table& block);
  Index rows() const;
  /// The model of all rows so far; more may be added afterwards.
  Fit solve();

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace kerf
