// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/exact_ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/ridge/exact_at_lambda.h"
#include "kerf/learn/ridge/kernel_walk.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kTile = 256;           // rows of a product at a time
constexpr double kTie = 1e-10;         // relative difference of errors that are equal
constexpr double kRounding = 0x1p-46;  // eigenvalues below that part of the trace are none

/// out = op(a) b on fixed tiles of out's rows.
void product(bool transpose_a, MatrixView<const double> a, MatrixView<const double> b,
             MatrixView<double> out) {
  parallel_for(out.rows, kTile, [&](Index begin, Index end) {
    const auto piece = transpose_a ? a.columns(begin, end) : a.slice(begin, end);
    blas::gemm(transpose_a, false, 1.0, piece, b, 0.0, out.slice(begin, end));
  });
}

/// The problem in the coordinates of the header: A = V D V^T and V^T S (y - mean).
struct Spectrum {
  MatrixView<double> vectors;     // one a row
  std::vector<double> values;     // D >= 0
  Matrix<double> projections;     // V^T S (y - mean)
  std::vector<double> root;       // sqrt w
  std::vector<double> means;      // of the targets; zeros without intercept
  std::vector<double> row_means;  // S K S u; empty without intercept
  double weight = 0;              // n
  double shift = 0;               // the eigenvalue that u is given
  double trace = 0;               // of S K S, before it was centred
  Index count() const { return static_cast<Index>(values.size()); }
};

/// gram := S K S, centred; its eigenvector u gets the largest eigenvalue.
void centre(MatrixView<double> gram, Spectrum& s) {
  const Index n = gram.rows;
  std::vector<double> u = s.root;
  for (double& value : u) value /= std::sqrt(s.weight);
  s.row_means.assign(u.size(), 0.0);
  parallel_for(n, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      double sum = 0;
      for (Index j = 0; j < n; ++j) sum += gram(i, j) * u[j];
      s.row_means[i] = sum;
    }
  });
  double mean = 0;
  for (std::size_t i = 0; i < u.size(); ++i) mean += u[i] * s.row_means[i];
  std::vector<double> row_norms(u.size());
  parallel_for(n, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto a = static_cast<std::size_t>(i);
      double norm = 0;
      for (Index j = 0; j < n; ++j) {
        const auto b = static_cast<std::size_t>(j);
        gram(i, j) += mean * u[a] * u[b] - (u[a] * s.row_means[b] + s.row_means[a] * u[b]);
        norm += std::abs(gram(i, j));
      }
      row_norms[a] = norm;
    }
  });
  // No eigenvalue of A exceeds its largest absolute row sum.
  const double largest = *std::ranges::max_element(row_norms);
  const double shift = s.shift = largest > 0 ? 2 * largest : 1;
  parallel_for(n, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < n; ++j) gram(i, j) += shift * u[i] * u[j];
  });
}

/// gram := A, with u at the end of its spectrum; y := S (y - mean).
Spectrum prepare(MatrixView<double> gram, MatrixView<const double> targets, WeightsView weights,
                 bool intercept, Matrix<double>& y) {
  const Index n = gram.rows;
  Spectrum s;
  WeightedRows rows = weigh(targets, weights, intercept);
  s.root = std::move(rows.root);
  s.weight = rows.weight;
  s.means = std::move(rows.means);
  y = std::move(rows.y);
  if (weights.given())
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) gram(i, j) *= s.root[i] * s.root[j];
  for (Index i = 0; i < n; ++i) s.trace += gram(i, i);
  if (intercept) centre(gram, s);
  return s;
}

void decompose(MatrixView<double> gram, const Matrix<double>& y, bool intercept, Spectrum& s,
               const Progress& progress) {
  s.values.resize(gram.rows);
  blas::symmetric_eigen(gram, s.values, progress);
  if (intercept) s.values.pop_back();  // u, the last one
  // Of a semi-definite matrix; and what centring rows that are all alike leaves is rounding.
  for (double& value : s.values) value = value > kRounding * s.trace ? value : 0.0;
  s.vectors = gram.slice(0, s.count());
  s.projections.resize(s.count(), y.cols());
  product(false, s.vectors, y.view(), s.projections.view());
}

std::vector<double> automatic_lambdas(const Spectrum& s, int first_step) {
  // Rows without weight have eigenvalues of 0, and must not move the grid.
  const auto idle = static_cast<double>(std::ranges::count(s.root, 0.0));
  const double count = std::max(1.0, static_cast<double>(s.count()) - idle);
  double mean = 0;
  for (const double value : s.values) mean += value / count;
  if (mean == 0) mean = s.trace / count;
  const double unit = mean > 0 ? mean / s.weight : 1;
  std::vector<double> lambdas;
  for (int step = first_step; step <= kLastLambdaStep; ++step)
    lambdas.push_back(unit * std::pow(10.0, step / 2.0));
  return lambdas;
}

