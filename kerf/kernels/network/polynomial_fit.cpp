// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/network/polynomial_fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/linalg/dot.h"

namespace kerf::detail {
namespace {

using Column = std::vector<double>;

constexpr int kGrid = 512;  // finest spacing 2e-5: networks of depth 64 bend within 2e-4 of a = 1

void subtract(Column& x, double factor, const Column& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= factor * y[i];
}

/// Least squares in the columns `chosen`, by Gram-Schmidt done twice: powers of a are nearly
/// dependent, and normal equations would square that.
std::vector<double> least_squares(const std::vector<Column>& columns,
                                  const std::vector<std::size_t>& chosen, Column b) {
  const std::size_t count = chosen.size();
  std::vector<Column> q;
  std::vector<Column> r(count, Column(count, 0.0));
  Column right(count, 0.0);
  for (std::size_t k = 0; k < count; ++k) {
    Column column = columns[chosen[k]];
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t j = 0; j < k; ++j) {
        const double part = dot_in_order(q[j], column);
        r[j][k] += part;
        subtract(column, part, q[j]);
      }
    r[k][k] = std::sqrt(dot_in_order(column, column));
    for (double& v : column) v /= std::max(r[k][k], 1e-300);
    right[k] = dot_in_order(column, b);
    subtract(b, right[k], column);
    q.push_back(std::move(column));
  }
  std::vector<double> x(count);
  for (std::size_t k = count; k-- > 0;) {
    double sum = right[k];
    for (std::size_t j = k + 1; j < count; ++j) sum -= r[k][j] * x[j];
    x[k] = sum / std::max(r[k][k], 1e-300);
  }
  return x;
}

Cosine chebyshev(double position) {  // position in (0, 1): from a = 1 to a = -1
  const double t = std::numbers::pi * position / 2;
  return {std::cos(2 * t), 2 * std::sin(t) * std::sin(t), 2 * std::cos(t) * std::cos(t)};
}

}  // namespace

std::vector<double> non_negative_least_squares(const std::vector<Column>& columns,
                                               const Column& b) {
  const std::size_t count = columns.size();
  std::vector<double> x(count, 0.0);
  std::vector<std::size_t> chosen;  // the coefficients that may be positive
  const double tolerance = 1e-13 * std::sqrt(dot_in_order(b, b));
  for (std::size_t step = 0; step < 10 * count; ++step) {
    Column residual = b;
    for (std::size_t j : chosen) subtract(residual, x[j], columns[j]);
    std::size_t best = count;
    double steepest = 0;
    for (std::size_t j = 0; j < count; ++j) {
      if (std::ranges::find(chosen, j) != chosen.end()) continue;
      const double slope =
          dot_in_order(columns[j], residual) / std::sqrt(dot_in_order(columns[j], columns[j]));
      if (slope > std::max(steepest, tolerance)) {
        steepest = slope;
        best = j;
      }
    }
    if (best == count) break;
    chosen.push_back(best);
    while (!chosen.empty()) {
      const auto wanted = least_squares(columns, chosen, b);
      // As far towards the unconstrained solution as no coefficient turns negative.
      double length = 1;
      for (std::size_t k = 0; k < chosen.size(); ++k)
        if (wanted[k] <= 0) length = std::min(length, x[chosen[k]] / (x[chosen[k]] - wanted[k]));
      for (std::size_t k = 0; k < chosen.size(); ++k)
        x[chosen[k]] += length * (wanted[k] - x[chosen[k]]);
      if (length == 1) break;
      std::erase_if(chosen, [&](std::size_t j) {
        if (x[j] > 1e-15) return false;
        x[j] = 0;
        return true;
      });
    }
  }
  return x;
}

double PolynomialFit::operator()(double a) const {
  double sum = 0;
  for (std::size_t j = weights.size(); j > 0; --j) sum = sum * a + weights[j - 1];
  return sum;
}

PolynomialFit fit_polynomial(const std::function<double(const Cosine&)>& f, Index degree) {
  KERF_REQUIRE(degree >= 0 && degree <= kMaxFitDegree, usage,
               "a polynomial of degree {}: it must be between 0 and {}", degree, kMaxFitDegree);
  const double at_one = f(Cosine::of(1));
  constexpr double kWeight = 1e4;  // of the row that asks for P(1) = f(1)
  std::vector<Column> columns(degree + 1);
  Column b;
  for (int g = 0; g < kGrid; ++g) {
    const Cosine a = chebyshev((g + 0.5) / kGrid);
    b.push_back(f(a));
    double power = 1;
    for (Column& column : columns) {
      column.push_back(power);
      power *= a.value;
    }
  }
  b.push_back(kWeight * at_one);
  for (Column& column : columns) column.push_back(kWeight);
  PolynomialFit fit{non_negative_least_squares(columns, b), 0};
  const double sum = std::accumulate(fit.weights.begin(), fit.weights.end(), 0.0);
  for (double& w : fit.weights) w = w < 1e-9 * sum ? 0 : w * at_one / sum;
  for (int g = 0; g <= 4 * kGrid; ++g) {
    const Cosine a = chebyshev(static_cast<double>(g) / (4 * kGrid));
    fit.sup_error = std::max(fit.sup_error, std::abs(fit(a.value) - f(a)));
  }
  return fit;
}

}  // namespace kerf::detail
