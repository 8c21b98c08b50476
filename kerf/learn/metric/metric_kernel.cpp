// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/metric/metric_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/lambda/leave_one_out.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kPiece = 16;        // rows of a piece of parallel work
constexpr Index kMostOutputs = 4;   // whose gradients are taken
constexpr int kStartStep = -6;      // of lambda: c is a thousandth of the mean eigenvalue
constexpr Index kMedianRows = 400;  // that the median distance is of

/// Factors of the median distance that the first fit tries.
std::vector<double> bandwidths(MetricKernel kernel) {
  switch (kernel) {
    case MetricKernel::laplacian:
      return {1, 3};
    case MetricKernel::gaussian:
      return {0.5, 1};
    case MetricKernel::laplacian_l2:
      return {1, 3};
    case MetricKernel::anova:
      break;
  }
  return {1, 2};
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// Squared distances, or for the Laplacian sums of absolute differences.
Matrix<double> pair_numbers(MetricKernel kernel, const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> out(a.rows(), b.rows());
  if (kernel == MetricKernel::laplacian) {
    parallel_for(a.rows(), kPiece, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        for (Index j = 0; j < b.rows(); ++j) {
          const auto p = a.row(i), q = b.row(j);
          double sum = 0;
          for (std::size_t k = 0; k < p.size(); ++k) sum += std::abs(p[k] - q[k]);
          out(i, j) = sum;
        }
    });
    return out;
  }
  std::vector<double> squares;
  for (Index j = 0; j < b.rows(); ++j) squares.push_back(dot(b.row(j), b.row(j)));
  blas::product(false, true, -2.0, a.view(), b.view(), 0.0, out.view());
  parallel_for(a.rows(), kPiece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double own = dot(a.row(i), a.row(i));
      for (Index j = 0; j < b.rows(); ++j) out(i, j) = std::max(0.0, out(i, j) + own + squares[j]);
    }
  });
  return out;
}

/// The kernel as a function of a pair's number t, and its derivative there.
double value_of(MetricKernel kernel, double t, double s) {
  if (kernel == MetricKernel::gaussian) return std::exp(-t / (2 * s * s));
  return std::exp(-(kernel == MetricKernel::laplacian ? t : std::sqrt(t)) / s);
}
double slope_of(MetricKernel kernel, double t, double s) {
  const double value = value_of(kernel, t, s);
  if (kernel == MetricKernel::gaussian) return -value / (2 * s * s);
  if (kernel == MetricKernel::laplacian) return -value / s;
  return t > 0 ? -value / (2 * s * std::sqrt(t)) : 0;
}

/// e_k of the ANOVA kernel for a pair of rows, and the kernel's value.
double anova(std::span<const double> p, std::span<const double> q, double s,
             std::vector<double>& e) {
  double sum = 0, squares = 0;
  e.resize(p.size());
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double gap = (p[k] - q[k]) / s;
    e[k] = std::exp(-gap * gap / 2);
    sum += e[k];
    squares += e[k] * e[k];
  }
  const auto d = static_cast<double>(p.size());
  return sum / d + (d > 1 ? (sum * sum - squares) / (d * (d - 1)) : 0);
}

Matrix<double> kernel_values(MetricKernel kernel, const Matrix<double>& a, const Matrix<double>& b,
                             const Matrix<double>& numbers, double s) {
  Matrix<double> out(a.rows(), b.rows());
  parallel_for(a.rows(), kPiece, [&](Index begin, Index end) {
    std::vector<double> e;
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < b.rows(); ++j)
        out(i, j) = kernel == MetricKernel::anova ? anova(a.row(i), b.row(j), s, e)
                                                  : value_of(kernel, numbers(i, j), s);
  });
  return out;
}

Matrix<double> mixed(const Metric& metric, MatrixView<const double> x) {
  Matrix<double> z(x.rows, x.cols);
  for (Index i = 0; i < x.rows; ++i) {
    std::ranges::copy(x.row(i), z.row(i).begin());
    if (metric.present()) metric.apply(z.row(i));
  }
  return z;
}

/// The median distance of pairs of the first rows; 1 where they are all alike.
double median_number(const Matrix<double>& numbers, bool squared) {
  std::vector<double> all;
  const Index count = std::min(numbers.rows(), kMedianRows);
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < i; ++j)
      if (numbers(i, j) > 0) all.push_back(numbers(i, j));
  if (all.empty()) return 1;
  const auto middle = all.begin() + std::ssize(all) / 2;
  std::ranges::nth_element(all, middle);
  return squared ? std::sqrt(*middle) : *middle;
}

}  // namespace