/// 1 - h_i for each row i and each lambda.
Matrix<double> leverages(const Spectrum& s, const std::vector<double>& lambdas) {
  const Index n = static_cast<Index>(s.root.size()), count = static_cast<Index>(lambdas.size());
  Matrix<double> factors(s.count(), count), rest(n, count);
  for (Index k = 0; k < s.count(); ++k)
    for (Index l = 0; l < count; ++l) {
      const double c = s.weight * lambdas[l];
      factors(k, l) = c / (s.values[k] + c);
    }
  rest.fill(0);
  parallel_for(n, kTile, [&](Index begin, Index end) {
    for (Index k = 0; k < s.count(); ++k)
      for (Index i = begin; i < end; ++i) {
        const double square = s.vectors(k, i) * s.vectors(k, i);
        for (Index l = 0; l < count; ++l) rest(i, l) += square * factors(k, l);
      }
  });
  return rest;
}

/// V (D + c)^-1 V^T S (y - mean): c times it are the residuals, S times it the dual weights.
void solve(const Spectrum& s, double lambda, Matrix<double>& work, Matrix<double>& out) {
  const double c = s.weight * lambda;
  work.resize(s.count(), s.projections.cols());
  for (Index k = 0; k < s.count(); ++k)
    for (Index t = 0; t < work.cols(); ++t) work(k, t) = s.projections(k, t) / (s.values[k] + c);
  out.resize(static_cast<Index>(s.root.size()), work.cols());
  product(true, s.vectors, work.view(), out.view());
}

LambdaChoice choose(const Spectrum& s, std::vector<double> lambdas, const Progress& progress) {
  std::ranges::sort(lambdas);
  const Matrix<double> rest = leverages(s, lambdas);
  LambdaChoice choice;
  choice.cv_error = std::numeric_limits<double>::infinity();
  Matrix<double> work, solution;
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    report(progress, "choosing lambda", static_cast<Index>(l), static_cast<Index>(lambdas.size()),
           "lambdas");
    solve(s, lambdas[l], work, solution);
    double error = 0;
    for (Index i = 0; i < solution.rows(); ++i) {
      if (s.root[i] == 0) continue;
      const double factor = s.weight * lambdas[l] / rest(i, static_cast<Index>(l));
      for (const double value : solution.row(i)) error += factor * value * factor * value;
    }
    error /= s.weight * static_cast<double>(solution.cols());
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    choice.path.push_back({lambdas[l], error});
    choice.cv_error = std::min(choice.cv_error, error);
  }
  KERF_REQUIRE(std::isfinite(choice.cv_error), numeric,
               "no lambda between {:.2g} and {:.2g} gives a finite leave-one-out error",
               lambdas.front(), lambdas.back());
  // Of equals the largest; rounding must not decide among them.
  const double least = choice.cv_error;
  for (const auto& [lambda, error] : choice.path)
    if (error <= least * (1 + kTie)) choice.lambda = lambda, choice.cv_error = error;
  return choice;
}

/// What the other rows predict for each row; of a row without weight: what all rows do.
Matrix<double> left_out(const Spectrum& s, double lambda, const Matrix<double>& solution,
                        MatrixView<const double> targets) {
  const Matrix<double> rest = leverages(s, {lambda});
  Matrix<double> out(targets.rows, targets.cols);
  for (Index i = 0; i < out.rows(); ++i)
    for (Index t = 0; t < out.cols(); ++t) {
      const double root = s.root[i];
      const double gap = root > 0 ? s.weight * lambda / rest(i, 0) * solution(i, t) / root : 0;
      out(i, t) = targets(i, t) - gap;
    }
  return out;
}

/// x := M^-1 x by elimination, in turn for each column; M is symmetric and positive definite.
void solve_group(Matrix<double> m, Matrix<double>& x) {
  for (Index k = 0; k < m.rows(); ++k)
    for (Index i = k + 1; i < m.rows(); ++i) {
      const double factor = m(i, k) / m(k, k);
      for (Index j = k; j < m.cols(); ++j) m(i, j) -= factor * m(k, j);
      for (Index t = 0; t < x.cols(); ++t) x(i, t) -= factor * x(k, t);
    }
  for (Index k = m.rows() - 1; k >= 0; --k)
    for (Index t = 0; t < x.cols(); ++t) {
      for (Index j = k + 1; j < m.cols(); ++j) x(k, t) -= m(k, j) * x(j, t);
      x(k, t) /= m(k, k);
    }
}

/// sqrt(w_i) (y_i - f(x_i)) of the rows `begin` to `end` of those left out, f without all of these.
Matrix<double> gaps_of_group(const Spectrum& s, const SystemSolution& solved, Index begin,
                             Index end, double c) {
  const Index size = end - begin;
  Matrix<double> m(size, size), x(size, solved.x.cols());
  for (Index a = 0; a < size; ++a) {
    const Index i = solved.rows[begin + a];
    std::ranges::copy(solved.x.row(i), x.row(a).begin());
    for (Index b = 0; b < size; ++b) {
      const double both = s.root[i] * s.root[solved.rows[begin + b]];
      // Without the part along u, which is no part of A.
      m(a, b) =
          solved.inverse(begin + a, b) - (s.shift > 0 ? both / s.weight / (s.shift + c) : 0.0);
    }
  }
  solve_group(std::move(m), x);
  return x;
}

