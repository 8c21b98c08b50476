// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/gradient_features.h"

#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/features/directions/directions.h"
#include "kerf/features/unit_rows.h"
#include "kerf/linalg/pointwise.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {
namespace {

/// What the forward pass leaves for the backward pass: h_l and sqrt(2/w) [W_l h_{l-1} > 0].
struct Activity {
  std::vector<Matrix<float>> values, slopes;
};

Activity& activity() {
  thread_local Activity memory;
  return memory;
}

Index parameters(Index dim, Index depth, Index width) {
  return width + width * dim + (depth - 1) * width * width;
}

}  // namespace

Index GradientFeatures::width(Index in_dim, const Options& options) {
  const Index dim = direction_dim(in_dim, options.bias.value_or(1));
  const Index least = parameters(dim, options.depth, 1);
  KERF_REQUIRE(least <= options.features, usage,
               "map grad-rf: a network of one unit a layer, depth {} and {} input columns has {} "
               "parameters, but {} is {}",
               options.depth, dim, least, spell("features"), options.features);
  Index width = 1;
  while (parameters(dim, options.depth, width + 1) <= options.features) ++width;
  return width;
}

GradientFeatures::GradientFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features),
      bias_(resolved(options.bias, kOwner, "bias")),
      width_(width(in_dim, options)),
      last_(width_) {
  const auto w = static_cast<std::uint64_t>(width_);
  for (Index l = 1; l <= options.depth; ++l) {
    const rng::Key layer = key.child(static_cast<std::uint64_t>(l));
    const Index dim = l == 1 ? direction_dim(in_dim, bias_) : width_;
    forward_.emplace_back(dim, width_, [&](Index j, std::span<float> direction) {
      rng::fill_normal(layer, static_cast<std::uint64_t>(j * dim), direction);
      return 0.0f;
    });
    if (l == 1) continue;
    transposed_.emplace_back(width_, width_, [&](Index j, std::span<float> direction) {
      for (std::uint64_t k = 0; k < w; ++k)
        direction[k] =
            static_cast<float>(rng::normal(layer, k * w + static_cast<std::uint64_t>(j)));
      return 0.0f;
    });
  }
  rng::fill_normal(key.child("v"), 0, std::span(last_));
}

std::unique_ptr<Kernel> GradientFeatures::kernel(const Options& options) {
  return find_kernel(NtkKernel::kName)
      .make(write_options(NtkOptions{options.depth, options.bias, {}}));
}

double GradientFeatures::relative_variance(const Options& options) {
  return 6 * static_cast<double>(options.depth);
}

Index GradientFeatures::bytes(Index, const Options& options) { return 8 * options.features; }

void GradientFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  thread_local UnitRows unit;
  unit.assign(x, bias_);
  Activity& a = activity();
  a.values.resize(forward_.size());
  a.slopes.resize(forward_.size());
  const auto scale = static_cast<float>(std::sqrt(2 / static_cast<double>(width_)));
  for (std::size_t l = 0; l < forward_.size(); ++l) {
    a.values[l].resize(x.rows(), width_);
    a.slopes[l].resize(x.rows(), width_);
    const RowsView below = l == 0 ? unit.view() : RowsView(a.values[l - 1].view());
    forward_[l].apply(below, [&](Index i, Index first, std::span<float> y) {
      step(y, scale, a.slopes[l].row(i).data() + first);
      relu(y, scale, a.values[l].row(i).data() + first);
    });
  }
  std::vector<float> spread;
  for (Index i = 0; i < x.rows(); ++i)
    backward(i, dense_row(unit.view(), i, spread), unit.norm(i), out.row(i));
}

/// Row i's derivatives, from the last layer to the first: v, then W_L .. W_1, then zeros.
void GradientFeatures::backward(Index i, std::span<const float> u, double norm,
                                std::span<float> out) const {
  const Activity& a = activity();
  const auto length = static_cast<float>(norm);
  std::vector<float> g = last_;
  float* to = out.data();
  for (const float h : a.values.back().row(i)) *to++ = length * h;
  for (std::size_t l = forward_.size(); l > 0; --l) {
    const std::span<const float> slope = a.slopes[l - 1].row(i);
    const std::span<const float> below = l == 1 ? u : a.values[l - 2].row(i);
    for (std::size_t j = 0; j < g.size(); ++j) {
      g[j] *= slope[j];
      for (const float h : below) *to++ = length * (g[j] * h);
    }
    if (l == 1) break;
    const std::vector<float> delta = g;
    transposed_[l - 2].apply(MatrixView<const float>(delta.data(), 1, width_),
                             {g.data(), 1, width_});
  }
  std::fill(to, out.data() + out.size(), 0.0f);
}

}  // namespace kerf::detail
