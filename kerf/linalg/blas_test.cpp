// The tiled factorisations against plain loops, and their promises: the same bits for any number of
// threads and whatever else the process computes, a stop between tiles.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/blas.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "kerf/core/random/random.h"
#include "kerf/core/system/interrupt.h"
#include "kerf/core/system/parallel.h"
#include "tests/oracle/rows.h"

namespace kerf::detail {
namespace {

/// Positive definite, with a condition of about a thousand.
Matrix<double> definite(Index n) {
  const auto z = oracle::normal_matrix<double>(n, n, 1);
  Matrix<double> a(n, n);
  blas::gemm(true, false, 1.0 / static_cast<double>(n), z.view(), z.view(), 0.0, a.view());
  for (Index i = 0; i < n; ++i) a(i, i) += 0.01;
  return a;
}

template <class T>
Matrix<T> copy_as(const Matrix<double>& a) {
  Matrix<T> out(a.rows(), a.cols());
  std::transform(a.data(), a.data() + a.rows() * a.cols(), out.data(),
                 [](double value) { return static_cast<T>(value); });
  return out;
}

template <class T>
bool same_bits(const Matrix<T>& a, const Matrix<T>& b) {
  return std::memcmp(a.data(), b.data(),
                     sizeof(T) * static_cast<std::size_t>(a.rows() * a.cols())) == 0;
}

double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  double largest = 0;
  for (Index k = 0; k < a.rows() * a.cols(); ++k)
    largest = std::max(largest, std::abs(a.data()[k] - b.data()[k]));
  return largest;
}

/// Sets the number of threads, and what it was before at the end.
class Threads {
 public:
  explicit Threads(int count) : before_(threads()) { set_threads(count); }
  ~Threads() { set_threads(before_); }

 private:
  int before_;
};

constexpr Index kOrders[] = {1, 5, 384, 385, 700};  // one call, and tiles with a last one cut off

TEST(Blas, CholeskyFactorsAndSolves) {
  for (const Index n : kOrders) {
    const auto a = definite(n);
    auto r = copy_as<double>(a);
    ASSERT_EQ(blas::cholesky(r.view()), 0);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j) {
        ASSERT_EQ(r(i, j), a(i, j)) << "the lower triangle is not touched";
        r(i, j) = 0;
      }
    Matrix<double> back(n, n);
    blas::gemm(true, false, 1.0, r.view(), r.view(), 0.0, back.view());
    EXPECT_LT(largest_difference(back, a), 1e-12) << n;

    const auto b = oracle::normal_matrix<double>(n, 3, 2);  // A x = b
    auto x = copy_as<double>(b);
    blas::cholesky_solve(r.view(), x.view());
    Matrix<double> product(n, 3);
    blas::gemm(false, false, 1.0, a.view(), x.view(), 0.0, product.view());
    EXPECT_LT(largest_difference(product, b), 1e-11) << n;

    auto half = copy_as<double>(b);  // R^T x = b
    blas::transposed_solve(r.view(), half.view());
    blas::gemm(true, false, 1.0, r.view(), half.view(), 0.0, product.view());
    EXPECT_LT(largest_difference(product, b), 1e-11) << n;

    const auto rows = oracle::normal_matrix<double>(3, n, 3);
    for (const bool transpose : {false, true}) {
      auto solved = copy_as<double>(rows);
      blas::triangular_solve_rows(r.view(), transpose, solved.view());
      Matrix<double> again(3, n);
      blas::gemm(false, transpose, 1.0, solved.view(), r.view(), 0.0, again.view());
      EXPECT_LT(largest_difference(again, rows), 1e-11) << n;
    }

    auto inverse = copy_as<double>(r);
    blas::triangular_inverse(inverse.view());
    Matrix<double> identity(n, n);
    blas::gemm(false, false, 1.0, r.view(), inverse.view(), 0.0, identity.view());
    for (Index i = 0; i < n; ++i) identity(i, i) -= 1;
    for (Index k = 0; k < n * n; ++k) ASSERT_LT(std::abs(identity.data()[k]), 1e-11) << n;
  }
}

TEST(Blas, CholeskyNamesTheBlockThatIsNotDefinite) {
  for (const Index at : {0, 300, 650}) {
    auto a = definite(700);
    a(at, at) = -1;
    auto single = copy_as<float>(a);
    EXPECT_EQ(blas::cholesky(a.view()), at + 1);
    EXPECT_EQ(blas::cholesky(single.view()), at + 1);
  }
}