MetricFit::MetricFit(MetricKernel kernel, const MetricRows& rows, const Metric& metric,
                     MetricStart start)
    : kernel_(kernel), rows_(rows), metric_(metric), z_(mixed(metric, rows.x)), start_(start) {
  if (kernel != MetricKernel::anova) {
    numbers_ = pair_numbers(kernel, z_, z_);
    for (Index i = 0; i < numbers_.rows(); ++i) numbers_(i, i) = 0;
    unit_ = median_number(numbers_, kernel != MetricKernel::laplacian);
  } else if (metric.present()) {
    unit_ = std::ranges::max(metric.factor.row(0));  // a deviation of the column that counts most
  }
  error_ = std::numeric_limits<double>::infinity();
  const bool first = start.bandwidth == 0;
  for (const double factor : first ? bandwidths(kernel) : std::vector{start.bandwidth})
    try_bandwidth(factor, first);
}

void MetricFit::try_bandwidth(double factor, bool first) {
  const double s = factor * unit_;
  const Matrix<double> gram = kernel_values(kernel_, z_, z_, numbers_, s);
  Matrix<double> centred = gram.copy();
  LeaveOneOut problem(centred.view(), rows_.y, rows_.weights);
  // The metric sheds noise from step to step, and with it lambda falls.
  const auto [step, error] = problem.search(first ? kStartStep : start_.lambda_step, first ? 2 : 1);
  if (error >= error_) return;
  Matrix<double> dual = problem.coefficients(problem.lambda(step));
  if (dual.rows() == 0) return;
  error_ = error;
  bandwidth_ = s;
  start_ = {factor, step};
  dual_ = std::move(dual);
  // b = mean of y - K a
  Matrix<double> fitted(gram.rows(), dual_.cols());
  blas::product(false, false, 1.0, gram.view(), dual_.view(), 0.0, fitted.view());
  intercept_.assign(dual_.cols(), 0.0);
  double weight = 0;
  for (Index i = 0; i < fitted.rows(); ++i) {
    weight += rows_.weights[i];
    for (Index t = 0; t < fitted.cols(); ++t)
      intercept_[t] += rows_.weights[i] * (rows_.y(i, t) - fitted(i, t));
  }
  for (double& b : intercept_) b /= weight;
}

std::vector<double> MetricFit::squared_errors(const MetricRows& others) const {
  const Matrix<double> z = mixed(metric_, others.x);
  Matrix<double> numbers;
  if (kernel_ != MetricKernel::anova) numbers = pair_numbers(kernel_, z, z_);
  const Matrix<double> gram = kernel_values(kernel_, z, z_, numbers, bandwidth_);
  Matrix<double> values(gram.rows(), dual_.cols());
  blas::product(false, false, 1.0, gram.view(), dual_.view(), 0.0, values.view());
  std::vector<double> errors(values.rows());
  for (Index i = 0; i < values.rows(); ++i)
    for (Index t = 0; t < values.cols(); ++t) {
      const double gap = others.y(i, t) - values(i, t) - intercept_[t];
      errors[i] += others.weights[i] * gap * gap;
    }
  return errors;
}

/// The coefficients, or of many targets random sums of them.
Matrix<double> MetricFit::outputs() const {
  if (dual_.cols() <= kMostOutputs) return dual_.copy();
  Matrix<double> sums(dual_.rows(), kMostOutputs);
  const rng::Key key = rng::Key{1}.child("metric outputs");
  const double scale = 1 / std::sqrt(static_cast<double>(kMostOutputs));
  Matrix<double> signs(dual_.cols(), kMostOutputs);
  for (Index t = 0; t < signs.rows(); ++t)
    for (Index o = 0; o < kMostOutputs; ++o)
      signs(t, o) = rng::uniform(key, static_cast<std::uint64_t>(t * kMostOutputs + o)) < 0.5
                        ? -scale
                        : scale;
  blas::product(false, false, 1.0, dual_.view(), signs.view(), 0.0, sums.view());
  return sums;
}

