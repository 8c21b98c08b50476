// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/row_sketch.h"

#include <gtest/gtest.h>

#include "kerf/api/error.h"
#include "kerf/core/system/parallel.h"
#include "kerf/sketch/count_sketch.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

using oracle::dot;

constexpr Index kRows = 50, kCols = 7, kOut = 12, kBlock = 16;

Matrix<float> gaussian(Index rows, Index cols, std::uint64_t seed) {
  Matrix<float> x(rows, cols);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * cols)});
  return x;
}

CsrMatrix sparse_copy(const Matrix<float>& x) {
  CsrMatrix s;
  s.cols = x.cols();
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) s.push(static_cast<std::int32_t>(j), x(i, j));
    s.end_row();
  }
  return s;
}

std::vector<float> numbers(MatrixView<const float> x) { return {x.data, x.data + x.rows * x.cols}; }
std::vector<float> numbers(const Matrix<float>& x) { return numbers(x.view()); }

/// Both kinds behind one face.
struct Count {
  RowOsnap sketch{kOut, kCols, 2, rng::Key{5}};
  std::vector<float> result() const { return numbers(sketch.result()); }
};
struct Hadamard {
  RowSrht sketch{kOut, kCols, rng::Key{5}, kBlock};
  std::vector<float> result() const { return numbers(sketch.result()); }
};

template <class Kind>
class RowSketch : public testing::Test {};
using Kinds = testing::Types<Count, Hadamard>;
TYPED_TEST_SUITE(RowSketch, Kinds);

TYPED_TEST(RowSketch, GivesTheSameBitsHoweverTheStreamIsCut) {
  const auto z = gaussian(kRows, kCols, 1);
  TypeParam whole, pieces, sparse;
  whole.sketch.add(0, z.view());
  const auto s = sparse_copy(z);
  sparse.sketch.add(0, s.view());
  const int before = threads();
  set_threads(3);
  for (Index begin = 0; begin < kRows;) {
    const Index end = std::min(kRows, begin + 1 + begin % 5);
    pieces.sketch.add(begin, z.view().slice(begin, end));
    begin = end;
  }
  set_threads(before);
  EXPECT_EQ(whole.result(), pieces.result());
  EXPECT_EQ(whole.result(), sparse.result());
}

TYPED_TEST(RowSketch, AddsUpWhenPartsAreMerged) {
  const auto z = gaussian(kRows, kCols, 2);
  TypeParam whole, left, right;
  whole.sketch.add(0, z.view());
  left.sketch.add(0, z.view().slice(0, 21));  // in the middle of a block
  right.sketch.add(21, z.view().slice(21, kRows));
  left.sketch.merge(right.sketch);
  const auto a = whole.result(), b = left.result();
  // Each entry is a sum of at most kRows numbers of size about 1.
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * kRows);
}

TEST(RowOsnap, IsOsnapOfTheColumns) {
  const auto z = gaussian(kRows, kCols, 3);
  Matrix<float> columns(kCols, kRows), expected(kCols, kOut);
  for (Index i = 0; i < kRows; ++i)
    for (Index j = 0; j < kCols; ++j) columns(j, i) = z(i, j);
  Osnap(kRows, kOut, 3, rng::Key{8}).apply(columns.view(), expected.view());
  RowOsnap sketch(kOut, kCols, 3, rng::Key{8});
  sketch.add(0, z.view());
  for (Index i = 0; i < kOut; ++i)
    for (Index j = 0; j < kCols; ++j) EXPECT_EQ(sketch.result()(i, j), expected(j, i));
}

/// Two columns of two and a half blocks, heavy at the same position of each block.
Matrix<float> two_columns() {
  auto z = gaussian(20, 2, 4);
  for (Index i = 0; i < 20; ++i) {
    if (i % 8 == 0) z(i, 0) += 3;
    z(i, 1) = 0.3f * z(i, 1) + 0.4f * z(i, 0);
  }
  return z;
}

template <class Result>
double inner_product(const Result& s) {
  double sum = 0;
  for (Index i = 0; i < kOut; ++i) sum += double{s(i, 0)} * double{s(i, 1)};
  return sum;
}

