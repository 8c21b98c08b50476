// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/network/arc_cosine.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kerf::detail {
namespace {

constexpr double kPi = std::numbers::pi;

/// sin t - t cos t for 0 <= t <= pi/2, to full relative accuracy.
double sin_minus_t_cos(double t, double sin, double cos) {
  if (t > 1) return sin - t * cos;
  // sum over k >= 1 of (-1)^(k+1) 2k / (2k+1)! t^(2k+1): the direct form cancels like 3 / t^2.
  double power = t * t * t / 6, sum = 0;  // t^(2k+1) / (2k+1)!, with its sign
  for (int k = 1; k <= 10; ++k) {
    sum += 2 * k * power;
    power *= -t * t / ((2 * k + 2) * (2 * k + 3));
  }
  return sum;
}

double norm(std::span<const double> x, double bias) {
  double sum = bias * bias;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

Cosine Cosine::of(double a) {
  a = std::clamp(a, -1.0, 1.0);
  return {a, 1 - a, 1 + a};
}

Angle angle_between(std::span<const double> x, std::span<const double> y, double bias) {
  const double x_norm = norm(x, bias), y_norm = norm(y, bias);
  if (x_norm == 0 || y_norm == 0) return {Cosine::of(0), x_norm, y_norm};
  const double x_bias = bias / x_norm, y_bias = bias / y_norm;
  double dot = x_bias * y_bias;
  double difference = (x_bias - y_bias) * (x_bias - y_bias);
  double sum = (x_bias + y_bias) * (x_bias + y_bias);
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double u = x[j] / x_norm, v = y[j] / y_norm;
    dot += u * v;
    difference += (u - v) * (u - v);
    sum += (u + v) * (u + v);
  }
  if (dot > 0.5) return {{1 - difference / 2, difference / 2, 2 - difference / 2}, x_norm, y_norm};
  if (dot < -0.5) return {{sum / 2 - 1, 2 - sum / 2, sum / 2}, x_norm, y_norm};
  return {Cosine::of(dot), x_norm, y_norm};
}

double kappa0(const Cosine& a) {
  if (a.value < 0) return 2 * std::asin(std::sqrt(a.one_plus / 2)) / kPi;
  return 1 - 2 * std::asin(std::sqrt(a.one_minus / 2)) / kPi;
}

Cosine kappa1(const Cosine& a) {
  const double sin = std::sqrt(a.one_minus * a.one_plus);
  if (a.value < 0) {  // with t = pi - acos a
    const double t = 2 * std::asin(std::sqrt(a.one_plus / 2));
    const double kappa = sin_minus_t_cos(t, sin, -a.value) / kPi;
    return {kappa, 1 - kappa, 1 + kappa};
  }
  const double t = 2 * std::asin(std::sqrt(a.one_minus / 2));  // acos a
  const double rest = a.one_minus - sin_minus_t_cos(t, sin, a.value) / kPi;
  return {1 - rest, rest, 2 - rest};
}

ArcCosineKernel::ArcCosineKernel(const Options& options)
    : order_(options.order), bias_(resolved(options.bias, "kernel arccos", "bias")) {}

double ArcCosineKernel::value(std::span<const double> x, std::span<const double> y) const {
  const Angle angle = angle_between(x, y, bias_);
  if (angle.x_norm == 0 || angle.y_norm == 0) return 0;
  if (order_ == 0) return kappa0(angle.cosine);
  return angle.x_norm * angle.y_norm * kappa1(angle.cosine).value;
}

PairForm ArcCosineKernel::form() const {
  return {.geometry = PairGeometry::angle, .bias = bias_, .homogeneous = order_ == 1};
}

}  // namespace kerf::detail
