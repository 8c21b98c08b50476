// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/learned/fitted_map.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

constexpr Index kPartColumns = 512;

/// Rows of A down to the last that is not zero in columns first .. last - 1; one at least.
Index used_rows(const Matrix<float>& a, Index first, Index last) {
  for (Index i = a.rows(); i > 1; --i) {
    const auto row = a.row(i - 1);
    if (std::any_of(row.begin() + first, row.begin() + last, [](float v) { return v != 0; }))
      return i;
  }
  return 1;
}

}  // namespace

CompressedFeatures::CompressedFeatures(std::unique_ptr<FeatureMap> inner, const Matrix<float>& a,
                                       Index out_dim)
    : FeatureMap(inner->in_dim(), out_dim), inner_(std::move(inner)), rank_(a.cols()) {
  KERF_REQUIRE(a.rows() == inner_->out_dim() && rank_ >= 1 && rank_ <= out_dim, data,
               "a compression of {} x {} numbers for {} features to be made of {}", a.rows(), rank_,
               out_dim, inner_->out_dim());
  for (Index first = 0; first < rank_; first += kPartColumns) {
    const Index last = std::min(first + kPartColumns, rank_);
    const auto column = [&](Index j, std::span<float> direction) {
      for (std::size_t i = 0; i < direction.size(); ++i)
        direction[i] = a(static_cast<Index>(i), first + j);
      return 0.0f;
    };
    parts_.push_back({first, Projection(used_rows(a, first, last), last - first, column)});
  }
}

void CompressedFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  thread_local Matrix<float> f;
  f.resize(x.rows(), inner_->out_dim());
  inner_->transform(x, f.view());
  for (const auto& [first, columns] : parts_) {
    const MatrixView<const float> used(f.data(), x.rows(), columns.in_dim(), f.cols());
    columns.apply(RowsView(used), out.columns(first, first + columns.out_dim()));
  }
  for (Index i = 0; i < out.rows; ++i)
    std::fill(out.row(i).begin() + rank_, out.row(i).end(), 0.0f);
}

void fold_compression(MapState& state, Matrix<double>& weights) {
  const auto found = state.find(kCompression);
  if (found == state.end()) return;
  const Matrix<float>& a = found->second;
  Matrix<double> folded(a.rows(), weights.cols());
  folded.fill(0);
  parallel_for(a.rows(), 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < a.cols(); ++j)
        for (Index t = 0; t < weights.cols(); ++t) folded(i, t) += a(i, j) * weights(j, t);
  });
  weights = std::move(folded);
  state.erase(found);
}

Matrix<float> take_penalty(MapState& state) {
  const auto found = state.find(kPenalty);
  if (found == state.end()) return {};
  Matrix<float> penalty = std::move(found->second);
  state.erase(found);
  state.erase(kCompression);
  return penalty;
}

Index state_bytes(const MapState& state) {
  Index bytes = 0;
  for (const auto& [name, array] : state) bytes += 4 * array.rows() * array.cols();
  return bytes;
}

const Matrix<float>& checked_array(const MapState& state, const char* name, Index max_rows,
                                   Index cols) {
  const auto found = state.find(name);
  KERF_REQUIRE(found != state.end(), data, "the state of the map has no array '{}'", name);
  const Matrix<float>& array = found->second;
  KERF_REQUIRE(array.rows() >= 1 && array.rows() <= max_rows && array.cols() == cols, data,
               "the array '{}' of the map has {} x {} numbers, not (at most) {} x {}", name,
               array.rows(), array.cols(), max_rows, cols);
  for (Index i = 0; i < array.rows(); ++i)
    for (const float v : array.row(i))
      KERF_REQUIRE(std::isfinite(v), data, "the array '{}' of the map is not finite", name);
  return array;
}

}  // namespace kerf::detail