std::vector<float> column(const Matrix<float>& z, Index j, Index begin, Index end) {
  std::vector<float> out;
  for (Index i = begin; i < std::min(end, z.rows()); ++i) out.push_back(z(i, j));
  return out;
}

TEST(RowOsnap, HasTheSameBitsFromRowsInAnyOrder) {
  const auto z = gaussian(kRows, kCols, 9);
  RowOsnap stream(kOut, kCols, 3, rng::Key{8}), kept(kOut, kCols, 3, rng::Key{8});
  stream.add(0, z.view());
  const int before = threads();
  set_threads(3);
  kept.add_in_any_order(kRows, [&](Index row, float factor, std::span<float> sum) {
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += factor * z.row(row)[j];
  });
  set_threads(before);
  EXPECT_EQ(numbers(kept.result()), numbers(stream.result()));
}

TEST(RowOsnap, IsUnbiasedWithTheVarianceItsHeaderStates) {
  const auto z = two_columns();
  const auto u = column(z, 0, 0, 20), v = column(z, 1, 0, 20);
  oracle::expect_moments(20000, dot(u, v), oracle::pair_variance(u, v) / kOut,
                         oracle::Stated::exactly, [&](rng::Key key) {
                           RowOsnap sketch(kOut, 2, 2, key);
                           sketch.add(0, z.view());
                           return inner_product(sketch.result());
                         });
}

TEST(RowSrht, IsUnbiasedWithTheVarianceItsHeaderStates) {
  const auto z = two_columns();
  const Index size = 8, t = kOut % size;
  const double rho = static_cast<double>(t * (size - t)) / (kOut * static_cast<double>(size - 1));
  double variance = 0;
  for (Index b = 0; b < 20; b += size)
    for (Index c = 0; c < 20; c += size) {
      const auto ub = column(z, 0, b, b + size), vb = column(z, 1, b, b + size);
      const auto uc = column(z, 0, c, c + size), vc = column(z, 1, c, c + size);
      variance += b == c ? rho * oracle::pair_variance(ub, vb)
                         : dot(ub, ub) * dot(vc, vc) + dot(ub, vb) * dot(uc, vc);
    }
  oracle::expect_moments(20000, dot(column(z, 0, 0, 20), column(z, 1, 0, 20)), variance / kOut,
                         oracle::Stated::exactly, [&](rng::Key key) {
                           RowSrht sketch(kOut, 2, key, size);
                           sketch.add(0, z.view());
                           return inner_product(sketch.result());
                         });
}

// Columns are treated 64 at a time, here from rows with gaps between them: each must be what a
// sketch of that column alone gives.
TEST(RowSrht, TreatsEachColumnAlone) {
  constexpr Index kWide = 130, kLong = 83;
  const auto all = gaussian(kLong, kWide + 7, 9);
  const MatrixView<const float> z(all.data() + 3, kLong, kWide, kWide + 7);
  RowSrht whole(kOut, kWide, rng::Key{5}, 32);
  whole.add(0, RowsView(z));
  const Matrix<float> sums = whole.result();
  for (const Index j : {0, 1, 63, 64, 100, 127, 128, 129}) {
    Matrix<float> column(kLong, 1);
    for (Index i = 0; i < kLong; ++i) column(i, 0) = z(i, j);
    RowSrht one(kOut, 1, rng::Key{5}, 32);
    one.add(0, column.view());
    const Matrix<float> expected = one.result();
    for (Index i = 0; i < kOut; ++i) EXPECT_EQ(sums(i, j), expected(i, 0)) << i << ' ' << j;
  }
}

TEST(RowSketches, RefuseWhatDoesNotFit) {
  RowSrht a(kOut, kCols, rng::Key{1}, kBlock), b(kOut, kCols, rng::Key{2}, kBlock);
  EXPECT_THROW(a.merge(b), Error);
  EXPECT_THROW(a.add(0, gaussian(2, kCols + 1, 1).view()), Error);
  EXPECT_THROW(a.add(-1, gaussian(2, kCols, 1).view()), Error);
  EXPECT_THROW(RowSrht(4, 4, rng::Key{1}, 24), Error);
  EXPECT_THROW(RowOsnap(4, 4, 5, rng::Key{1}), Error);
}

}  // namespace
}  // namespace kerf::detail
