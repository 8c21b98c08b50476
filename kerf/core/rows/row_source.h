// A stream of row blocks that can be read again from its beginning: what training consumes.
//
// Readers in io implement it over files; MemorySource over matrices that the caller already has.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// Rows that are images: element (y, x, c) stands at (y * width + x) * channels + c.
struct ImageShape {
  Index height = 0, width = 0, channels = 0;
  bool present() const { return height > 0; }
  bool operator==(const ImageShape&) const = default;
};

/// Numbers in one image.
inline Index values_of(ImageShape shape) { return shape.height * shape.width * shape.channels; }

/// Some consecutive rows with what belongs to them.  Owns its memory; sources reuse it.
struct RowBlock {
  Index first_row = 0;     ///< position of row 0 in the whole stream
  bool is_sparse = false;  ///< which of dense and sparse holds the rows
  Matrix<float> dense;     ///< rows x input columns
  Matrix<double> wide;     ///< the same in double where that was asked for, else no rows
  CsrMatrix sparse;        ///< the same, sparse
  Matrix<double> targets;  ///< rows x targets (none: 0 columns); a class is its number 0, 1, ...
  std::vector<double> weights;  ///< one per row, or empty: every row counts once
  ImageShape image;             ///< set when the rows are images
  Index copies = 1;             ///< consecutive rows made of one example: a fold holds all of them
  /// Where rows were left out: the number of each in the files, from 0; empty: as first_row counts.
  std::vector<Index> numbers;

  /// What row i is called in messages and results.
  Index number_of(Index i) const { return numbers.empty() ? first_row + i : numbers[i]; }

  RowsView x() const {
    if (is_sparse) return RowsView(sparse.view());
    return wide.rows() > 0 ? RowsView(dense.view(), wide.view()) : RowsView(dense.view());
  }
  Index rows() const { return is_sparse ? sparse.rows() : dense.rows(); }
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
};

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
               std::span<const double> weights = {})
      : x_(x), targets_(targets), block_rows_(block_rows), weights_(weights) {}

  Index cols() const override { return x_.cols(); }
  void rewind() override { position_ = 0; }
  bool next(RowBlock& block) override;

 private:
  RowsView x_;
  MatrixView<const double> targets_;
  Index block_rows_;
  std::span<const double> weights_;
  Index position_ = 0;
};

}  // namespace kerf::detail
