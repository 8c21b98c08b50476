// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/learned/compact_features.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

FourierMapOptions wide(const CompactOptions& options) {
  FourierMapOptions many = options;
  many.features *= options.oversample;
  return many;
}

/// The same, for rff to make; Error (usage) if it cannot.
FourierMapOptions checked_wide(const CompactOptions& options) {
  const FourierMapOptions many = wide(options);
  KERF_REQUIRE(many.features <= kMaxHadamard, usage,
               "map compact: {} x {} must be at most {}, not {}", spell("features"),
               spell("oversample"), kMaxHadamard, many.features);
  frequency_count(many, CompactFeatures::kOwner);
  return many;
}

}  // namespace

CompactFeatures::CompactFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features),
      wide_(in_dim, checked_wide(options), key),
      projection_(wide_.out_dim(), options.features, key.child("projection")) {}

double CompactFeatures::relative_variance(const Options& options) {
  const FourierMapOptions many = wide(options);
  return fourier_variance(many) +
         (2 + 1 / static_cast<double>(many.features)) / static_cast<double>(options.features);
}

Index CompactFeatures::bytes(Index in_dim, const Options& options) {
  return FourierFeatures::bytes(in_dim, wide(options)) +
         8 * hadamard_size(options.features * options.oversample);
}

void CompactFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  constexpr Index kRows = 32;  // whose wide features are in cache
  thread_local Matrix<float> f;
  for (Index begin = 0; begin < x.rows(); begin += kRows) {
    const Index end = std::min(begin + kRows, x.rows());
    f.resize(end - begin, wide_.out_dim());
    wide_.transform(x.slice(begin, end), f.view());
    projection_.apply(f.view(), out.slice(begin, end));
  }
}

}  // namespace kerf::detail
