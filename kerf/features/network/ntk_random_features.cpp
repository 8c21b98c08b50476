// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/ntk_random_features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/features/unit_rows.h"
#include "kerf/linalg/pointwise.h"
#include "kerf/sketch/tensor_sketch.h"
#include "kerf/sketch/tensor_srht.h"

namespace kerf::detail {
namespace {

using LayerSize = NtkRandomFeatures::LayerSize;

constexpr Index kBlockRows = 96;
constexpr Index kBlockFloats = 1 << 20;  // of one layer's output: blocks of wide maps are shorter

/// Features of `depth` whole layers of m order-1 and m step features; stops counting beyond `cap`.
Index whole_features(Index dim, Index m, Index depth, Index cap) {
  Index size = dim;
  for (Index l = 0; l < depth && size <= cap; ++l) size = m + m * size;
  return size;
}

std::vector<LayerSize> whole_sizes(Index dim, const NtkMapOptions& options) {
  KERF_REQUIRE(options.ms == 0, usage, "map ntk-rf: {} is for a sketch, not for {}", spell("ms"),
               spell("sketch", "none"));
  constexpr Index kTooMany = Index{1} << 31;  // times a width of at most 2^24 it still fits 63 bits
  Index m = std::max<Index>(1, options.m0);
  const Index needed = whole_features(dim, m, options.depth, kTooMany);
  KERF_REQUIRE(needed <= options.features, usage,
               "map ntk-rf: {} with {} step features a layer, depth {} and {} input columns needs "
               "{}{} features, but {} is {}",
               spell("sketch", "none"), m, options.depth, dim,
               needed > kTooMany ? "more than " : "", std::min(needed, kTooMany), spell("features"),
               options.features);
  if (options.m0 == 0)
    while (whole_features(dim, m + 1, options.depth, options.features) <= options.features) ++m;
  std::vector<LayerSize> sizes;
  const bool signs = options.signs && m >= 2;
  LayerSize size = {dim, dim, m, m, m * dim, signs};
  for (Index l = 1; l <= options.depth; ++l) {
    if (l == options.depth) size.m1 = options.features - size.ms;
    sizes.push_back(size);
    size = {m, size.psi_out(), m, m, m * size.psi_out(), signs};
  }
  return sizes;
}

/// Options that the map would pass over.
void refuse_idle(Index dim, const NtkMapOptions& options) {
  const bool nngp = options.kernel == NetworkKernel::nngp;
  KERF_REQUIRE(
      !nngp || (options.ms == 0 && options.m0 == 0 && options.sketch == ProductSketch::tensorsrht),
      usage, "map ntk-rf: {}, {} and {} are for products of features, which {} has none of",
      spell("ms"), spell("m0"), spell("sketch"), spell("kernel", "nngp"));
  KERF_REQUIRE(options.split != SplitKind::on || SplitNetwork::splits(dim, options), usage,
               "map ntk-rf: {} needs a sketch and at least {} {} beside {}, and {} of at least the "
               "depth or 0; not {} {} {}",
               spell("split", "true"), 1 + (nngp || options.ms > 0 ? 2 : 3) * options.depth,
               spell("features"), spell("ms"), spell("ms"), spell("features", options.features),
               spell("ms", options.ms), spell("sketch", name_of(options.sketch)));
}

/// out(i, :) = a(i, :) (x) b(i, :), whole.
void tensor_product(MatrixView<const float> a, const RowsView& b, MatrixView<float> out) {
  std::vector<float> spread;
  for (Index i = 0; i < a.rows; ++i) {
    const std::span<const float> right = dense_row(b, i, spread);
    float* to = out.row(i).data();
    for (const float left : a.row(i))
      for (const float r : right) *to++ = left * r;
  }
}

}  // namespace

std::optional<Params> NtkRandomFeatures::stands_for(std::string_view kernel, const Params& options,
                                                    const DataSummary&) {
  if (!find_by_name<NetworkKernel>(kernel)) return std::nullopt;
  return with_kernel(options, kernel);
}

std::vector<LayerSize> NtkRandomFeatures::layer_sizes(Index in_dim, const Options& options) {
  // An unknown bias ("auto") is one more coordinate.
  const Index dim = direction_dim(in_dim, options.bias.value_or(1));
  std::vector<LayerSize> sizes;
  if (options.kernel == NetworkKernel::nngp) {
    for (Index l = 1; l <= options.depth; ++l) {
      const Index in = l == 1 ? dim : options.features;
      sizes.push_back({in, in, options.features, 0, 0, false});
    }
    return sizes;
  }
  if (options.sketch == ProductSketch::none) return whole_sizes(dim, options);
  const Index ms = options.ms > 0 ? options.ms : options.features / 2;
  const Index m1 = options.features - ms;
  KERF_REQUIRE(m1 >= 1 && ms >= 1, usage,
               "map ntk-rf: of {} features {} are for sketched products, but at least one must be "
               "and one must not",
               options.features, ms);
  const Index m0 = options.m0 > 0 ? options.m0 : m1;
  for (Index l = 1; l <= options.depth; ++l)
    sizes.push_back(
        {l == 1 ? dim : m1, l == 1 ? dim : options.features, m1, m0, ms, options.signs && m0 >= 2});
  return sizes;
}

NtkRandomFeatures::NtkRandomFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features) {
  KERF_REQUIRE(options.bias.has_value(), usage, "map ntk-rf: {} needs data; give a number",
               spell("bias", "auto"));
  bias_ = *options.bias;
  refuse_idle(direction_dim(in_dim, bias_), options);
  if (SplitNetwork::splits(direction_dim(in_dim, bias_), options)) {
    split_.emplace(direction_dim(in_dim, bias_), options, key.child("split"));
    return;
  }
  std::uint64_t label = 0;
  for (const LayerSize& size : layer_sizes(in_dim, options)) {
    const rng::Key layer_key = key.child(++label);
    const auto draw = [&](Index count, const char* name) {
      return DirectionSet(options.directions, size.phi_in, 0, count, layer_key.child(name),
                          options.gibbs_sweeps);
    };
    Layer layer;
    layer.size = size;
    layer.relu_scale = static_cast<float>(
        std::sqrt(2 * DirectionSet::inverse_variance(options.directions, size.phi_in) /
                  static_cast<double>(size.m1)));
    const Index steps = size.step_directions();
    layer.step_scale = static_cast<float>(
        std::sqrt((size.signs ? 0.5 : 2.0) / static_cast<double>(std::max<Index>(1, steps))));
    const bool own = !options.shared_directions && steps > 0;
    layer.directions = draw(own ? size.m1 : std::max(size.m1, steps), "directions");
    if (own) layer.step_directions = draw(steps, "step");
    const rng::Key sketch_key = layer_key.child("sketch");
    if (size.m0 > 0 && options.sketch == ProductSketch::tensorsrht)
      layer.product = std::make_unique<TensorSrht>(size.m0, size.psi_in, size.ms, sketch_key);
    if (size.m0 > 0 && options.sketch == ProductSketch::tensorsketch)
      layer.product = std::make_unique<TensorSketch>(std::vector<Index>{size.m0, size.psi_in},
                                                     size.ms, sketch_key);
    layers_.push_back(std::move(layer));
  }
}

