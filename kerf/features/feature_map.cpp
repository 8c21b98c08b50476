// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/feature_map.h"

#include <algorithm>

#include "kerf/core/parallel.h"
#include "kerf/core/require.h"

namespace kerf {
namespace {
/// Rows of one piece of work: many enough to reuse what a map reads per piece.
constexpr Index kPieceRows = 96;

/// As many pieces as threads, or a multiple, so that all threads end together.
Index piece_rows(Index rows) {
  if (threads() == 1) return kPieceRows;
  const Index pieces = (rows + kPieceRows - 1) / kPieceRows;
  const Index even = std::max<Index>(1, (pieces + threads() - 1) / threads() * threads());
  const Index share = std::max<Index>(1, (rows + even - 1) / even);
  // Tiles of products are of 6 or 12 rows.
  return share < kPieceRows / 2 ? share : std::min(kPieceRows, (share + 11) / 12 * 12);
}

}  // namespace

FeatureMap::FeatureMap(Index in_dim, Index out_dim) : in_dim_(in_dim), out_dim_(out_dim) {
  KERF_REQUIRE(in_dim >= 1, usage, "a feature map needs at least one input column, not {}", in_dim);
  KERF_REQUIRE(out_dim >= 1, usage, "a feature map needs at least one feature, not {}", out_dim);
}

void fail_without_rows(const char* map) {
  fail(ErrorKind::usage, "the map {} learns from rows: it cannot be made without all of them", map);
}

void FeatureMap::transform(const RowsView& x, MatrixView<float> out) const {
  KERF_REQUIRE(x.cols() == in_dim_, data, "the rows have {} columns, but the feature map takes {}",
               x.cols(), in_dim_);
  KERF_REQUIRE(out.rows == x.rows() && out.cols == out_dim_, usage,
               "the output is {} x {}, but {} x {} features are to be written", out.rows, out.cols,
               x.rows(), out_dim_);
  parallel_for(x.rows(), piece_rows(x.rows()), [&](Index begin, Index end) {
    transform_rows(x.slice(begin, end), out.slice(begin, end));
  });
}

}  // namespace kerf
