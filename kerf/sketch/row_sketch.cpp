// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/row_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/sketch/osnap_column.h"
#include "kerf/sketch/sampled_hadamard.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

constexpr Index kStrip = 1024;  // columns that a thread takes at a time in RowOsnap
constexpr Index kColumns = 64;  // and in RowSrht: B rows of them should fit the second-level cache

/// A row's piece, asked for before it is needed: the next row is far away.
constexpr Index kAhead = 8;
void prefetch(const float* at, Index count) {
  for (Index j = 0; j < count; j += 16) __builtin_prefetch(at + j);
}

void add_to(const Matrix<float>& from, Matrix<float>& to) {
  const Index count = to.rows() * to.cols();
  for (Index i = 0; i < count; ++i) to.data()[i] += from.data()[i];
}

void require_stream(Index first_row, const RowsView& z, Index cols) {
  KERF_REQUIRE(z.cols() == cols, usage, "rows of {} columns, but the row sketch takes {}", z.cols(),
               cols);
  KERF_REQUIRE(first_row >= 0, usage, "a row sketch was given row number {}", first_row);
}

}  // namespace

// ---- RowOsnap -----------------------------------------------------------------------------------

RowOsnap::RowOsnap(Index out_rows, Index cols, Index nonzeros, rng::Key key)
    : nonzeros_(nonzeros), key_(key) {
  KERF_REQUIRE(out_rows >= 1 && cols >= 1 && nonzeros >= 1 && nonzeros <= out_rows, usage,
               "a row sketch of {} x {} with {} nonzeros a column", out_rows, cols, nonzeros);
  sum_.resize(out_rows, cols);
  sum_.fill(0.0f);
}

void RowOsnap::add(Index first_row, const RowsView& z) {
  require_stream(first_row, z, sum_.cols());
  const OsnapColumns columns(sum_.rows(), nonzeros_, key_, 1);
  std::vector<OsnapEntry> entries(z.rows() * nonzeros_);
  for (std::size_t k = 0; k < entries.size(); ++k)
    entries[k] = columns.entry(first_row * nonzeros_ + static_cast<Index>(k));
  const auto entry = [&](Index i, Index c) { return entries[i * nonzeros_ + c]; };
  if (z.is_sparse()) {
    for (Index i = 0; i < z.rows(); ++i) {
      const SparseRow row = z.sparse().row(i);
      for (Index c = 0; c < nonzeros_; ++c) {
        const auto [place, sign] = entry(i, c);
        float* out = sum_.row(place).data();
        for (std::size_t k = 0; k < row.values.size(); ++k)
          out[row.columns[k]] += sign * row.values[k];
      }
    }
    return;
  }
  parallel_for(sum_.cols(), kStrip, [&](Index begin, Index end) {
    for (Index i = 0; i < z.rows(); ++i)
      for (Index c = 0; c < nonzeros_; ++c) {
        const auto [place, sign] = entry(i, c);
        const float* in = z.dense().row(i).data();
        float* out = sum_.row(place).data();
        for (Index j = begin; j < end; ++j) out[j] += sign * in[j];
      }
  });
}