void expect_decomposition(const Matrix<double>& a, const Matrix<double>& vectors,
                          const std::vector<double>& values) {
  const Index n = a.rows();
  double norm = 0;
  for (const double value : values) norm = std::max(norm, std::abs(value));
  Matrix<double> product(n, n), inner(n, n);
  blas::product(false, false, 1.0, vectors.view(), a.view(), 0.0, product.view());
  blas::product(false, true, 1.0, vectors.view(), vectors.view(), 0.0, inner.view());
  for (Index k = 0; k < n; ++k) {
    if (k > 0) {
      ASSERT_LE(values[k - 1], values[k]);
    }
    for (Index j = 0; j < n; ++j) {
      const double value = values[k];
      ASSERT_NEAR(product(k, j), value * vectors(k, j), 1e-13 * static_cast<double>(n) * norm);
      ASSERT_NEAR(inner(k, j), k == j ? 1 : 0, 1e-13 * static_cast<double>(n));
    }
  }
}

TEST(Blas, EigenvectorsOfSpectraThatAreEasyAndHard) {
  constexpr Index n = 601;
  std::vector<Matrix<double>> all;
  all.push_back(definite(1));
  all.push_back(definite(2));
  all.push_back(definite(128));
  all.push_back(definite(129));
  all.push_back(definite(n));
  Matrix<double> kernel(n, n), ones(n, n), zero(n, n), diagonal(n, n), tiny(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {  // nearly all eigenvalues are rounding
      kernel(i, j) = std::exp(-1e-4 * static_cast<double>((i - j) * (i - j)));
      ones(i, j) = 1;
      zero(i, j) = 0;
      diagonal(i, j) = i == j ? static_cast<double>(i % 7) - 3 : 0;
      tiny(i, j) = 1e-200 * kernel(i, j);
    }
  for (auto* each : {&kernel, &ones, &zero, &diagonal, &tiny}) all.push_back(std::move(*each));
  for (const auto& a : all) {
    auto vectors = copy_as<double>(a);
    std::vector<double> values(a.rows());
    blas::symmetric_eigen(vectors.view(), values);
    expect_decomposition(a, vectors, values);
  }
}

/// Everything that is said to be tiled, of matrices large enough for tiles.
struct AllResults {
  Matrix<double> factor, solved, rows, inverse, vectors, product;
  Matrix<float> single;
  explicit AllResults(const Matrix<double>& a)
      : factor(copy_as<double>(a)),
        solved(oracle::normal_matrix<double>(a.rows(), 3, 5)),
        rows(oracle::normal_matrix<double>(3, a.rows(), 6)),
        vectors(copy_as<double>(a)),
        product(a.rows(), a.rows()),
        single(copy_as<float>(a)) {
    blas::cholesky(factor.view());
    blas::cholesky(single.view());
    blas::cholesky_solve(factor.view(), solved.view());
    blas::triangular_solve_rows(factor.view(), false, rows.view());
    inverse = copy_as<double>(factor);
    blas::triangular_inverse(inverse.view());
    std::vector<double> values(a.rows());
    blas::symmetric_eigen(vectors.view(), values);
    blas::product(false, true, 1.0, a.view(), a.view(), 0.0, product.view());
  }
  bool operator==(const AllResults& other) const {
    return same_bits(factor, other.factor) && same_bits(single, other.single) &&
           same_bits(solved, other.solved) && same_bits(rows, other.rows) &&
           same_bits(inverse, other.inverse) && same_bits(vectors, other.vectors) &&
           same_bits(product, other.product);
  }
};

TEST(Blas, SameBitsForAnyNumberOfThreads) {
  const auto a = definite(700);
  const Threads one(1);
  const AllResults alone(a);
  for (const int count : {2, 5}) {
    const Threads more(count);
    EXPECT_TRUE(AllResults(a) == alone) << count << " threads";
  }
}

TEST(Blas, SameBitsWhileOtherThreadsComputeToo) {
  const auto a = definite(500);
  const AllResults alone(a);
  std::atomic<int> different = 0;
  std::vector<std::thread> others;
  for (int k = 0; k < 3; ++k)
    others.emplace_back([&] {
      for (int round = 0; round < 3; ++round)
        if (!(AllResults(a) == alone)) ++different;
    });
  for (auto& other : others) other.join();
  EXPECT_EQ(different, 0);
}

TEST(Blas, LongWorkStopsWhenItsInterruptThrows) {
  struct Stop {};
  auto a = definite(700);
  int asked = 0;
  const InterruptScope scope([&] {
    ++asked;
    throw Stop();
  });
  const auto stops = [&](const std::function<void()>& work) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // past the pause between checks
    EXPECT_THROW(work(), Stop);
  };
  std::vector<double> values(700);
  stops([&] { blas::cholesky(a.view()); });
  stops([&] { blas::symmetric_eigen(a.view(), values); });
  stops([&] { blas::triangular_inverse(a.view()); });
  EXPECT_EQ(asked, 3);
  Index last = -1;
  auto b = definite(900);
  std::vector<double> more(900);
  EXPECT_THROW(blas::symmetric_eigen(b.view(), more,
                                     [&](const ProgressEvent& event) {
                                       EXPECT_GE(event.done, last);
                                       EXPECT_LE(event.done, event.total);
                                       last = event.done;
                                       if (event.done > event.total / 2) throw Stop();
                                     }),
               Stop);
}

}  // namespace
}  // namespace kerf::detail
