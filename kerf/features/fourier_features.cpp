// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/fourier_features.h"

#include <cmath>
#include <numbers>

#include "kerf/core/pointwise.h"
#include "kerf/core/require.h"

namespace kerf {

void draw_frequency(ShiftInvariant kernel, rng::Key key, Index j, std::span<float> frequency) {
  constexpr double kTurn = 1 / (2 * std::numbers::pi);
  const rng::Key stream = key.child("frequency");
  const auto first = static_cast<std::uint64_t>(j) * frequency.size();
  double scale = kTurn;
  if (kernel == ShiftInvariant::laplacian_l2)
    scale /= std::abs(rng::normal(key.child("length"), static_cast<std::uint64_t>(j)));
  for (std::size_t k = 0; k < frequency.size(); ++k) {
    double draw = 0;
    switch (kernel) {
      case ShiftInvariant::gaussian:
      case ShiftInvariant::laplacian_l2:
        draw = rng::normal(stream, first + k);
        break;
      case ShiftInvariant::laplacian:
        draw = rng::cauchy(stream, first + k);
        break;
      case ShiftInvariant::cauchy:
        draw = rng::laplace(stream, first + k);
        break;
    }
    frequency[k] = static_cast<float>(scale * draw);
  }
}

FourierFeatures::FourierFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features), form_(options.form) {
  const bool pairs = form_ == Options::Form::pairs;
  KERF_REQUIRE(!pairs || options.features % 2 == 0, usage,
               "map rff: --features must be even for cosine and sine pairs, not {}; "
               "or take --form phase",
               options.features);
  KERF_REQUIRE(options.bandwidth.has_value(), usage,
               "map rff: --bandwidth auto needs data; give a number");
  const auto inverse_bandwidth = static_cast<float>(1 / *options.bandwidth);
  turns_ = Projection(
      in_dim, pairs ? options.features / 2 : options.features,
      [&](Index j, std::span<float> frequency) {
        draw_frequency(options.kernel, key, j, frequency);
        for (float& f : frequency) f *= inverse_bandwidth;
        if (pairs) return 0.0f;
        return static_cast<float>(rng::uniform(key.child("phase"), static_cast<std::uint64_t>(j)));
      });
}

std::unique_ptr<Kernel> FourierFeatures::kernel(const Options& options) {
  Params params;
  if (options.bandwidth) params["bandwidth"] = format_number(*options.bandwidth);
  return find_kernel(kShiftInvariantNames[static_cast<int>(options.kernel)]).make(params);
}

double FourierFeatures::relative_variance(const Options& options) {
  return (options.form == Options::Form::pairs ? 2.0 : 1.5) / static_cast<double>(options.features);
}

Index FourierFeatures::bytes(Index in_dim, const Options& options) {
  return in_dim * options.features * (options.form == Options::Form::pairs ? 2 : 4);
}

void FourierFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  const auto scale = static_cast<float>(std::sqrt(2.0 / static_cast<double>(out_dim())));
  const Index half = out_dim() / 2;
  if (form_ == Options::Form::pairs) {
    turns_.apply(x, [&](Index i, Index first, std::span<float> turns) {
      float* row = out.row(i).data() + first;
      sincos_turns(turns, scale, row, row + half);
    });
  } else {
    turns_.apply(x, [&](Index i, Index first, std::span<float> turns) {
      cos_turns(turns, scale, out.row(i).data() + first);
    });
  }
}

}  // namespace kerf
