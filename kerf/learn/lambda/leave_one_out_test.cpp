// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda/leave_one_out.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/learn/lambda/pair_table.h"
#include "kerf/learn/ridge/exact_ridge.h"
#include "tests/oracle/rows.h"

namespace kerf::detail {
namespace {

Matrix<double> some_targets(const Matrix<float>& x) {
  Matrix<double> y(x.rows(), 2);
  for (Index i = 0; i < x.rows(); ++i) {
    y(i, 0) = 3 + std::sin(2 * x(i, 0)) + x(i, 1);
    y(i, 1) = rng::normal(rng::Key{77}, static_cast<std::uint64_t>(i));
  }
  return y;
}

std::unique_ptr<Kernel> make_kernel(const std::string& name, const Params& params) {
  return find_kernel(name).make(params);
}

// The oracle is the eigenvalue path of exact_ridge, itself tested against refitting without each
// row.
TEST(LeaveOneOut, GivesTheErrorsOfTheEigenvaluePath) {
  const Matrix<float> x = oracle::normal_matrix(90, 4, 1);
  const Matrix<double> y = some_targets(x);
  const auto kernel = make_kernel("gaussian", {{"bandwidth", "2"}});
  for (const bool weighted : {false, true}) {
    std::vector<double> weights;
    for (Index i = 0; weighted && i < x.rows(); ++i) weights.push_back(i % 5 == 0 ? 0 : 0.5 + i);
    Matrix<double> gram_a(90, 90), gram_b(90, 90);
    gram<double>(*kernel, x.view(), x.view(), gram_a.view());
    gram<double>(*kernel, x.view(), x.view(), gram_b.view());
    LeaveOneOut problem(gram_a.view(), y.view(), weights);
    ExactRidgeOptions options;
    for (const int step : {-12, -6, 0, 8}) options.lambdas.push_back(problem.lambda(step));
    const auto choice = solve_exact_ridge(gram_b.view(), y.view(), weights, options).choice;
    for (const auto& [lambda, cv_error] : choice.path)
      EXPECT_NEAR(problem.error(lambda), cv_error, 1e-8 * cv_error) << lambda << weighted;
  }
}

TEST(LeaveOneOut, SearchFindsTheMinimumAlsoFromASingularStart) {
  const Matrix<float> x = oracle::normal_matrix(60, 3, 2);
  const Matrix<double> y = some_targets(x);
  // Rank 3: at tiny lambdas the factorisation fails or the error is huge.
  Matrix<double> gram(60, 60);
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j < 60; ++j) {
      gram(i, j) = 0;
      for (Index k = 0; k < 3; ++k) gram(i, j) += double{x(i, k)} * x(j, k);
    }
  for (Index i = 0; i < 60; ++i) gram(i, i) -= 1e-7;  // rounding, exaggerated
  LeaveOneOut problem(gram.view(), y.view(), {});
  const auto [step, error] = problem.search(kFirstLambdaStep, 1);
  ASSERT_TRUE(std::isfinite(error));
  for (int other = kFirstLambdaStep; other <= kLastLambdaStep; ++other)
    if (std::abs(other - step) == 1) {
      EXPECT_GE(problem.error(problem.lambda(other)), error);
    }
}

TEST(PairTable, GivesTheGramMatrixOfEveryKernel) {
  Matrix<float> x = oracle::normal_matrix(70, 5, 3);
  for (Index k = 0; k < 5; ++k) {
    x(7, k) = x(3, k);                // equal rows
    x(8, k) = x(3, k) * (1 + 1e-6f);  // nearly equal
    x(9, k) = -x(3, k);               // opposite
    x(10, k) = 0;                     // no direction
    x(11, k) = 1000 * x(11, k);       // far away
  }
  const PairTable table(x.view());
  for (const KernelEntry& entry : kernels())
    for (const char* bias : {"0", "1.5"}) {
      Params params;
      for (const OptionInfo& option : entry.options()) {
        if (option.name == "bias") params["bias"] = bias;
        if (option.name == "bandwidth") params["bandwidth"] = "1.7";
        if (option.name == "image") params["image"] = "1x5x1";
        if (option.name == "depth") params["depth"] = "3";
      }
      const auto kernel = entry.make(params);
      Matrix<double> fast(60, 60), exact(60, 60), wide(60, 5);
      std::copy_n(x.data(), 60 * 5, wide.data());
      table.gram(*kernel, 60, fast.view());
      kernel->gram(wide.view(), wide.view(), exact.view());
      for (Index i = 0; i < 60; ++i)
        for (Index j = 0; j < 60; ++j) {
          // The angle has an error of about 1e-15, its square root (kappa) of 3e-8 at most.
          const double size = std::sqrt(exact(i, i) * exact(j, j));
          EXPECT_NEAR(fast(i, j), exact(i, j), 1e-7 * size + 1e-300)
              << entry.name << " " << bias << " " << i << " " << j;
        }
      EXPECT_EQ(fast(3, 7), fast(3, 3)) << entry.name;
    }
}

TEST(PairTable, TakesSparseRows) {
  CsrMatrix sparse;
  sparse.cols = 300;
  Matrix<float> dense(20, 300);
  dense.fill(0);
  for (Index i = 0; i < 20; ++i) {
    for (std::int32_t k = 0; k < 3; ++k) {
      const auto column = static_cast<std::int32_t>(k * 100 + (7 * i) % 50);
      sparse.push(column, 1.0f + static_cast<float>(i));
      dense(i, column) = 1.0f + static_cast<float>(i);
    }
    sparse.end_row();
  }
  const PairTable a(sparse.view()), b(dense.view());
  const auto kernel = make_kernel("ntk", {{"depth", "2"}, {"bias", "1"}});
  Matrix<double> from_sparse(20, 20), from_dense(20, 20);
  a.gram(*kernel, 20, from_sparse.view());
  b.gram(*kernel, 20, from_dense.view());
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 20; ++j)
      EXPECT_NEAR(from_sparse(i, j), from_dense(i, j),
                  1e-9 * from_dense(i, i) + 1e-9 * from_dense(j, j));
}

}  // namespace
}  // namespace kerf::detail