/// One lambda: no eigenvalues.
void solve_one(const Spectrum& s, MatrixView<double> gram, const Matrix<double>& y,
               MatrixView<const double> targets, double lambda, Index copies, DualSolution& result,
               const Progress& progress) {
  const double c = s.weight * lambda;
  SystemSolution solved = solve_at_lambda(gram, y, c, copies, progress);
  result.left_out.resize(std::ssize(solved.rows), targets.cols);
  double error = 0, weight = 0;
  const Index count = std::ssize(solved.rows);
  for (Index begin = 0; begin < count; begin += copies) {
    const Matrix<double> gaps = gaps_of_group(s, solved, begin, std::min(begin + copies, count), c);
    for (Index k = 0; k < gaps.rows(); ++k) {
      const Index i = solved.rows[begin + k];
      const double root = s.root[i], square = root * root;
      for (Index t = 0; t < targets.cols; ++t) {
        const double gap = root > 0 ? gaps(k, t) / root : 0;
        result.left_out(begin + k, t) = targets(i, t) - gap;
        error += square * gap * gap;
      }
      weight += square;
    }
  }
  if (std::ssize(solved.rows) < targets.rows) result.left_out_rows = std::move(solved.rows);
  error /= std::max(weight, 1e-300) * static_cast<double>(targets.cols);
  result.choice = {lambda, error, {{lambda, error}}, {}};
  result.model.weights = std::move(solved.x);
}

}  // namespace

void check_exact_ridge(Index n, MatrixView<const double> targets, WeightsView weights,
                       const ExactRidgeOptions& options) {
  KERF_REQUIRE(targets.rows == n && targets.cols > 0, usage,
               "{} x {} targets for a kernel matrix of {} x {}", targets.rows, targets.cols, n, n);
  KERF_REQUIRE(!weights.given() || std::ssize(weights.values()) == n, usage,
               "{} weights for {} rows", weights.values().size(), n);
  KERF_REQUIRE(n >= 2, data, "kernel ridge regression needs at least 2 rows, not {}", n);
  for (const double lambda : options.lambdas)
    KERF_REQUIRE(lambda > 0 && std::isfinite(lambda), usage,
                 "lambda must be positive on the exact kernel, not {}", lambda);
  KERF_REQUIRE(options.copies == 1 || (options.copies > 1 && options.lambdas.size() == 1), usage,
               "{} rows are left out together only where lambda is given", options.copies);
}

DualSolution solve_exact_ridge(MatrixView<double> gram, MatrixView<const double> targets,
                               WeightsView weights, const ExactRidgeOptions& options,
                               const Progress& progress) {
  const Index n = gram.rows;
  KERF_REQUIRE(gram.cols == n, usage, "a kernel matrix of {} x {}", n, gram.cols);
  check_exact_ridge(n, targets, weights, options);
  if (n > options.eigen_rows && options.lambdas.size() != 1) {
    const WeightedRows all = weigh(targets, weights, options.intercept);
    return solve_by_factors({.first = factor_in_double(gram, all)}, all, targets, options,
                            progress);
  }
  Matrix<double> y;
  Spectrum s = prepare(gram, targets, weights, options.intercept, y);
  DualSolution result;
  if (options.lambdas.size() == 1) {
    report(progress, "solving", 0, 0, "");
    solve_one(s, gram, y, targets, options.lambdas.front(), options.copies, result, progress);
  } else {
    decompose(gram, y, options.intercept, s, progress);
    result.choice = choose(
        s, options.lambdas.empty() ? automatic_lambdas(s, options.first_step) : options.lambdas,
        progress);
    Matrix<double> work;
    solve(s, result.choice.lambda, work, result.model.weights);
    result.left_out = left_out(s, result.choice.lambda, result.model.weights, targets);
  }
  result.model.intercept = s.means;
  for (Index t = 0; t < targets.cols; ++t)
    for (std::size_t i = 0; i < s.row_means.size(); ++i)
      result.model.intercept[t] -=
          s.row_means[i] * result.model.weights(static_cast<Index>(i), t) / std::sqrt(s.weight);
  for (Index i = 0; i < n; ++i)
    for (double& value : result.model.weights.row(i)) value *= s.root[i];
  return result;
}

Index solve_exact_bytes(Index rows, Index targets, std::size_t lambdas) {
  if (lambdas != 1 && rows > kEigenRows) return kernel_walk_bytes(rows, targets, 8);
  // Targets, projections, solution, work; of one lambda the rows left out.
  const Index each = 4 * targets + 2 * kMostLambdas + 8 + (lambdas == 1 ? kLeftOutRows : 0);
  return (lambdas == 1 ? 12 : 24) * rows * rows + 8 * rows * each;
}

}  // namespace kerf::detail