std::unique_ptr<Kernel> NtkRandomFeatures::kernel(const Options& options) {
  Params params = {{"depth", std::to_string(options.depth)}};
  if (options.bias) params["bias"] = format_number(*options.bias);
  return find_kernel(name_of(options.kernel)).make(params);
}

double NtkRandomFeatures::relative_bias(const Options& options) {
  return DirectionSet::relative_bias(options.directions, options.gibbs_sweeps);
}

double NtkRandomFeatures::relative_variance(const Options& options) {
  if (options.split == SplitKind::on && SplitNetwork::splits(1, options))
    return SplitNetwork::relative_variance(options);
  // Automatic: the published layers have the larger variance of the two.
  const auto depth = static_cast<double>(options.depth);
  if (options.kernel == NetworkKernel::nngp)
    return depth * 6 / static_cast<double>(options.features);
  double m1 = 1, m0 = 1, sketch = 0;
  if (options.sketch == ProductSketch::none) {
    // How many fit depends on the input dimension, which is not known here: at least this many do.
    m1 = m0 = static_cast<double>(std::max<Index>(1, options.m0));
  } else {
    const LayerSize size = layer_sizes(1, options).front();
    m1 = static_cast<double>(size.m1);
    m0 = static_cast<double>(size.m0);
    const auto ms = static_cast<double>(size.ms);
    sketch = options.sketch == ProductSketch::tensorsrht ? 8 / ms : 6 / ms + 4 / (ms * ms);
  }
  const bool signs = options.signs && m0 >= 2;
  const double step = signs ? 0.25 / (m0 - 1) : 1 / m0;
  const double covariance = options.shared_directions ? 2 * std::sqrt(6 / m1 * step) : 0;
  return depth * (6 / m1 + step + covariance + sketch * (signs ? 1 : 1 + 1 / m0)) / 4;
}

