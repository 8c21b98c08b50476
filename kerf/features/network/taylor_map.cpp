// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/taylor_map.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kerf::detail {

std::vector<double> truncated_series(Index order, Index degree, Index terms) {
  constexpr double kPi = std::numbers::pi;
  std::vector<double> all(static_cast<std::size_t>(std::max<Index>(degree, 1)) + 1, 0.0);
  all[0] = order == 1 ? 1 / kPi : 0.5;
  if (order == 1) all[1] = 0.5;
  double t = 1;  // (2i)! / (4^i (i!)^2)
  for (std::size_t i = 0;; ++i) {
    const auto I = static_cast<double>(i);
    const std::size_t power = 2 * i + (order == 1 ? 2 : 1);
    if (power >= all.size()) break;
    all[power] = t / kPi / (order == 1 ? (2 * I + 1) * (2 * I + 2) : 2 * I + 1);
    t *= (2 * I + 1) / (2 * I + 2);
  }
  all.resize(static_cast<std::size_t>(degree) + 1);
  while (all.size() > 1 &&
         (all.back() == 0 || static_cast<Index>(all.size()) - std::ranges::count(all, 0.0) > terms))
    all.pop_back();
  all.back() += 1 - std::accumulate(all.begin(), all.end(), 0.0);
  return all;
}

double series_value(const std::vector<double>& series, double a) {
  double sum = 0;
  for (std::size_t j = series.size(); j > 0; --j) sum = sum * a + series[j - 1];
  return sum;
}

TaylorMap::TaylorMap(Index dim, const std::vector<double>& weights, Index out_dim, PowersKind kind,
                     rng::Key key)
    : out_dim_(out_dim), weights_(weights) {
  const auto degree = static_cast<Index>(weights.size()) - 1;
  if (kind == PowersKind::chain || degree == 0) {
    chain_.emplace(dim, plan_polynomial(dim, weights, out_dim, degree), out_dim,
                   key.child("chain"));
    return;
  }
  tree_.emplace(dim, PolySketchOptions{.degree = degree, .out_dim = out_dim}, key.child("tree"));
  compress_.emplace((degree + 1) * out_dim, out_dim, key.child("compress"));
}

void TaylorMap::apply(const RowsView& u, MatrixView<float> out) const {
  if (chain_) return chain_->apply(u, out);
  thread_local Matrix<float> memory;
  const auto count = static_cast<Index>(weights_.size());
  memory.resize(u.rows(), count * out_dim_);
  tree_->apply_powers(u, memory.view());
  for (Index i = 0; i < u.rows(); ++i)
    for (Index j = 0; j < count; ++j) {
      const auto root = static_cast<float>(std::sqrt(weights_[j]));
      float* part = memory.row(i).data() + j * out_dim_;
      for (Index k = 0; k < out_dim_; ++k) part[k] *= root;
    }
  compress_->apply(memory.view(), out);
}

}  // namespace kerf::detail
