// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/condition.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kProbes = 8;
constexpr double kSpread = 3;  // k of the header; 1 is what it was on average in 60 fits

}  // namespace

double rounding_error(std::span<const NormalEquations* const> parts,
                      MatrixView<const double> factor, double lambda,
                      MatrixView<const double> weights) {
  const Index m = factor.rows;
  double n = 0;
  std::vector<double> size(m, 0.0);  // G_jj
  for (const auto* part : parts) {
    n += part->weight();
    for (Index j = 0; j < m; ++j) size[j] += part->diagonal(j);
  }
  Matrix<double> noise(m, kProbes), moved(m, kProbes);
  rng::fill_normal(rng::Key{1}.child("rounding"), 0, std::span(noise.data(), m * kProbes));
  for (Index j = 0; j < m; ++j)
    for (Index k = 0; k < kProbes; ++k)
      moved(j, k) = noise(j, k) *= std::sqrt(std::max(0.0, size[j]));
  blas::cholesky_solve(factor, moved.view());
  const double unit =
      kSpread * (parts.front()->precision() == Precision::single_ ? 0x1p-24 : 0x1p-53);
  // The spectral norm of dG: so much of n lambda may be gone.
  double squares = 0;
  for (const double value : size) squares += value * value;
  const double lost = 2 * unit * std::sqrt(squares);
  double gain = 0;  // summed squares of predictions for noise of size 1
  for (Index j = 0; j < m; ++j)
    for (Index k = 0; k < kProbes; ++k)
      gain +=
          (moved(j, k) * noise(j, k) + (lost - n * lambda) * moved(j, k) * moved(j, k)) / kProbes;
  double worst = 0;
  for (Index t = 0; t < weights.cols; ++t) {
    double square = 0, sum = 0, weighted = 0;
    for (const auto* part : parts) {
      square += part->target_square(t);
      sum += part->target_sum(t);
    }
    for (Index j = 0; j < m; ++j) weighted += size[j] * weights(j, t) * weights(j, t);
    const double variance = square / n - sum / n * (sum / n);
    if (variance > 0) worst = std::max(worst, (weighted + square) / (n * variance));
  }
  return unit * std::sqrt(std::max(0.0, gain) * worst);
}

std::string rounding_advice(Precision precision, bool chosen) {
  const std::string digits = spell("precision", "double");
  if (precision == Precision::double_)
    return chosen ? "columns that repeat each other do that: leave them out"
                  : "raise " + spell("lambda");
  return chosen ? "take " + digits : "raise " + spell("lambda") + " or take " + digits;
}

std::string rounding_warning(double error, Precision precision, bool chosen) {
  if (!(error > kTolerable)) return "";
  return fmt::format(
      "rounding in sums of {} precision may move predictions by about {:.1g} standard deviations "
      "of the target: {}",
      name_of(precision), error, rounding_advice(precision, chosen));
}

}  // namespace kerf::detail
