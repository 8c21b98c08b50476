// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/scaling.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf::detail {
namespace {

/// Columns with an offset, of another size, mostly 0, and constant.
Matrix<float> table(Index rows) {
  Matrix<float> x(rows, 4);
  for (Index i = 0; i < rows; ++i) {
    const auto draw = [&](std::uint64_t k) {
      return static_cast<float>(rng::normal(rng::Key{3}, static_cast<std::uint64_t>(i) * 4 + k));
    };
    x(i, 0) = 5 + draw(0);
    x(i, 1) = 100 * draw(1);
    x(i, 2) = i % 3 == 0 ? draw(2) : 0.0f;
    x(i, 3) = 2;
  }
  return x;
}

RowBlock dense_block(const Matrix<float>& x) {
  RowBlock block;
  block.dense = Matrix<float>(x.rows(), x.cols());
  std::copy_n(x.data(), x.rows() * x.cols(), block.dense.data());
  return block;
}

RowBlock sparse_block(const Matrix<float>& x) {
  RowBlock block;
  block.is_sparse = true;
  block.sparse.cols = x.cols();
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j)
      if (x(i, j) != 0) block.sparse.push(static_cast<std::int32_t>(j), x(i, j));
    block.sparse.end_row();
  }
  return block;
}

std::vector<float> values_of(const RowBlock& block) {
  std::vector<float> all;
  for (Index i = 0; i < block.rows(); ++i) {
    std::vector<float> row(block.x().cols(), 0.0f);
    if (block.is_sparse) {
      const SparseRow entries = block.sparse.view().row(i);
      for (std::size_t k = 0; k < entries.values.size(); ++k)
        row[entries.columns[k]] = entries.values[k];
    } else {
      std::ranges::copy(block.dense.row(i), row.begin());
    }
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

DataSummary summary_of(const Matrix<float>& x) {
  MemorySource source(x.view(), {}, 7);
  return summarise(source, Task::regression, {}, rng::Key{1});
}

// Dense rows were fitted to; the same rows come sparse.
TEST(Scaling, GivesSparseRowsTheNumbersOfDenseOnes) {
  const Matrix<float> x = table(50);
  for (const ScaleKind kind :
       {ScaleKind::standard, ScaleKind::rms, ScaleKind::unit, ScaleKind::none})
    for (const bool range : {false, true}) {
      Scaling scaling = make_scaling(kind, summary_of(x));
      if (range) scaling.keep_range(summary_of(x));
      RowBlock dense = dense_block(x), sparse = sparse_block(x);
      scaling.apply(dense);
      scaling.apply(sparse);
      const auto expected = values_of(dense), found = values_of(sparse);
      for (std::size_t k = 0; k < expected.size(); ++k)
        EXPECT_NEAR(found[k], expected[k], 1e-6 * std::abs(expected[k]))
            << name_of(kind) << " " << k;
    }
}

TEST(Scaling, LeavesSparseRowsSparseWhereZerosStay) {
  const Matrix<float> x = table(50);
  RowBlock sparse = sparse_block(x);
  make_scaling(ScaleKind::rms, summary_of(x)).apply(sparse);
  EXPECT_TRUE(sparse.is_sparse);
}

TEST(Scaling, KeepsTheBitsOfTrainingRowsWithARange) {
  const Matrix<float> x = table(200);
  for (const ScaleKind kind : {ScaleKind::standard, ScaleKind::rms, ScaleKind::none}) {
    const Scaling plain = make_scaling(kind, summary_of(x));
    Scaling ranged = plain;
    ranged.keep_range(summary_of(x));
    EXPECT_EQ(ranged.lower.size(), 4u);
    RowBlock a = dense_block(x), b = dense_block(x);
    EXPECT_EQ(plain.apply(a), 0);
    EXPECT_EQ(ranged.apply(b), 0);
    EXPECT_EQ(values_of(a), values_of(b)) << name_of(kind);
  }
}

// One column, 0 to 2 in training: half of its range is 1.
TEST(Scaling, DrawsNumbersOutsideTheRangeBackSmoothly) {
  Matrix<float> x(2, 1);
  x(0, 0) = 0;
  x(1, 0) = 2;
  Scaling scaling = make_scaling(ScaleKind::none, summary_of(x));
  scaling.keep_range(summary_of(x));
  const auto drawn = [&](float value) {
    Matrix<float> row(1, 1);
    row(0, 0) = value;
    RowBlock block = dense_block(row);
    scaling.apply(block);
    return double{block.dense(0, 0)};
  };
  EXPECT_NEAR(drawn(-1e30f), -1, 1e-6);
  double before = drawn(-4.01f);
  for (int k = -400; k <= 600; ++k) {
    const double value = 0.01 * k, next = drawn(static_cast<float>(value));
    EXPECT_GE(next, before - 1e-7) << value;
    EXPECT_LE(next - before, 0.0101) << value;  // no steeper than before
    before = next;
  }
  EXPECT_NEAR(drawn(2.01f), 2.01, 1e-4);  // the same slope on both sides of the edge
  EXPECT_NEAR(drawn(3), 3 - std::exp(-1.0), 1e-6);
  EXPECT_NEAR(drawn(1e30f), 3, 1e-6);
}

TEST(Scaling, CountsRowsWithANumberFarOutside) {
  const Matrix<float> x = table(100);
  Scaling scaling = make_scaling(ScaleKind::standard, summary_of(x));
  scaling.keep_range(summary_of(x));
  Matrix<float> other = table(100);
  other(3, 0) = 1000;
  other(7, 1) = -1e6f;
  other(7, 0) = 1000;
  other(9, 0) += 0.01f;
  RowBlock dense = dense_block(other), sparse = sparse_block(other);
  EXPECT_EQ(scaling.apply(dense), 2);
  EXPECT_EQ(scaling.apply(sparse), 2);
  EXPECT_EQ(values_of(dense), values_of(sparse));
}

}  // namespace
}  // namespace kerf::detail
