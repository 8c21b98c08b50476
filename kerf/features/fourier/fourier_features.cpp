// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/fourier/fourier_features.h"

#include <algorithm>

namespace kerf::detail {

FourierFeatures::FourierFeatures(Index in_dim, const Options& options, rng::Key key)
    : FourierMap(in_dim, options, key) {
  const Index count = frequency_count(options, kOwner);
  const auto inverse_bandwidth = static_cast<float>(1 / *options.bandwidth);
  turns_ = Projection(in_dim, count, [&](Index j, std::span<float> frequency) {
    draw_frequency(options.kernel, key, j, frequency);
    for (float& f : frequency) f *= inverse_bandwidth;
    return 0.0f;
  });
}

std::optional<Params> FourierFeatures::stands_for(std::string_view kernel, const Params& options,
                                                  const DataSummary& summary) {
  const bool has = find_by_name<ShiftInvariant>(kernel).has_value();
  if (!has || (RadialMapOptions::has(kernel) && wants_fast_transforms(summary)))
    return std::nullopt;
  return with_kernel(options, kernel);
}

Index FourierFeatures::bytes(Index in_dim, const Options& options) {
  return in_dim * options.features * (options.form == Options::Form::pairs ? 2 : 4);
}

void FourierFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  turns_.apply(x, [&](Index i, Index first, std::span<float> turns) {
    form_.write(first, turns, out.row(i));
  });
}

}  // namespace kerf::detail