void RowOsnap::add_in_any_order(Index rows, const AddRow& add_row) {
  KERF_REQUIRE(rows >= 0 && rows < Index{1} << 31, usage, "a sketch of {} rows in any order", rows);
  const OsnapColumns columns(sum_.rows(), nonzeros_, key_, 1);
  // The columns' entries by place, those of a place in order: 2 row, or 2 row + 1 for a minus.
  std::vector<Index> end(static_cast<std::size_t>(sum_.rows()) + 1, 0);
  std::vector<std::uint32_t> entries(rows * nonzeros_);
  for (Index k = 0; k < rows * nonzeros_; ++k)
    ++end[static_cast<std::size_t>(columns.entry(k).place) + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  for (Index k = 0; k < rows * nonzeros_; ++k) {
    const auto [place, sign] = columns.entry(k);
    entries[end[static_cast<std::size_t>(place)]++] =
        static_cast<std::uint32_t>(2 * (k / nonzeros_) + (sign < 0 ? 1 : 0));
  }
  const float factor = std::abs(columns.entry(0).sign);
  parallel_for(sum_.rows(), 16, [&](Index begin, Index stop) {
    for (Index place = begin; place < stop; ++place) {
      const auto at = static_cast<std::size_t>(place);
      const Index first = place == 0 ? 0 : end[at - 1];
      for (Index e = first; e < end[at]; ++e) {
        const std::uint32_t entry = entries[e];
        add_row(entry / 2, entry % 2 != 0 ? -factor : factor, sum_.row(place));
      }
    }
  });
}

void RowOsnap::merge(const RowOsnap& other) {
  KERF_REQUIRE(sum_.rows() == other.sum_.rows() && sum_.cols() == other.sum_.cols() &&
                   nonzeros_ == other.nonzeros_ && key_ == other.key_,
               usage, "row sketches with other dimensions or another key cannot be merged");
  add_to(other.sum_, sum_);
}

// ---- RowSrht ------------------------------------------------------------------------------------

RowSrht::RowSrht(Index out_rows, Index cols, rng::Key key, Index block_rows)
    : key_(key), out_rows_(out_rows), cols_(cols) {
  KERF_REQUIRE(out_rows >= 1 && cols >= 1, usage, "a row sketch of {} x {}", out_rows, cols);
  if (block_rows == 0) block_rows = std::max<Index>(256, hadamard_size(out_rows));
  KERF_REQUIRE(block_rows >= 1 && hadamard_size(block_rows) == block_rows, usage,
               "row blocks of {}: not a power of two", block_rows);
  block_rows_ = block_rows;
  sum_.resize((cols + kColumns - 1) / kColumns * out_rows, kColumns);
  sum_.fill(0.0f);
}

void RowSrht::add(Index first_row, const RowsView& z) {
  require_stream(first_row, z, cols_);
  for (Index i = 0; i < z.rows();) {
    const Index block = (first_row + i) / block_rows_, offset = (first_row + i) % block_rows_;
    const Index count = std::min(z.rows() - i, block_rows_ - offset);
    if (block != block_) flush();
    if (count == block_rows_ && !z.is_sparse()) {
      add_block(block, z.dense().slice(i, i + count), sum_);
    } else {
      add_pending(block, offset, z, i, i + count);
    }
    i += count;
  }
}

void RowSrht::add_pending(Index block, Index offset, const RowsView& z, Index begin, Index end) {
  if (block_ < 0) {
    pending_.resize(block_rows_, cols_);
    pending_.fill(0.0f);
    block_ = block;
  }
  for (Index i = begin; i < end; ++i) copy_row(z, i, pending_.row(offset + i - begin));
}

void RowSrht::add_block(Index block, MatrixView<const float> rows, Matrix<float>& sum) const {
  const Index m = out_rows_;
  const rng::Key key = key_.child(static_cast<std::uint64_t>(block));
  std::vector<float> signs(rows.rows);
  std::vector<float> out_signs(m);
  rng::fill_sign(key.child("sign"), 0, signs);
  rng::fill_sign(key.child("out"), 0, out_signs);
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(m)));
  for (float& sign : signs) sign *= scale;
  const auto sample = balanced_sample(rows.rows, m, false, key.child("sample"));
  parallel_for(rows.cols, kColumns, [&](Index begin, Index end) {
    // A copy without gaps: in place, lines that are a power of two apart push each other out.
    thread_local Matrix<float> strip;
    strip.resize(rows.rows, kColumns);
    if (end - begin < kColumns) strip.fill(0.0f);
    for (Index r = 0; r < rows.rows; ++r) {
      const float sign = signs[r];
      const float* from = rows.row(r).data() + begin;
      if (r + kAhead < rows.rows) prefetch(rows.row(r + kAhead).data() + begin, end - begin);
      float* to = strip.row(r).data();
      for (Index j = 0; j < end - begin; ++j) to[j] = sign * from[j];
    }
    walsh_hadamard_columns(strip.view());
    float* to = sum.data() + begin * m;
    for (std::size_t i = 0; i < sample.size(); ++i, to += kColumns) {
      const float* from = strip.row(sample[i]).data();
      for (Index j = 0; j < kColumns; ++j) to[j] += out_signs[i] * from[j];
    }
  });
}

void RowSrht::flush() {
  if (block_ >= 0) add_block(block_, pending_.view(), sum_);
  block_ = -1;
}

void RowSrht::merge(const RowSrht& other) {
  KERF_REQUIRE(out_rows_ == other.out_rows_ && cols_ == other.cols_ &&
                   block_rows_ == other.block_rows_ && key_ == other.key_,
               usage, "row sketches with other dimensions or another key cannot be merged");
  add_to(other.sum_, sum_);
  if (other.block_ >= 0) add_block(other.block_, other.pending_.view(), sum_);
}

Matrix<float> RowSrht::result() const {
  Matrix<float> sum = sum_.copy();
  if (block_ >= 0) add_block(block_, pending_.view(), sum);
  Matrix<float> out(out_rows_, cols_);
  for (Index j = 0; j < cols_; j += kColumns) {
    const Index width = std::min(kColumns, cols_ - j);
    for (Index i = 0; i < out_rows_; ++i)
      std::copy_n(sum.row(j / kColumns * out_rows_ + i).data(), width, out.row(i).data() + j);
  }
  return out;
}

}  // namespace kerf::detail
