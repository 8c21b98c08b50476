// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/split_network.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/linalg/pointwise.h"
#include "kerf/sketch/tensor_sketch.h"
#include "kerf/sketch/tensor_srht.h"

namespace kerf::detail {
namespace {

constexpr Index kFewFeatures = 512;  // an NTK map of no more splits whatever the rows

std::size_t at(Index j) { return static_cast<std::size_t>(j); }

/// Standard deviations, times the root of the number of features, that the blocks cause.
struct Deviations {
  double linear;
  std::vector<double> absolute, products;
  double rest() const {
    return std::accumulate(absolute.begin(), absolute.end(), 0.0) +
           std::accumulate(products.begin(), products.end(), 0.0);
  }
};

Deviations deviations(const NtkMapOptions& options) {
  const auto depth = options.depth;
  Deviations found{1, std::vector<double>(at(depth), 0.18), {}};
  if (options.kernel == NetworkKernel::nngp) return found;
  for (Index k = 1; k <= depth; ++k)
    found.products.push_back(0.5 * static_cast<double>(k) *
                             std::pow(0.7, static_cast<double>(depth - k)));
  return found;
}

/// `total` features in the proportion of `weights`, at least one each.
std::vector<Index> in_proportion(const std::vector<double>& weights, Index total) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const Index rest = total - static_cast<Index>(weights.size());
  std::vector<Index> shares;
  for (const double w : weights)
    shares.push_back(1 + static_cast<Index>(static_cast<double>(rest) * w / sum));
  const auto largest = std::ranges::max_element(weights) - weights.begin();
  shares[at(largest)] += total - std::accumulate(shares.begin(), shares.end(), Index{0});
  return shares;
}

Index least_features(const NtkMapOptions& options) {
  return 1 + options.depth * (options.kernel == NetworkKernel::nngp ? 2 : 3);
}

/// Factors of the blocks u, F_1 .. F_l and Q_1 .. Q_l in the kernel S_l or T_l.
struct Factors {
  double linear = 1;
  std::vector<double> absolute, products;
};

Factors factors(Index layer, bool ntk) {
  Factors s, t;
  const auto halve = [](Factors& f) {
    f.linear /= 2;
    for (double& v : f.absolute) v /= 2;
    for (double& v : f.products) v /= 2;
  };
  for (Index l = 1; l <= layer; ++l) {
    halve(s);
    s.absolute.push_back(0.5);
    halve(t);
    t.linear += s.linear;
    t.absolute.push_back(0);
    for (std::size_t k = 0; k < s.absolute.size(); ++k) t.absolute[k] += s.absolute[k];
    t.products.push_back(0.5);
  }
  return ntk ? t : s;
}

double length(const RowsView& x, Index i) {
  return std::sqrt(x.is_sparse() ? squared_norm(x.sparse().row(i).values)
                                 : squared_norm(x.dense().row(i)));
}

}  // namespace

Index SplitNetwork::Plan::phi_dim(Index layer) const {
  if (layer == 0) return 0;
  return linear + layer + std::accumulate(absolute.begin(), absolute.begin() + layer, Index{0});
}

Index SplitNetwork::Plan::psi_dim(Index layer) const {
  if (products.empty()) return phi_dim(layer);
  return phi_dim(layer) + std::accumulate(products.begin(), products.begin() + layer, Index{0});
}

void NtkMapOptions::resolve(OpenOptions& open) {
  const auto options = read_options<NtkMapOptions>(open.params(), "map ntk-rf");
  const Index dim = direction_dim(open.summary().cols, options.bias.value_or(1));
  open.settle("split", name_of(SplitNetwork::pays(dim, options) ? SplitKind::on : SplitKind::off));
  open.settle_length("bias");
}

bool SplitNetwork::pays(Index dim, NtkMapOptions options) {
  options.split = SplitKind::on;
  const bool few = options.kernel == NetworkKernel::ntk && options.features <= kFewFeatures;
  return splits(dim, options) && (few || 16 * dim <= options.features);
}

bool SplitNetwork::splits(Index dim, const NtkMapOptions& options) {
  const bool sketched =
      options.kernel == NetworkKernel::nngp || options.sketch != ProductSketch::none;
  const bool wanted = options.split == SplitKind::on ||
                      (options.split == SplitKind::automatic && 16 * dim <= options.features);
  return wanted && sketched && options.features >= least_features(options) &&
         options.features - options.ms >= 1 + 2 * options.depth &&
         (options.ms == 0 || options.ms >= options.depth);
}

