// A stream of row blocks that can be read again from its beginning: what training consumes.
//
// Readers in io implement it over files; MemorySource over matrices that the caller already has.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kerf/api/task.h"
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// Numbers in one image.
inline Index values_of(ImageShape shape) { return shape.height * shape.width * shape.channels; }

/// Input rows in memory of their own.
struct InputRows {
  bool is_sparse = false;  ///< which of dense and sparse holds the rows
  Matrix<float> dense;     ///< rows x input columns
  Matrix<double> wide;     ///< the same in double where that was asked for, else no rows
  CsrMatrix sparse;        ///< the same, sparse

  RowsView x() const {
    if (is_sparse) return RowsView(sparse.view());
    return wide.rows() > 0 ? RowsView(dense.view(), wide.view()) : RowsView(dense.view());
  }
  Index rows() const { return is_sparse ? sparse.rows() : dense.rows(); }

  /// As those of `like`, with room for `count`: sparse rows none yet, dense ones not set.  Memory is
  /// kept.
  void make_room(const RowsView& like, Index count);
  /// Row i of x as row `at`.  Sparse rows come in their order: `at` is the one after the last.
  void put(Index at, const RowsView& x, Index i);
};

InputRows copy_of(const RowsView& x);

/// Some consecutive rows with what belongs to them.  Owns its memory; sources reuse it.
struct RowBlock : InputRows {
  Index first_row = 0;     ///< position of row 0 in the whole stream
  Matrix<double> targets;  ///< rows x targets (none: 0 columns); a class is its number 0, 1, ...
  std::vector<double> weights;  ///< one per row, or empty: every row counts once
  ImageShape image;             ///< set when the rows are images
  Index copies = 1;             ///< consecutive rows made of one example: a fold holds all of them
  /// Where rows were left out: the number of each in the files, from 0; empty: as first_row counts.
  std::vector<Index> numbers;

  /// What row i is called in messages and results.
  Index number_of(Index i) const { return numbers.empty() ? first_row + i : numbers[i]; }

  /// As `like`: inputs, targets, image; without weights and numbers.
  void make_room(const RowBlock& like, Index count);
  /// Row i of `from` with its targets and weight as row `at`.  Blocks without weights may stand
  /// beside others that have them: theirs are 1.
  void put(Index at, const RowBlock& from, Index i);
  using InputRows::make_room, InputRows::put;
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  /// Columns of every block's rows.
  virtual Index cols() const = 0;
  /// Starts again at the first row.
  virtual void rewind() = 0;
  /// Fills `block` with the next rows; false, and no rows, at the end.
  virtual bool next(RowBlock& block) = 0;
  /// How much of the rows was handed out since rewind(), from 0 to 1; 0: not known.
  virtual double part_read() const { return 0; }
};

/// How many rows there are, where so many were `read`, as far as that is known; else 0.
Index rows_expected(const RowSource& source, Index read);

/// All rows of a source, from its beginning, in one block.
RowBlock read_all(RowSource& source);
/// The same, refused (Error, memory) as soon as the rows need more than `memory_limit` (0: what is
/// available); `advice` says what to do then.
RowBlock read_all(RowSource& source, Index memory_limit, const std::string& advice);

/// All rows of a source, from its beginning, in blocks of `block_rows` (the last may be smaller)
/// however the source cuts them: receive(first_row, rows).
void for_each_block(RowSource& source, Index block_rows,
                    const std::function<void(Index, const RowsView&)>& receive);

/// A source over matrices in memory; the views must outlive it.
class MemorySource final : public RowSource {
 public:
  /// No weights: every row counts once.
  MemorySource(RowsView x, MatrixView<const double> targets, Index block_rows = 4096,
               WeightsView weights = {})
      : x_(x), targets_(targets), block_rows_(block_rows), weights_(weights) {}

  Index cols() const override { return x_.cols(); }
  void rewind() override { position_ = 0; }
  bool next(RowBlock& block) override;
  double part_read() const override;

 private:
  RowsView x_;
  MatrixView<const double> targets_;
  Index block_rows_;
  WeightsView weights_;
  Index position_ = 0;
};

}  // namespace kerf::detail