Index NtkRandomFeatures::bytes(Index in_dim, const Options& options) {
  const Index dim = direction_dim(in_dim, options.bias.value_or(1));
  refuse_idle(dim, options);
  if (SplitNetwork::splits(dim, options)) return SplitNetwork::bytes(dim, options);
  Index bytes = 0;
  for (const LayerSize& size : layer_sizes(in_dim, options)) {
    const Index count = options.shared_directions ? std::max(size.m1, size.m0) : size.m1 + size.m0;
    bytes += DirectionSet::bytes(options.directions, size.phi_in, count);
    if (options.sketch != ProductSketch::none) bytes += 8 * (size.m0 + size.psi_in + size.ms);
  }
  return bytes;
}

void NtkRandomFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  const Index block = std::clamp<Index>(kBlockFloats / out_dim(), 1, kBlockRows);
  for (Index begin = 0; begin < x.rows(); begin += block) {
    const Index end = std::min(begin + block, x.rows());
    transform_block(x.slice(begin, end), out.slice(begin, end));
  }
}

void NtkRandomFeatures::transform_block(const RowsView& x, MatrixView<float> out) const {
  thread_local UnitRows unit;
  thread_local Matrix<float> memory[2];  // psi of this layer and of the one below
  unit.assign(x, bias_);
  RowsView phi = unit.view(), psi = phi;
  if (split_) split_->apply(phi, out);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const LayerSize& size = layers_[l].size;
    MatrixView<float> next = out;
    if (l + 1 < layers_.size()) {
      memory[l % 2].resize(x.rows(), size.psi_out());
      next = memory[l % 2].view();
    }
    apply(layers_[l], phi, psi, next);
    phi = MatrixView<const float>(next.data, next.rows, size.m1, next.stride);
    psi = next;
  }
  for (Index i = 0; i < x.rows(); ++i) {
    const auto norm = static_cast<float>(unit.norm(i));
    for (float& z : out.row(i)) z *= norm;
  }
}

/// out = [phi_l, Q_l(e_l (x) psi)], the layer's features of phi = phi_{l-1} and psi = psi_{l-1}.
void NtkRandomFeatures::apply(const Layer& layer, const RowsView& phi, const RowsView& psi,
                              MatrixView<float> out) {
  thread_local Matrix<float> steps;
  const LayerSize& size = layer.size;
  steps.resize(out.rows, size.m0);
  // Of directions first, first + 1, .. only those below `count` are a feature of this kind.
  const auto part = [](std::span<float> y, Index first, Index count) {
    return y.first(static_cast<std::size_t>(
        std::clamp<Index>(count - first, 0, static_cast<Index>(y.size()))));
  };
  const auto activate_step = [&](Index i, Index first, std::span<float> y) {
    const auto used = part(y, first, size.step_directions());
    if (used.empty()) return;
    float* e = steps.row(i).data() + first + (size.signs ? 1 : 0);
    step(used, size.signs ? 2 * layer.step_scale : layer.step_scale, e);
    if (!size.signs) return;
    for (std::size_t j = 0; j < used.size(); ++j) e[j] -= layer.step_scale;  // 2s or 0: s or -s
    steps(i, 0) = static_cast<float>(std::numbers::sqrt2 / 2);
  };
  const bool shared = layer.step_directions.out_dim() == 0;
  layer.directions.apply(phi, [&](Index i, Index first, std::span<float> y) {
    const auto used = part(y, first, size.m1);
    if (!used.empty()) relu(used, layer.relu_scale, out.row(i).data() + first);
    if (shared) activate_step(i, first, y);
  });
  if (!shared) layer.step_directions.apply(phi, activate_step);
  if (size.m0 == 0) return;
  const MatrixView<float> products(out.data + size.m1, out.rows, size.ms, out.stride);
  if (layer.product == nullptr) {
    tensor_product(steps.view(), psi, products);
  } else {
    const RowsView factors[] = {steps.view(), psi};
    layer.product->apply(factors, products);
  }
}

void NtkRandomFeatures::bounds(const BoundInputs& in, std::vector<FeatureBound>& out) {
  if (in.goal != PlanGoal::epsilon) return;
  const auto n = static_cast<double>(in.rows), d = static_cast<double>(in.cols);
  const double e2 = in.target * in.target, logs = in.logarithm(48);
  const double m0 = 48 * n / (e2 * in.ridge) * logs;
  const double m1 = 16.0 / 3 * d * in.rows_norm_squared / (e2 * in.ridge) * logs;
  const double ms = 297 / (e2 * in.delta) * std::pow(n / (1 + in.ridge), 2);
  out.push_back(
      {"Zandieh et al. 2021, two-layer NTK", std::max(m0, m1) + ms,
       "max(48 n, (16/3) d |X|^2)/(e^2 s) log(48 s_l/p) + 297/(e^2 p) (n/(1 + s))^2",
       in.option("depth") == "1" ? "for rows of length 1" : "for depth 1 and rows of length 1"});
}

}  // namespace kerf::detail