SplitNetwork::Plan SplitNetwork::plan(Index dim, const NtkMapOptions& options) {
  const Deviations sd = deviations(options);
  const bool ntk = options.kernel == NetworkKernel::ntk;
  const Index means = options.depth, given = ntk ? options.ms : 0;
  // What is not a mean, nor products whose number was given.
  const Index free = options.features - means - given;
  Plan plan;
  std::vector<double> weights = sd.absolute;
  if (ntk && given == 0) weights.insert(weights.end(), sd.products.begin(), sd.products.end());
  const auto count = static_cast<Index>(weights.size());
  const double rest = std::accumulate(weights.begin(), weights.end(), 0.0), all = rest + sd.linear;
  const bool exact = free - dim >= count && rest * rest / static_cast<double>(free - dim) <=
                                                all * all / static_cast<double>(free);
  plan.linear =
      exact ? dim
            : std::clamp<Index>(static_cast<Index>(static_cast<double>(free) * sd.linear / all), 1,
                                free - count);
  auto shares = in_proportion(weights, free - plan.linear);
  if (given > 0) {
    const auto products = in_proportion(sd.products, given);
    shares.insert(shares.end(), products.begin(), products.end());
  }
  plan.absolute.assign(shares.begin(), shares.begin() + options.depth);
  plan.products.assign(shares.begin() + options.depth, shares.end());
  if (ntk) plan.signs = options.m0 > 0 ? options.m0 : std::max<Index>(1, options.features / 4);
  return plan;
}

double SplitNetwork::relative_variance(const NtkMapOptions& options) {
  const Deviations sd = deviations(options);
  const double sum = sd.rest() + sd.linear;
  const double diagonal =
      options.kernel == NetworkKernel::nngp ? 1 : static_cast<double>(options.depth + 1);
  return 8 * sum * sum / (diagonal * diagonal * static_cast<double>(options.features));
}

Index SplitNetwork::bytes(Index dim, const NtkMapOptions& options) {
  const Plan made = plan(dim, options);
  Index bytes = 0;
  for (Index l = 1; l <= options.depth; ++l) {
    const Index in = l == 1 ? dim : made.phi_dim(l - 1), m1 = made.absolute[at(l - 1)];
    const Index count = options.shared_directions ? std::max(m1, made.signs) : m1 + made.signs;
    bytes += DirectionSet::bytes(options.directions, in, count);
    bytes += 8 * (made.signs + std::max(dim, made.psi_dim(l - 1)) + made.psi_dim(l));
  }
  return bytes;
}

SplitNetwork::SplitNetwork(Index dim, const NtkMapOptions& options, rng::Key key)
    : plan_(plan(dim, options)), depth_(options.depth), ntk_(options.kernel == NetworkKernel::ntk) {
  if (plan_.linear != dim) linear_ = std::make_unique<Srht>(dim, plan_.linear, key.child("linear"));
  for (Index l = 1; l <= depth_; ++l) {
    const rng::Key layer_key = key.child(static_cast<std::uint64_t>(l));
    const Index phi = l == 1 ? dim : plan_.phi_dim(l - 1), m1 = plan_.absolute[at(l - 1)];
    const auto draw = [&](Index count, const char* name) {
      return DirectionSet(options.directions, phi, 0, count, layer_key.child(name),
                          options.gibbs_sweeps);
    };
    Layer layer;
    const bool own = !options.shared_directions && ntk_;
    layer.directions = draw(own ? m1 : std::max(m1, plan_.signs), "directions");
    if (own) layer.sign_directions = draw(plan_.signs, "signs");
    const double root = std::sqrt(DirectionSet::inverse_variance(options.directions, phi));
    layer.mean = static_cast<float>(DirectionSet::mean_absolute(options.directions, phi));
    layer.absolute_scale = static_cast<float>(root / std::sqrt(static_cast<double>(m1)));
    layer.constant_scale = static_cast<float>(root * layer.mean);
    if (ntk_) {
      const Index psi = l == 1 ? dim : plan_.psi_dim(l - 1), ms = plan_.products[at(l - 1)];
      if (options.sketch == ProductSketch::tensorsketch)
        layer.product = std::make_unique<TensorSketch>(std::vector<Index>{plan_.signs, psi}, ms,
                                                       layer_key.child("sketch"));
      else
        layer.product =
            std::make_unique<TensorSrht>(plan_.signs, psi, ms, layer_key.child("sketch"));
    }
    layers_.push_back(std::move(layer));
  }
}

