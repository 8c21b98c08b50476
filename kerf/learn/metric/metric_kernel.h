// Kernels that learn a metric: ridge regression with one of them, and how its prediction changes along
// each column.
//
// With z = A x (features/metric.h), s a bandwidth, f(x) = b + sum_j a_j k(z, z_j):
//   gaussian      k = exp(-|z - z'|^2 / (2 s^2))
//   laplacian-l2  k = exp(-|z - z'| / s)
//   laplacian     k = exp(-sum_k |z_k - z'_k| / s)
//   anova         k = sum_k e_k / d + sum_{k<l} e_k e_l / (d (d - 1) / 2),  e_k = exp(-(z_k - z'_k)^2 / (2 s^2))
// The last one is made of functions of one and of two columns: it sees a signal of few columns among
// many, where the others see rows that are all equally far apart.
//
//   M = mean over rows and targets of grad f grad f^T          (average gradient outer product)
//   radial kernels: grad f(x) = A sum_j a_j 2 k'(t_j) (z - z_j), t the squared distance (a row's own
//                   term is 0); the others column by column, of which the diagonal of M is kept
//
// Exact:      derivatives in closed form; where |z - z'| = 0 that of the Laplacians is taken as 0.
//             Of more than kMostOutputs targets random sums with signs +-1 stand for them: M is unbiased.
// Cost:       n^3 flops a lambda, n^2 d of gradients; four n x n matrices of doubles.
// Reference:  Radhakrishnan, Beaglehole, Pandit & Belkin, "Mechanism for feature learning in neural
//             networks and backpropagation-free machine learning models", Science 2024.
// Differs:    leave-one-out chooses lambda; the L1 Laplacian and the ANOVA kernel have diagonal metrics.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "kerf/core/rows/matrix.h"
#include "kerf/features/metric.h"

namespace kerf::detail {

enum class MetricKernel { laplacian, gaussian, laplacian_l2, anova };
constexpr auto names_of(MetricKernel) {
  return std::array{"laplacian", "gaussian", "laplacian-l2", "anova"};
}
constexpr bool is_radial(MetricKernel kernel) {
  return kernel == MetricKernel::gaussian || kernel == MetricKernel::laplacian_l2;
}

/// Rows as a map would see them without a metric, and what the regression is trained on.
struct MetricRows {
  MatrixView<const double> x, y;
  WeightsView weights;

  MetricRows slice(Index begin, Index end) const {
    return {x.slice(begin, end), y.slice(begin, end), weights.slice(begin, end)};
  }
};

/// What a fit may begin its search with; of the first one nothing is known.
struct MetricStart {
  double bandwidth = 0;  ///< in units of the median distance; 0: the best of some
  int lambda_step = 0;   ///< leave_one_out.h; with the bandwidth
};

class MetricFit {
 public:
  /// The rows must outlive it.
  MetricFit(MetricKernel kernel, const MetricRows& rows, const Metric& metric, MetricStart start);

  /// Whether some lambda gave a solution.
  bool solved() const { return dual_.rows() > 0; }
  /// Mean squared leave-one-out error at its lambda.
  double error() const { return error_; }
  MetricStart start() const { return start_; }
  /// Squared errors of other rows times their weights, summed over targets.
  std::vector<double> squared_errors(const MetricRows& others) const;
  /// M, or (1 x columns) its diagonal, which is all that kernels which are not radial have.
  Matrix<double> gradient_moments(bool diagonal) const;

 private:
  void try_bandwidth(double factor, bool first);
  Matrix<double> outputs() const;
  void add_radial(MatrixView<const double> outputs, Matrix<double>& moments) const;
  void add_by_column(MatrixView<const double> outputs, Matrix<double>& moments) const;

  MetricKernel kernel_;
  MetricRows rows_;
  const Metric& metric_;
  Matrix<double> z_;        // A x of the rows
  Matrix<double> numbers_;  // squared or L1 distances of pairs; anova has none
  double unit_ = 1;         // the median distance
  MetricStart start_;
  double bandwidth_ = 1;  // s
  double error_ = 0;
  Matrix<double> dual_;  // a
  std::vector<double> intercept_;
};

/// The metric whose A'A is M up to a factor: A = M^(1/2), with mean square 1 of its diagonal.
Metric metric_of(Matrix<double> moments);

}  // namespace kerf::detail