void MetricFit::add_radial(MatrixView<const double> outputs, Matrix<double>& moments) const {
  const Index n = z_.rows(), d = z_.cols();
  Matrix<double> slopes(n, n);
  parallel_for(n, kPiece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < n; ++j) slopes(i, j) = slope_of(kernel_, numbers_(i, j), bandwidth_);
  });
  Matrix<double> parts(n, d + 1), sums(n, d + 1), gradients(n, d);
  for (Index t = 0; t < outputs.cols; ++t) {
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < d; ++k) parts(j, k) = outputs(j, t) * z_(j, k);
      parts(j, d) = outputs(j, t);
    }
    blas::product(false, false, 2.0, slopes.view(), parts.view(), 0.0, sums.view());
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k < d; ++k) gradients(i, k) = sums(i, d) * z_(i, k) - sums(i, k);
      if (metric_.present()) metric_.apply(gradients.row(i));  // A is symmetric
      for (double& g : gradients.row(i)) g *= std::sqrt(rows_.weights[i]);
    }
    if (moments.rows() == 1)
      for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < d; ++k) moments(0, k) += gradients(i, k) * gradients(i, k);
    else
      blas::product(true, false, 1.0, gradients.view(), gradients.view(), 1.0, moments.view());
  }
}

void MetricFit::add_by_column(MatrixView<const double> outputs, Matrix<double>& moments) const {
  const Index n = z_.rows(), d = z_.cols(), count = outputs.cols;
  Matrix<double> squares(n, d);  // of each row, so that the sum over rows has one order
  parallel_for(n, kPiece, [&](Index begin, Index end) {
    std::vector<double> e;
    Matrix<double> gradient(count, d);
    const double s = bandwidth_, pairs = static_cast<double>(d) * static_cast<double>(d - 1) / 2;
    for (Index i = begin; i < end; ++i) {
      gradient.fill(0);
      for (Index j = 0; j < n; ++j) {
        const auto p = z_.row(i), q = z_.row(j);
        double sum = 0, slope = 0;
        if (kernel_ == MetricKernel::anova) {
          anova(p, q, s, e);
          for (const double value : e) sum += value;
        } else {
          slope = slope_of(kernel_, numbers_(i, j), s);
        }
        for (Index k = 0; k < d; ++k) {
          const double gap = p[k] - q[k];
          const double change =
              kernel_ == MetricKernel::anova
                  ? -e[k] * gap / (s * s) *
                        (1 / static_cast<double>(d) + (d > 1 ? (sum - e[k]) / pairs : 0))
                  : slope * static_cast<double>((gap > 0) - (gap < 0));
          for (Index t = 0; t < count; ++t) gradient(t, k) += outputs(j, t) * change;
        }
      }
      for (Index k = 0; k < d; ++k) {
        squares(i, k) = 0;
        for (Index t = 0; t < count; ++t) squares(i, k) += gradient(t, k) * gradient(t, k);
      }
    }
  });
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < d; ++k) {
      const double a = metric_.present() ? metric_.factor(0, k) : 1;
      moments(0, k) += rows_.weights[i] * a * a * squares(i, k);
    }
}

Matrix<double> MetricFit::gradient_moments(bool diagonal) const {
  const Index d = z_.cols();
  Matrix<double> moments(diagonal || !is_radial(kernel_) ? 1 : d, d);
  moments.fill(0);
  const Matrix<double> sums = outputs();
  if (is_radial(kernel_))
    add_radial(sums.view(), moments);
  else
    add_by_column(sums.view(), moments);
  return moments;
}

Metric metric_of(Matrix<double> moments) {
  const Index d = moments.cols();
  Metric metric;
  if (moments.rows() == 1) {
    for (double& value : moments.row(0)) value = std::sqrt(value);
    metric.factor = std::move(moments);
  } else {
    std::vector<double> values(d);
    blas::symmetric_eigen(moments.view(), values);
    Matrix<double> scaled(d, d);
    for (Index k = 0; k < d; ++k) {
      const double root = std::sqrt(std::sqrt(std::max(0.0, values[k])));
      for (Index j = 0; j < d; ++j) scaled(k, j) = root * moments(k, j);
    }
    metric.factor = Matrix<double>(d, d);
    blas::product(true, false, 1.0, scaled.view(), scaled.view(), 0.0, metric.factor.view());
  }
  double square = 0;
  for (Index k = 0; k < metric.factor.rows(); ++k)
    square += dot(metric.factor.row(k), metric.factor.row(k));
  const double scale = square > 0 ? std::sqrt(static_cast<double>(d) / square) : 0;
  if (scale == 0 || !std::isfinite(scale)) return {};
  for (Index k = 0; k < metric.factor.rows(); ++k)
    for (double& value : metric.factor.row(k)) value *= scale;
  return metric;
}

}  // namespace kerf::detail