/// The blocks F_l and Q_l of layer l, without their factors, into their places in `out`.
void SplitNetwork::apply_layer(Index l, const RowsView& phi, const RowsView& psi,
                               MatrixView<float> out) const {
  thread_local Matrix<float> signs;
  thread_local std::vector<float> lengths;
  const Layer& layer = layers_[at(l - 1)];
  const Index first_column = plan_.phi_dim(l) - plan_.absolute[at(l - 1)];
  signs.resize(out.rows, plan_.signs);
  lengths.clear();
  for (Index i = 0; i < out.rows; ++i) {
    lengths.push_back(static_cast<float>(length(phi, i)));
    out(i, first_column - 1) = layer.constant_scale * lengths.back();
  }
  const auto part = [](std::span<float> y, Index first, Index count) {
    return y.first(at(std::clamp<Index>(count - first, 0, static_cast<Index>(y.size()))));
  };
  const auto take_signs = [&](Index i, Index first, std::span<float> y) {
    const auto used = part(y, first, plan_.signs);
    if (!used.empty())
      sign(used, static_cast<float>(1 / std::sqrt(static_cast<double>(plan_.signs))),
           signs.row(i).data() + first);
  };
  const bool shared = layer.sign_directions.out_dim() == 0;
  layer.directions.apply(phi, [&](Index i, Index first, std::span<float> y) {
    const auto used = part(y, first, plan_.absolute[at(l - 1)]);
    if (!used.empty())
      absolute(used, layer.absolute_scale, layer.mean * lengths[at(i)],
               out.row(i).data() + first_column + first);
    if (ntk_ && shared) take_signs(i, first, y);
  });
  if (!ntk_) return;
  if (!shared) layer.sign_directions.apply(phi, take_signs);
  const Index place = plan_.phi_dim(depth_) + plan_.psi_dim(l - 1) - plan_.phi_dim(l - 1);
  const RowsView pair[] = {signs.view(), psi};
  layer.product->apply(pair, out.columns(place, place + plan_.products[at(l - 1)]));
}

/// phi_l (or, with products, psi_l) from the blocks in `raw`.
void SplitNetwork::gather(Index l, MatrixView<const float> raw, bool with_products,
                          Matrix<float>& to) const {
  const Factors f = factors(l, with_products);
  to.resize(raw.rows, with_products ? plan_.psi_dim(l) : plan_.phi_dim(l));
  for (Index i = 0; i < raw.rows; ++i) {
    const float* from = raw.row(i).data();
    float* next = to.row(i).data();
    const auto copy = [&](Index count, double square) {
      const auto factor = static_cast<float>(std::sqrt(square));
      for (Index k = 0; k < count; ++k) *next++ = factor * *from++;
    };
    copy(plan_.linear, f.linear);
    for (Index k = 0; k < l; ++k) copy(1 + plan_.absolute[at(k)], f.absolute[at(k)]);
    if (!with_products) continue;
    from = raw.row(i).data() + plan_.phi_dim(depth_);
    for (Index k = 0; k < l; ++k) copy(plan_.products[at(k)], f.products[at(k)]);
  }
}

void SplitNetwork::apply(const RowsView& u, MatrixView<float> out) const {
  thread_local Matrix<float> phi, psi;
  std::vector<float> spread;
  if (linear_)
    linear_->apply(u, {out.data, out.rows, plan_.linear, out.stride});
  else
    for (Index i = 0; i < out.rows; ++i)
      std::ranges::copy(dense_row(u, i, spread), out.row(i).begin());
  for (Index l = 1; l <= depth_; ++l) {
    if (l > 1) {
      gather(l - 1, out, false, phi);
      if (ntk_) gather(l - 1, out, true, psi);
    }
    apply_layer(l, l == 1 ? u : RowsView(phi.view()), l == 1 ? u : RowsView(psi.view()), out);
  }
  const Factors f = factors(depth_, ntk_);
  for (Index i = 0; i < out.rows; ++i) {
    float* next = out.row(i).data();
    const auto scale = [&](Index count, double square) {
      const auto factor = static_cast<float>(std::sqrt(square));
      for (Index k = 0; k < count; ++k) *next++ *= factor;
    };
    scale(plan_.linear, f.linear);
    for (Index k = 0; k < depth_; ++k) scale(1 + plan_.absolute[at(k)], f.absolute[at(k)]);
    for (Index k = 0; ntk_ && k < depth_; ++k) scale(plan_.products[at(k)], f.products[at(k)]);
  }
}

}  // namespace kerf::detail
