// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/fourier/orthogonal_fourier.h"

#include <algorithm>

#include "kerf/features/directions/directions.h"

namespace kerf::detail {

OrthogonalFourierFeatures::OrthogonalFourierFeatures(Index in_dim, const Options& options,
                                                     rng::Key key)
    : FourierMap(in_dim, options, key) {
  const Index count = frequency_count(options, kOwner);
  const bool structured = options.directions == Options::Directions::structured;
  const Index dim = structured ? ButterflyRotation::padded(in_dim) : in_dim;
  for (Index j = 0; j < count; ++j)
    lengths_.push_back(
        static_cast<float>(frequency_length(options.kernel, key, j, dim) / *options.bandwidth));
  if (structured) {
    rotation_ = ButterflyRotation(in_dim, count, key.child("rotation"));
    return;
  }
  const Matrix<float> u = orthogonal_directions(in_dim, count, key.child("direction"));
  dense_ = Projection(in_dim, count, [&](Index j, std::span<float> frequency) {
    const float length = lengths_[j];
    std::ranges::transform(u.row(j), frequency.begin(), [=](float v) { return v * length; });
    return 0.0f;
  });
}

std::optional<Params> OrthogonalFourierFeatures::stands_for(std::string_view kernel,
                                                            const Params& options,
                                                            const DataSummary& summary) {
  if (!RadialMapOptions::has(kernel) || !wants_fast_transforms(summary)) return std::nullopt;
  Params own = with_kernel(options, kernel);
  own["directions"] = "structured";
  return own;
}

Index OrthogonalFourierFeatures::bytes(Index in_dim, const Options& options) {
  const Index count = options.features / (options.form == Options::Form::pairs ? 2 : 1);
  if (options.directions == Options::Directions::structured)
    return ButterflyRotation::bytes(in_dim, count) + 4 * count;
  return DirectionSet::bytes(Directions::orthogonal, in_dim, count);
}

void OrthogonalFourierFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  if (dense_.out_dim() > 0)
    return dense_.apply(x, [&](Index i, Index first, std::span<float> turns) {
      form_.write(first, turns, out.row(i));
    });
  rotation_.apply(x, [&](Index i, Index first, std::span<float> y) {
    const float* length = lengths_.data() + first;
    for (std::size_t k = 0; k < y.size(); ++k) y[k] *= length[k];
    form_.write(first, y, out.row(i));
  });
}

}  // namespace kerf::detail
