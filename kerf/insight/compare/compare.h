// `kerf compare`: maps x numbers of features x seeds on a user's data.
//
//   each seed s: the rows are split (those held out are drawn by s, as in `kerf fit --holdout
//   --seed s`, unless test rows are given), every map is fitted with every number of features and
//   scored on the rows it did not see kernel error, epsilon, condition number: on a sample of the
//   rows (kernel_quality.h), each map against its own kernel
//
// Pareto front: what nothing else beats in error, time and memory at once (means over the seeds).
// Recommendation: the one of least error, or the quickest that takes less than half its time and is
// within one standard error of it (of differences seed by seed: all maps see the same split).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/core/spelling.h"
#include "kerf/insight/measure/interval.h"
#include "kerf/insight/measure/kernel_quality.h"
#include "kerf/learn/options/fit_options.h"
#include "kerf/learn/score/evaluate.h"

namespace kerf::detail {

/// A map of the comparison.
struct MapSpec {
  std::string label;  ///< as the user wrote it
  std::string map;    ///< a registered map, auto or exact
  Params options;     ///< of this map alone
};

/// "rff,arccos:directions=orthogonal:order=0" to specs: maps by commas, options by colons.
std::vector<MapSpec> parse_specs(const std::string& text);

/// The specs with `common` put into those that know such an option; Error (usage) if none does, or
/// for a wrong name or value.
std::vector<MapSpec> with_common_options(std::vector<MapSpec> specs, const Params& common);

struct CompareOptions {
  Index seeds = 3, sample = 500;
  double holdout = 0.2, kernel_lambda = 1e-4;

  void describe(OptionVisitor& v) {
    v.integer("seeds", seeds, {1, 1000}, "fits of each: seed, seed + 1, ...");
    v.real("holdout", holdout, {0.01, 0.9},
           "part of the rows to score on, when there is no " + spell("test"));
    v.integer("sample", sample, {0, 100000}, "rows for the kernel's error; 0: leave it out");
    v.real("kernel-lambda", kernel_lambda, kAnyPositive,
           "penalty at which epsilon and condition numbers are taken");
  }
};

struct Comparison {
  struct Run {
    double error = 0;  ///< part of the rows that is wrong, or root mean squared error
    double r2 = 0;
    double seconds = 0;
    double lambda = 0;
    std::optional<KernelQuality> quality;
    double gain = 0;  ///< over a constant: of the part that is right, or r2
  };
  struct Entry {
    MapSpec spec;
    Index features = 0;  ///< 0: the exact kernel
    std::vector<Run> runs;
    Index memory = 0;  ///< of a fit, as worked out before it
    bool on_front = false;
    Params options;        ///< of the first run; nothing automatic
    bool is_zero = false;  ///< the features of some run are all 0

    Interval error() const;
    Interval seconds() const;
    /// Of the kernel, by the name of quality_metrics(); none if not measured.
    std::optional<Interval> quality(std::string_view metric) const;
  };
  Task task = Task::regression;
  Index rows = 0, cols = 0, sample = 0;
  std::string validation;      ///< what the error is of, in words
  std::vector<Entry> entries;  ///< by map, then features
  std::size_t recommended = 0;
  std::string recommendation;  ///< one sentence
  double kernel_lambda = 0, seconds = 0;
  std::vector<std::string> warnings = {};  ///< of maps whose features are all 0

  const char* error_name() const {
    return task == Task::classification ? "error rate" : "root mean squared error";
  }
};

/// `test`: opens rows to score on, or null: rows are held out.
Comparison compare_maps(RowSource& source, const DataSummary& summary,
                        const std::vector<MapSpec>& specs, const std::vector<Index>& features,
                        const CompareOptions& options, const FitOptions& fit,
                        const std::function<Score(const Model&)>& test, Index memory_limit = 0,
                        const Progress& progress = {});

/// Which entries nothing else beats in all three; exposed for its test.
std::vector<bool> pareto_front(const std::vector<std::vector<double>>& costs);

/// `fit`: the command that was recommended; `command` repeats the comparison.
std::string compare_report(const Comparison& comparison, const std::string& fit,
                           const std::string& command);

}  // namespace kerf::detail
