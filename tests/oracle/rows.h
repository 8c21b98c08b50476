// Rows of Gaussian numbers, and maps applied to one row.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/features/feature_map.h"

namespace kerf::detail::oracle {

template <class T = float>
Matrix<T> normal_matrix(Index rows, Index cols, std::uint64_t seed) {
  Matrix<T> a(rows, cols);
  rng::fill_normal(rng::Key{seed}, 0, std::span(a.data(), static_cast<std::size_t>(rows * cols)));
  return a;
}

inline std::vector<float> gaussian_row(Index dim, std::uint64_t label) {
  std::vector<float> row(dim);
  rng::fill_normal(rng::Key{41}.child(label), 0, std::span(row));
  return row;
}

/// The features of one row.
inline std::vector<float> transform(const FeatureMap& map, const std::vector<float>& row) {
  std::vector<float> out(map.out_dim());
  map.transform(MatrixView<const float>(row.data(), 1, map.in_dim()),
                {out.data(), 1, map.out_dim()});
  return out;
}

}  // namespace kerf::detail::oracle
