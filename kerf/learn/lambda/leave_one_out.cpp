// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda/leave_one_out.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {
constexpr double kRounding = 0x1p-46;  // what centring leaves of rows that are all alike
}

LeaveOneOut::LeaveOneOut(MatrixView<double> gram, MatrixView<const double> targets,
                         WeightsView weights)
    : centred_(gram), targets_(targets.rows, targets.cols) {
  const Index n = gram.rows;
  KERF_REQUIRE(gram.cols == n && targets.rows == n && n >= 2, usage,
               "{} rows of targets for a kernel matrix of {} x {}", targets.rows, n, gram.cols);
  std::vector<double> root(n, 1.0);
  for (std::size_t i = 0; i < root.size(); ++i) root[i] = std::sqrt(weights[i]);
  for (const double r : root) {
    weight_ += r * r;
    counts_.push_back(r > 0);
  }
  KERF_REQUIRE(weight_ > 0, data, "all rows have weight 0");
  direction_ = root;
  for (double& u : direction_) u /= std::sqrt(weight_);

  std::vector<double> row_means(root.size());
  parallel_for(n, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto a = static_cast<std::size_t>(i);
      double sum = 0;
      for (std::size_t b = 0; b < root.size(); ++b) {
        double& value = centred_(i, static_cast<Index>(b));
        value *= root[a] * root[b];
        sum += value * direction_[b];
      }
      row_means[a] = sum;
    }
  });
  double mean = 0, trace = 0, whole = 0;
  for (std::size_t i = 0; i < root.size(); ++i) mean += direction_[i] * row_means[i];
  for (Index i = 0; i < n; ++i) whole += centred_(i, i);
  parallel_for(n, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double u = direction_[i];
      const double row_mean = row_means[i];
      for (std::size_t b = 0; b < root.size(); ++b)
        centred_(i, static_cast<Index>(b)) +=
            mean * u * direction_[b] - (u * row_means[b] + row_mean * direction_[b]);
    }
  });
  for (Index i = 0; i < n; ++i) trace += centred_(i, i);
  if (trace < kRounding * whole) trace = whole;  // rows that are all alike
  shift_ = trace > 0 ? trace : 1;
  // Rows without weight must not move the grid.
  const auto count = static_cast<double>(n - std::ranges::count(root, 0.0));
  unit_ = trace > 0 ? trace / count / weight_ : 1;

  for (Index t = 0; t < targets.cols; ++t) {
    double target_mean = 0;
    for (Index i = 0; i < n; ++i) {
      const double r = root[i];
      target_mean += r * r * targets(i, t) / weight_;
    }
    for (Index i = 0; i < n; ++i) targets_(i, t) = root[i] * (targets(i, t) - target_mean);
  }
}

double LeaveOneOut::lambda(int step) const { return unit_ * std::pow(10.0, step / 2.0); }

bool LeaveOneOut::factor(double lambda) {
  const Index n = centred_.rows;
  const double c = weight_ * lambda;
  work_.resize(n, n);
  parallel_for(n, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double factor = shift_ * direction_[i];
      for (Index j = i; j < n; ++j) work_(i, j) = centred_(i, j) + factor * direction_[j];
      work_(i, i) += c;
    }
  });
  return blas::cholesky(work_.view()) == 0;
}

Matrix<double> LeaveOneOut::coefficients(double lambda) {
  if (!factor(lambda)) return {};
  Matrix<double> solution = targets_.copy();
  blas::cholesky_solve(work_.view(), solution.view());
  for (Index i = 0; i < solution.rows(); ++i)
    for (double& value : solution.row(i)) value *= direction_[i] * std::sqrt(weight_);
  return solution;
}

double LeaveOneOut::error(double lambda) {
  if (!factor(lambda)) return std::numeric_limits<double>::infinity();
  const Index n = centred_.rows;
  const double c = weight_ * lambda;
  Matrix<double> solution = targets_.copy();
  blas::cholesky_solve(work_.view(), solution.view());
  blas::triangular_inverse(work_.view());  // B^-1 = R^-1 R^-T
  double error = 0;
  for (Index i = 0; i < n; ++i) {
    if (!counts_[i]) continue;
    const double u = direction_[i];
    double diagonal = 0;
    for (Index k = i; k < n; ++k) diagonal += work_(i, k) * work_(i, k);
    const double rest = diagonal - u * u / (c + shift_);
    for (const double value : solution.row(i)) error += (value / rest) * (value / rest);
  }
  error /= weight_ * static_cast<double>(targets_.cols());
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

double LeaveOneOut::error_at(int step) {
  const auto [entry, is_new] = known_.try_emplace(step, 0.0);
  if (is_new) entry->second = error(lambda(step));
  return entry->second;
}

std::pair<int, double> LeaveOneOut::search(int start, int stride, int least) {
  int best = std::max(start, least);
  while (best < kLastLambdaStep && !std::isfinite(error_at(best))) ++best;  // singular so far
  for (const int direction : {-stride, stride})
    for (int next = best + direction;
         next >= least && next <= kLastLambdaStep && error_at(next) < error_at(best);
         next += direction)
      best = next;
  return {best, error_at(best)};
}

}  // namespace kerf::detail
