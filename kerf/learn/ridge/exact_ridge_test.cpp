// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/exact_ridge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/kernels/kernel.h"
#include "kerf/model/model.h"

namespace kerf::detail {
namespace {

struct Problem {
  Matrix<float> x;
  Matrix<double> y, gram;
  std::vector<double> weights;
};
const Params kGaussian = {{"bandwidth", "1.5"}};

Problem make_problem(Index n, Index targets, bool weighted) {
  Problem p{Matrix<float>(n, 3), Matrix<double>(n, targets), Matrix<double>(n, n), {}};
  rng::fill_normal(rng::Key{1}, 0, std::span(p.x.data(), 3 * n));
  const auto kernel = find_kernel("gaussian").make(kGaussian);
  for (Index i = 0; i < n; ++i) {
    const std::vector<double> a(p.x.row(i).begin(), p.x.row(i).end());
    for (Index j = 0; j < n; ++j)
      p.gram(i, j) = (*kernel)(a, std::vector<double>(p.x.row(j).begin(), p.x.row(j).end()));
    for (Index t = 0; t < targets; ++t)
      p.y(i, t) = 50 + std::sin(2 * a[0] + static_cast<double>(t)) + a[1] +
                  0.1 * rng::normal(rng::Key{2}, static_cast<std::uint64_t>(i * targets + t));
    if (weighted) p.weights.push_back(i == 4 ? 0 : 0.5 + static_cast<double>(i % 3));
  }
  return p;
}

/// The oracle: f = b + sum a_j k_j from the stationary equations of the stated objective,
///   (K + c W^-1) a + b = y,  sum a = 0     (c = n lambda, rows of weight 0 left out),
/// by Gaussian elimination, for one target and the rows for which keep(i).
struct Naive {
  std::vector<double> dual;
  double intercept = 0;

