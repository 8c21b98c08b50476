// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/feature_map.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {
/// Rows of one piece of work: many enough to reuse what a map reads per piece.
constexpr Index kPieceRows = 96;
/// Tiles of products are of 6 or 12 rows.
constexpr Index kTileRows = 12;
constexpr Index kPiecesPerThread = 8;

/// Several pieces for each thread, so that one that other work slows down does fewer of them and all
/// end together.
Index piece_rows(Index rows) {
  if (threads() == 1) return kPieceRows;
  // Few rows: a tile for each thread, as far as they go.
  if (rows <= kTileRows * threads()) return std::max<Index>(1, (rows + threads() - 1) / threads());
  const Index share = rows / (kPiecesPerThread * threads());
  return std::clamp((share + kTileRows - 1) / kTileRows * kTileRows, kTileRows, kPieceRows);
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

}  // namespace kerf::detail
