// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/metric/metric_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/kernels/gram/gram.h"
#include "kerf/learn/lambda/leave_one_out.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr int kMostSteps = 5;
constexpr int kPatience = 2;       // steps without a lower error before a kernel gives up
constexpr double kBehind = 1.5;    // times the best error: no hope after two steps
constexpr double kNothing = 0.98;  // of the constant's error: nothing was learned in two steps
constexpr double kLittle = 0.3;    // of the variance unexplained: the ANOVA kernel may help
constexpr Index kMostAnovaColumns = 256,
                kMostAnovaRows = 800;  // it costs an exponential for each pair and column
constexpr int kStartStep = -6;

bool keeps_diagonal(MetricKind kind, Index columns) {
  return kind == MetricKind::diagonal || columns > kMostFullColumns;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// What the mean of the rows learned from makes of the others.
double constant_error(const MetricRows& learn, const MetricRows& judge) {
  double error = 0;
  for (Index t = 0; t < learn.y.cols; ++t) {
    double mean = 0, weight = 0;
    for (Index i = 0; i < learn.y.rows; ++i) {
      mean += learn.weights[i] * learn.y(i, t);
      weight += learn.weights[i];
    }
    mean /= weight;
    for (Index i = 0; i < judge.y.rows; ++i)
      error += judge.weights[i] * (judge.y(i, t) - mean) * (judge.y(i, t) - mean);
  }
  return error / static_cast<double>(judge.y.rows);
}

/// The trials of one kernel: without a step, and the best with some.  `constant`: error of the mean;
/// `best`: of all so far.
void try_kernel(MetricKernel kernel, MetricRows learn, const MetricRows& judge, bool diagonal,
                double constant, double& best, std::vector<MetricTrial>& trials) {
  if (kernel == MetricKernel::anova) learn = learn.slice(0, std::min(learn.x.rows, kMostAnovaRows));
  MetricTrial own;
  std::vector<MetricStart> path;
  double least = std::numeric_limits<double>::infinity();
  auto metric = std::make_shared<const Metric>();
  MetricStart start;
  for (int step = 0, since = 0; step <= kMostSteps && since < kPatience; ++step) {
    const MetricFit fit(kernel, learn, *metric, start);
    if (!fit.solved()) break;
    start = fit.start();
    path.push_back(start);
    MetricTrial trial{kernel, step, nullptr, fit.squared_errors(judge), path};
    const double error = trial.mean();
    Metric next = metric_of(fit.gradient_moments(diagonal));
    if (step == 0) {
      trials.push_back(std::move(trial));
    } else if (error < least) {
      trial.metric = metric;
      own = std::move(trial);
      least = error;
      since = 0;
    } else {
      ++since;
    }
    best = std::min(best, error);
    if (!next.present() || (step >= 2 && (least > kBehind * best || least > kNothing * constant)))
      break;
    metric = std::make_shared<const Metric>(std::move(next));
  }
  if (own.steps > 0) trials.push_back(std::move(own));
}

}  // namespace

double MetricTrial::mean() const { return mean_of(errors); }

std::vector<MetricTrial> metric_trials(const MetricRows& learn, const MetricRows& judge,
                                       MetricKind kind, const Progress& progress) {
  const bool diagonal = keeps_diagonal(kind, learn.x.cols);
  std::vector<MetricKernel> kernels = {MetricKernel::laplacian, MetricKernel::gaussian,
                                       MetricKernel::laplacian_l2, MetricKernel::anova};
  if (kind == MetricKind::full && !diagonal)
    std::erase_if(kernels, [](MetricKernel kernel) { return !is_radial(kernel); });
  std::vector<MetricTrial> trials;
  double best = std::numeric_limits<double>::infinity();
  const double constant = constant_error(learn, judge);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    report(progress, "learning a metric", static_cast<Index>(i), std::ssize(kernels), "kernels");
    const bool anova = kernels[i] == MetricKernel::anova;
    if (anova && (best < kLittle * constant || learn.x.cols > kMostAnovaColumns)) continue;
    try_kernel(kernels[i], learn, judge, diagonal, constant, best, trials);
  }
  std::ranges::stable_sort(trials, [](const MetricTrial& a, const MetricTrial& b) {
    if ((a.steps > 0) != (b.steps > 0)) return a.steps > 0;
    return a.mean() < b.mean();
  });
  return trials;
}

Metric learn_metric(const MetricTrial& trial, MetricKind kind, const MetricRows& rows,
                    const Progress& progress) {
  Metric metric;
  for (int step = 0; step < trial.steps; ++step) {
    report(progress, "learning it from more rows", step, trial.steps, "steps");
    const MetricFit fit(trial.kernel, rows, metric, trial.path[static_cast<std::size_t>(step)]);
    if (!fit.solved()) break;
    Metric next = metric_of(fit.gradient_moments(keeps_diagonal(kind, rows.x.cols)));
    if (!next.present()) break;
    metric = std::move(next);
  }
  return metric;
}

std::vector<double> judged_errors(const Kernel& kernel, const RowsView& learn,
                                  const RowsView& judge, const MetricRows& learn_targets,
                                  const MetricRows& judge_targets) {
  const Index n = learn.rows();
  Matrix<double> square(n, n), across(judge.rows(), n);
  gram<double>(kernel, learn, learn, square.view());
  gram<double>(kernel, judge, learn, across.view());
  Matrix<double> centred = square.copy();
  LeaveOneOut problem(centred.view(), learn_targets.y, learn_targets.weights);
  const int coarse = problem.search(kStartStep, 2).first;
  const Matrix<double> dual = problem.coefficients(problem.lambda(problem.search(coarse, 1).first));
  std::vector<double> errors(judge.rows(), std::numeric_limits<double>::infinity());
  if (dual.rows() == 0) return errors;
  Matrix<double> fitted(n, dual.cols()), values(judge.rows(), dual.cols());
  blas::product(false, false, 1.0, square.view(), dual.view(), 0.0, fitted.view());
  blas::product(false, false, 1.0, across.view(), dual.view(), 0.0, values.view());
  errors.assign(errors.size(), 0.0);
  for (Index t = 0; t < dual.cols(); ++t) {
    double intercept = 0, weight = 0;
    for (Index i = 0; i < n; ++i) {
      intercept += learn_targets.weights[i] * (learn_targets.y(i, t) - fitted(i, t));
      weight += learn_targets.weights[i];
    }
    intercept /= weight;
    for (Index i = 0; i < values.rows(); ++i) {
      const double gap = judge_targets.y(i, t) - values(i, t) - intercept;
      errors[i] += judge_targets.weights[i] * gap * gap;
    }
  }
  return errors;
}

bool clearly_less(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double gain = b[i] - a[i];
    sum += gain;
    squares += gain * gain;
  }
  const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean);
  return mean > std::sqrt(variance / n);
}

Index metric_bytes(Index rows, Index columns, Index targets) {
  // Distances, the kernel twice, its factor and slopes; rows before and after the metric, gradients and
  // sums; moments, which are more than their diagonal for few columns only.
  const Index moments = columns <= kMostFullColumns ? 4 * columns * columns : 4 * columns;
  return 8 * rows * (5 * rows + 6 * columns + 6 * targets) + 8 * moments +
         blas::factor_scratch(rows);
}

}  // namespace kerf::detail
