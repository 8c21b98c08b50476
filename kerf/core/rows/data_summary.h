// What one look at all rows tells: enough to scale columns, choose automatic options and set up a
// fit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kerf/api/task.h"
#include "kerf/core/names.h"
#include "kerf/core/progress.h"
#include "kerf/core/random/random.h"
#include "kerf/core/rows/row_source.h"

namespace kerf {
constexpr auto names_of(Task) { return std::array{"regression", "classification"}; }
}  // namespace kerf

namespace kerf::detail {

/// Rows kept as a sample for automatic choices (bandwidth, ...), at most.
inline constexpr Index kSampleRows = 1000;

struct DataSummary {
  Index rows = 0;
  Index cols = 0;
  bool is_sparse = false;
  bool is_bytes = false;  ///< pixels 0 .. 255
  ImageShape image;
  Index copies = 1;  ///< consecutive rows made of one example

  Task task = Task::regression;
  std::string task_reason;           ///< why `task`, in words, when it was worked out
  Index targets = 0;                 ///< target columns of a block: 1 for classification
  std::vector<std::string> classes;  ///< classification: names by class number
  std::vector<double> class_rows;    ///< classification: (weighted) rows of each class
  double weight = 0;                 ///< sum of the row weights; `rows` when there are none
  std::vector<double> target_scale;  ///< regression: see TargetRange; empty: 1
  std::vector<double> target_deviation = {};  ///< standard, over rows; empty: not taken

  std::vector<double> mean;             ///< of each input column, over rows
  std::vector<double> mean_square;      ///< of each input column
  std::vector<double> least, greatest;  ///< numbers of each; empty: not taken (bytes)
  std::vector<std::string> names;       ///< of the input columns, for messages; empty: none
  std::vector<bool> one_hot;            ///< columns made from a category; empty: none
  double seconds = 0;  ///< that the pass took which made it: about what another one takes
  std::optional<std::uint64_t> fingerprint;  ///< of all rows (RowFingerprint); none: not taken
  RowBlock sample;  ///< kSampleRows rows (or all), drawn by key, in row order
};

/// A number that other rows, targets or weights, or these in another order, will not give.
class RowFingerprint {
 public:
  /// The next rows; how they are cut into blocks does not matter.
  void add(const RowBlock& block);
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

/// How far the targets of a stream reach: whether sums in single precision can hold them.
class TargetRange {
 public:
  /// The targets of a row; NaN is none.
  void add(std::span<const double> targets);
  /// What a fit divides each target by, a power of two: 1 unless the largest target reaches beyond
  /// 2^40 from its first value, or less than 2^-40.  A target far smaller than the largest gets one
  /// of its own.
  std::vector<double> scales() const;
  /// Their standard deviations.
  std::vector<double> deviations() const;

 private:
  std::vector<double> first_, reach_;          // NaN: no value yet
  std::vector<double> rows_, mean_, squares_;  // around first_; squares around the mean
};

/// The positions of a uniform sample of up to `size` of a stream's rows: those with the smallest
/// random number Philox(key, row).  Feed rows in order; `offer` says whether the row belongs to the
/// sample of the rows seen so far, and which slot (an earlier row's, or a new one) it takes.
class RowSampler {
 public:
  RowSampler(rng::Key key, Index size) : key_(key), size_(size) {}
  /// Slot in [0, size) for this row, or -1.
  Index offer(Index row);
  /// Slots in order of their rows.
  std::vector<Index> slots_in_row_order() const;

 private:
  struct Member {
    std::uint64_t rank;
    Index row, slot;
    bool operator<(const Member& other) const { return rank < other.rank; }
  };
  rng::Key key_;
  Index size_;
  std::vector<Member> heap_;  // largest rank first
};

/// The rows of a RowSampler's sample, with their targets and weights.
class SampleKeeper {
 public:
  SampleKeeper(rng::Key key, Index size) : sampler_(key, size) {}

  /// Offers the rows of the next block.
  void add(const RowBlock& block);
  /// The sample of the rows so far, in row order.
  RowBlock sample() const;
  /// The same; nothing is left.
  RowBlock take();

 private:
  RowSampler sampler_;
  RowBlock like_;               // no rows, shaped as they are
  std::vector<RowBlock> rows_;  // of one row each
};

/// Sums of columns, shifted by the first row so that large offsets lose no digits.
class ColumnSums {
 public:
  void add(const RowsView& x);
  /// Into mean, mean_square, least and greatest.
  void describe(DataSummary& summary) const;

 private:
  void add_value(std::size_t column, double value);

  Index rows_ = 0;
  std::vector<double> shift_, mean_, square_, least_, greatest_;
};

/// Reads all of `source` once and rewinds it.  The source's rows must be encoded already; with
/// `classes` names given the single target column holds class numbers.
DataSummary summarise(RowSource& source, Task task, std::vector<std::string> classes, rng::Key key,
                      const Progress& progress = {});

}  // namespace kerf::detail