  template <class Keep>
  Naive(const Problem& p, Index target, double c, bool with_intercept, Keep keep)
      : dual(p.gram.rows(), 0.0) {
    std::vector<Index> rows;
    for (Index i = 0; i < p.gram.rows(); ++i)
      if (keep(i) && weight(p, i) > 0) rows.push_back(i);
    const auto m = static_cast<Index>(rows.size()), size = m + (with_intercept ? 1 : 0);
    Matrix<double> a(size, size + 1);
    a.fill(0);
    for (Index r = 0; r < m; ++r) {
      const Index i = rows[r];
      for (Index s = 0; s < m; ++s) a(r, s) = p.gram(i, rows[s]);
      a(r, r) += c / weight(p, i);
      a(r, size) = p.y(i, target);
      if (with_intercept) a(r, m) = a(m, r) = 1;
    }
    eliminate(a);
    for (Index r = 0; r < m; ++r) dual[rows[static_cast<std::size_t>(r)]] = a(r, size);
    if (with_intercept) intercept = a(m, size);
  }
  static double weight(const Problem& p, Index i) { return p.weights.empty() ? 1 : p.weights[i]; }
  /// Gauss-Jordan with row pivots; the solution is left in the last column.
  static void eliminate(Matrix<double>& a) {
    for (Index j = 0; j < a.rows(); ++j) {
      Index pivot = j;
      for (Index i = j; i < a.rows(); ++i)
        if (std::abs(a(i, j)) > std::abs(a(pivot, j))) pivot = i;
      std::swap_ranges(a.row(j).begin(), a.row(j).end(), a.row(pivot).begin());
      const double scale = a(j, j);
      for (double& value : a.row(j)) value /= scale;
      for (Index i = 0; i < a.rows(); ++i) {
        const double factor = a(i, j);
        if (i != j)
          for (Index k = 0; k < a.cols(); ++k) a(i, k) -= factor * a(j, k);
      }
    }
  }
  double predict(const Problem& p, Index i) const {
    double sum = intercept;
    for (Index j = 0; j < p.gram.rows(); ++j) sum += dual[j] * p.gram(i, j);
    return sum;
  }
};

double total_weight(const Problem& p) {
  double sum = 0;
  for (Index i = 0; i < p.gram.rows(); ++i) sum += Naive::weight(p, i);
  return sum;
}

DualSolution solve_copy(const Problem& p, const ExactRidgeOptions& options) {
  Matrix<double> gram(p.gram.rows(), p.gram.cols());
  std::copy_n(p.gram.data(), p.gram.rows() * p.gram.cols(), gram.data());
  return solve_exact_ridge(gram.view(), p.y.view(), p.weights, options);
}

TEST(ExactRidge, SolvesTheStatedProblem) {
  for (const bool weighted : {false, true})
    for (const bool intercept : {false, true}) {
      const Problem p = make_problem(20, 2, weighted);
      const double lambda = 1e-3, c = total_weight(p) * lambda;
      const DualSolution ours = solve_copy(p, {.lambdas = {lambda}, .intercept = intercept});
      EXPECT_EQ(ours.choice.lambda, lambda);
      for (Index t = 0; t < 2; ++t) {
        const Naive exact(p, t, c, intercept, [](Index) { return true; });
        EXPECT_NEAR(ours.model.intercept[t], exact.intercept, 1e-9);
        for (Index i = 0; i < 20; ++i)
          EXPECT_NEAR(ours.model.weights(i, t), exact.dual[i],
                      1e-9 * (1 + std::abs(exact.dual[i])));
      }
    }
}

TEST(ExactRidge, CopiesAreLeftOutTogether) {
  for (const bool weighted : {false, true})
    for (const bool intercept : {false, true})
      for (const Index copies : {2, 3}) {
        const Problem p = make_problem(20, 2, weighted);  // the last group is short of a row
        const double lambda = 1e-3, c = total_weight(p) * lambda;
        const DualSolution ours =
            solve_copy(p, {.lambdas = {lambda}, .intercept = intercept, .copies = copies});
        ASSERT_TRUE(ours.left_out_rows.empty());
        for (Index t = 0; t < 2; ++t)
          for (Index i = 0; i < 20; ++i) {
            if (Naive::weight(p, i) == 0) continue;
            const Naive others(p, t, c, intercept,
                               [&](Index j) { return j / copies != i / copies; });
            EXPECT_NEAR(ours.left_out(i, t), others.predict(p, i), 1e-8);
          }
      }
}

TEST(ExactRidge, RowsWithoutWeightDoNotMoveTheGrid) {
  for (const bool intercept : {false, true}) {
    Problem all = make_problem(20, 2, true);
    for (std::size_t i = 12; i < 20; ++i) all.weights[i] = 0;
    for (std::size_t i = 0; i < 12; ++i) all.weights[i] = 1 + static_cast<double>(i % 3);
    Problem some = make_problem(20, 2, true);
    some.weights.assign(all.weights.begin(), all.weights.begin() + 12);
    some.y.resize(12, 2);
    some.gram.resize(12, 12);
    for (Index i = 0; i < 12; ++i) {
      std::ranges::copy(all.y.row(i), some.y.row(i).begin());
      std::copy_n(all.gram.row(i).begin(), 12, some.gram.row(i).begin());
    }
    const auto with = solve_copy(all, {.intercept = intercept}).choice;
    const auto without = solve_copy(some, {.intercept = intercept}).choice;
    EXPECT_NEAR(with.lambda / without.lambda, 1, 1e-12) << intercept;
    EXPECT_NEAR(with.cv_error / without.cv_error, 1, 1e-6) << intercept;
  }
}

TEST(ExactRidge, LeavesOneOutAsIfFittedWithoutIt) {
  for (const bool weighted : {false, true})
    for (const bool intercept : {false, true}) {
      const Problem p = make_problem(18, 2, weighted);
      const double n = total_weight(p);
      const DualSolution ours =
          solve_copy(p, {.lambdas = {1.0, 1e-4, 1e-2}, .intercept = intercept});
      ASSERT_EQ(ours.choice.path.size(), 3u);
      double best = 1e300, best_lambda = 0;
      for (const auto& [lambda, error] : ours.choice.path) {
        double expected = 0;
        for (Index t = 0; t < 2; ++t)
          for (Index i = 0; i < 18; ++i) {
            const Naive without(p, t, n * lambda, intercept, [&](Index r) { return r != i; });
            const double difference = p.y(i, t) - without.predict(p, i);
            expected += Naive::weight(p, i) * difference * difference / (2 * n);
          }
        EXPECT_NEAR(error, expected, 1e-9 * expected) << lambda;
        if (error < best) best = error, best_lambda = lambda;
      }
      EXPECT_EQ(ours.choice.lambda, best_lambda);
      EXPECT_EQ(ours.choice.cv_error, best);
    }
}

TEST(ExactRidge, OneLambdaWithoutEigenvaluesIsTheSame) {
  for (const bool weighted : {false, true})
    for (const bool intercept : {false, true})
      for (const double lambda : {1e-2, 1e-6, 1e-11}) {  // the last is beyond single precision
        Problem once = make_problem(600, 2, weighted), twice = make_problem(600, 2, weighted);
        ExactRidgeOptions options;
        options.intercept = intercept;
        options.lambdas = {lambda};
        const DualSolution one =
            solve_exact_ridge(once.gram.view(), once.y.view(), once.weights, options);
        options.lambdas = {lambda, lambda};  // more than one: by eigenvalues
        const DualSolution many =
            solve_exact_ridge(twice.gram.view(), twice.y.view(), twice.weights, options);
        ASSERT_EQ(std::ssize(one.left_out_rows), 512);
        const auto kernel = find_kernel("gaussian").make(kGaussian);
        for (Index t = 0; t < 2; ++t) {
          for (std::size_t k = 0; k < one.left_out_rows.size(); ++k)
            EXPECT_NEAR(one.left_out(static_cast<Index>(k), t),
                        many.left_out(one.left_out_rows[k], t), lambda > 1e-8 ? 2e-3 : 0.2);
          for (Index i = 0; i < 600; i += 37) {  // f at rows: duals of tiny lambdas are ill-posed
            double a = one.model.intercept[t];
            double b = many.model.intercept[t];
            const std::vector<double> x(once.x.row(i).begin(), once.x.row(i).end());
            for (Index j = 0; j < 600; ++j) {
              const double k =
                  (*kernel)(x, std::vector<double>(once.x.row(j).begin(), once.x.row(j).end()));
              a += one.model.weights(j, t) * k;
              b += many.model.weights(j, t) * k;
            }
            EXPECT_NEAR(a, b, lambda > 1e-8 ? 1e-7 : 1e-4) << lambda;
          }
        }
      }
}

TEST(ExactRidge, DoesNotMindAConstantAddedToTargetsOrKernel) {
  Problem p = make_problem(25, 1, false);
  const DualSolution plain = solve_copy(p, {.lambdas = {1e-3}});
  for (Index i = 0; i < 25; ++i) p.y(i, 0) += 1e6;
  for (Index k = 0; k < 25 * 25; ++k) p.gram.data()[k] += 1000;
  const DualSolution moved = solve_copy(p, {.lambdas = {1e-3}});
  for (Index i = 0; i < 25; ++i)
    EXPECT_NEAR(moved.model.weights(i, 0), plain.model.weights(i, 0), 1e-6);
  EXPECT_NEAR(moved.choice.cv_error, plain.choice.cv_error, 1e-6 * plain.choice.cv_error);
}

TEST(ExactRidge, FitsAndPredictsFromRows) {
  const Problem p = make_problem(60, 2, false);
  CsrMatrix sparse;
  sparse.cols = 3;
  for (Index i = 0; i < 60; ++i) {
    for (Index k = 0; k < 3; ++k) sparse.push(static_cast<std::int32_t>(k), p.x(i, k));
    sparse.end_row();
  }
  const DualSolution expected = solve_copy(p, {});
  for (const bool is_sparse : {false, true}) {
    const RowsView rows = is_sparse ? RowsView(sparse.view()) : RowsView(p.x.view());
    DualSolution fit = fit_exact_ridge("gaussian", kGaussian, rows, p.y.view(), {}, {});
    // A rounding of the kernel of e moves predictions by about e |a|_1.
    double dual = 0;
    for (Index i = 0; i < 60; ++i) dual += std::abs(expected.model.weights(i, 0)) + 1;
    const double tolerance = dual * 1e-11;
    EXPECT_NEAR(fit.choice.lambda, expected.choice.lambda, 1e-5 * expected.choice.lambda);
    EXPECT_NEAR(fit.choice.cv_error, expected.choice.cv_error, tolerance);
    Model model;
    model.recipe = {kExactMap, kGaussian, 1, 3};
    model.recipe.options["kernel"] = "gaussian";
    model.rows = copy_of(rows);
    model.linear = std::move(fit.model);
    RowBlock block;
    MemorySource(rows, {}, 60).next(block);
    Matrix<double> out;
    Predictor(model).scores(block, out);
    for (Index i = 0; i < 60; ++i)
      for (Index t = 0; t < 2; ++t) {
        double value = expected.model.intercept[t];
        for (Index j = 0; j < 60; ++j) value += p.gram(i, j) * expected.model.weights(j, t);
        EXPECT_NEAR(out(i, t), value, tolerance);
      }
  }
}

TEST(ExactRidge, ChoosesAnInteriorLambdaOfItsOwnGrid) {
  const Problem p = make_problem(80, 1, false);
  const DualSolution ours = solve_copy(p, {});
  EXPECT_GT(ours.choice.path.size(), 20u);
  EXPECT_GT(ours.choice.lambda, ours.choice.path.front().lambda);
  EXPECT_LT(ours.choice.lambda, ours.choice.path.back().lambda);
  // The noise has the variance 0.01; the targets about 1.5.
  EXPECT_LT(ours.choice.cv_error, 0.5);
}

TEST(ExactRidge, RefusesWhatItCannotDo) {
  Problem p = make_problem(10, 1, false);
  const auto kind = [](auto&& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::interrupted;
  };
  EXPECT_EQ(kind([&] { solve_copy(p, {.lambdas = {0.0}}); }), ErrorKind::usage);
  EXPECT_EQ(kind([&] {
              fit_exact_ridge("gaussian", kGaussian, p.x.view(), p.y.view(), {},
                              {.memory_limit = 1000});
            }),
            ErrorKind::memory);
  EXPECT_EQ(kind([&] {
              fit_exact_ridge("gaussian", kGaussian, RowsView(p.x.view()).slice(0, 1),
                              p.y.view().slice(0, 1), {}, {});
            }),
            ErrorKind::data);
  p.weights.assign(10, 0.0);
  EXPECT_EQ(kind([&] { solve_copy(p, {}); }), ErrorKind::data);
  p.weights[3] = 1;  // nothing is left when this row is left out
  EXPECT_EQ(kind([&] { solve_copy(p, {}); }), ErrorKind::numeric);
  p.weights.pop_back();
  EXPECT_EQ(kind([&] { solve_copy(p, {}); }), ErrorKind::usage);
}

nlohmann::json reference() {
  const char* shared = std::getenv("KERF_SHARED");
  const std::string folder = shared != nullptr ? shared : KERF_SOURCE_DIR "/../shared";
  std::ifstream in(folder + "/reference/thirdparty_sklearn.json");
  return in ? nlohmann::json::parse(in) : nlohmann::json();
}

TEST(ExactRidge, AgreesWithScikitLearn) {
  const auto file = reference();
  if (file.is_null()) GTEST_SKIP() << "../shared/reference is absent";
  // Ridge of features Z is kernel ridge with Z Z^T; their alpha is n lambda.
  const auto& ridge = file["ridge"];
  Matrix<double> z(12, 4), y(12, 1), gram(12, 12);
  for (Index i = 0; i < 12; ++i) {
    const auto at = static_cast<double>(i);
    for (Index j = 0; j < 4; ++j) z(i, j) = std::sin(1 + 0.9 * at + 1.7 * static_cast<double>(j));
    y(i, 0) = std::cos(0.6 * at) + 0.1 * at;
  }
  gram.fill(0);
  for (Index i = 0; i < 12; ++i)
    for (Index j = 0; j < 12; ++j)
      for (Index k = 0; k < 4; ++k) gram(i, j) += z(i, k) * z(j, k);
  ExactRidgeOptions options{.intercept = false};
  for (const double alpha : ridge["alphas"]) options.lambdas.push_back(alpha / 12);
  const DualSolution ours = solve_exact_ridge(gram.view(), y.view(), {}, options);
  for (std::size_t l = 0; l < 4; ++l)
    EXPECT_NEAR(ours.choice.path[l].cv_error, ridge["loo_mse"][l], 1e-10) << l;
  EXPECT_NEAR(12 * ours.choice.lambda, ridge["best_alpha"], 1e-12);
  for (Index k = 0; k < 4; ++k) {
    double weight = 0;
    for (Index i = 0; i < 12; ++i) weight += z(i, k) * ours.model.weights(i, 0);
    EXPECT_NEAR(weight, ridge["coef"][k], 1e-12);
  }
  // Their KernelRidge with gamma 0.5, alpha 0.1.
  Matrix<float> x(5, 3);
  Matrix<double> targets(5, 1);
  for (Index i = 0; i < 5; ++i) {
    targets(i, 0) = static_cast<double>(i);
    for (Index j = 0; j < 3; ++j) x(i, j) = file["X"][i][j];
  }
  const DualSolution fit =
      fit_exact_ridge("gaussian", {{"bandwidth", "1"}}, x.view(), targets.view(), {},
                      {.lambdas = {0.1 / 5}, .intercept = false});
  for (Index i = 0; i < 5; ++i)
    EXPECT_NEAR(fit.model.weights(i, 0), file["krr_rbf_gamma.5_alpha.1_y0..4"][i], 1e-12);
}

// What centring leaves of the kernel is rounding: the answer is the mean, for rows inside and out.
TEST(ExactRidge, PredictsTheMeanWhereAllRowsAreAlike) {
  Matrix<double> gram(20, 20), y(20, 1);
  gram.fill(0.7);
  for (Index i = 0; i < 20; ++i) y(i, 0) = static_cast<double>(i) + 0.5;
  const DualSolution found = solve_exact_ridge(gram.view(), y.view(), {}, {}, {});
  double prediction = found.model.intercept[0];
  for (Index i = 0; i < 20; ++i) prediction += 0.7 * found.model.weights(i, 0);
  EXPECT_NEAR(prediction, 10, 1e-9);
  EXPECT_NEAR(found.choice.cv_error, 33.25 * 20 * 20 / (19.0 * 19),
              1e-6);  // of the other rows' mean
}

}  // namespace
}  // namespace kerf::detail
