// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/kernel_factor.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/transpose.h"

namespace kerf::detail {
namespace {

constexpr Index kTile = 256;
constexpr Index kGroup = 128;          // rows whose inverse diagonals are found together
constexpr double kRounding = 0x1p-46;  // what centring leaves of rows that are all alike

/// Rows and columns of a part of a matrix.
template <class T>
MatrixView<T> window(MatrixView<T> a, Index row, Index rows, Index col, Index cols) {
  return {a.data + row * a.stride + col, rows, cols, a.stride};
}

template <class T>
class Factor final : public KernelFactor {
 public:
  /// `offsets`: v of the numbers K_ij - v_i - v_j + s that stand in `matrix`; empty: zeros.
  Factor(Matrix<T> own, MatrixView<T> matrix, std::vector<double> diagonal,
         std::span<const double> offsets, const WeightedRows& rows)
      : KernelFactor(rows), own_(std::move(own)), a_(matrix) {
    diagonal_ = std::move(diagonal);
    if (rows.weighted) apply_weights();
    centre();
    for (std::size_t i = 0; i < offsets.size() && !row_means_.empty(); ++i)
      row_means_[i] += rows.root[i] * offsets[i];
  }

  bool is_single() const override { return std::is_same_v<T, float>; }

  bool factor(double c, const Progress& progress) override {
    const Index n = a_.rows;
    parallel_for((n + kTile - 1) / kTile, 1, [&](Index block, Index) {
      const Index i = block * kTile, rows = std::min(kTile, n - i);
      for (Index k = i; k < i + rows; ++k) {
        for (Index j = k + 1; j < i + rows; ++j) a_(k, j) = a_(j, k);
        a_(k, k) = static_cast<T>(diagonal_[k] + c);
      }
      for (Index j = i + rows; j < n; j += kTile) {
        const Index cols = std::min(kTile, n - j);
        transpose(window<const T>(a_, j, cols, i, rows), window(a_, i, rows, j, cols));
      }
    });
    return blas::cholesky(a_, progress) == 0;
  }

  void solve(MatrixView<double> b) const override {
    if constexpr (std::is_same_v<T, double>) {
      blas::cholesky_solve(a_, b);
    } else {
      // Scaled to 1, so that small numbers are no denormals.
      std::vector<double> size(b.cols, 0.0);
      for (Index i = 0; i < b.rows; ++i)
        for (Index t = 0; t < b.cols; ++t) size[t] = std::max(size[t], std::abs(b(i, t)));
      for (double& value : size) value = value > 0 && std::isfinite(value) ? value : 1;
      Matrix<float> single(b.rows, b.cols);
      for (Index i = 0; i < b.rows; ++i)
        for (Index t = 0; t < b.cols; ++t) single(i, t) = static_cast<float>(b(i, t) / size[t]);
      blas::cholesky_solve(a_, single.view());
      for (Index i = 0; i < b.rows; ++i)
        for (Index t = 0; t < b.cols; ++t) b(i, t) = static_cast<double>(single(i, t)) * size[t];
    }
  }

  void multiply(MatrixView<const double> x, MatrixView<double> out) const override {
    const Index n = a_.rows;
    parallel_for((n + kTile - 1) / kTile, 1, [&](Index block, Index) {
      thread_local Matrix<double> tile;
      tile.resize(kTile, kTile);
      const Index i = block * kTile, rows = std::min(kTile, n - i);
      const auto result = out.slice(i, i + rows);
      for (Index j = 0; j < n; j += kTile) {
        const Index cols = std::min(kTile, n - j);
        const auto right = x.slice(j, j + cols);
        const auto left = window(tile.view(), 0, i >= j ? rows : cols, 0, i >= j ? cols : rows);
        if (i == j) {
          for (Index k = 0; k < rows; ++k) {
            for (Index l = 0; l < k; ++l) left(k, l) = left(l, k) = a_(i + k, i + l);
            left(k, k) = diagonal_[i + k];
          }
        } else {
          const Index row = std::max(i, j), col = std::min(i, j);
          copy_rows(window<const T>(a_, row, left.rows, col, left.cols), left);
        }
        blas::gemm(i < j, false, 1.0, left, right, j == 0 ? 0.0 : 1.0, result);
      }
    });
  }

  Matrix<double> inverse_diagonals(std::span<const Index> rows, Index count) const override {
    const Index n = a_.rows, m = std::ssize(rows);
    Matrix<double> out(m, count);
    Matrix<T> vectors(m, n);
    vectors.fill(0);
    const auto add = [&](Index k) {
      parallel_for(m, 16, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
          double sum = 0;
          for (const T value : vectors.row(r)) sum += static_cast<double>(value) * value;
          out(r, k) = sum;
        }
      });
    };
    // R^-T e_i has zeros before i: only what stands beyond the first of a group takes part.
    for (Index begin = 0; begin < m; begin += kGroup) {
      const Index end = std::min(begin + kGroup, m), first = rows[begin];
      for (Index r = begin; r < end; ++r) vectors(r, rows[r]) = 1;
      blas::triangular_solve_rows(window<const T>(a_, first, n - first, first, n - first), false,
                                  window(vectors.view(), begin, end - begin, first, n - first));
    }
    add(0);
    for (Index k = 1; k < count; ++k) {  // R^-1 of that, then R^-T again
      blas::triangular_solve_rows(a_, k % 2 == 1, vectors.view());
      add(k);
    }
    return out;
  }

  Matrix<double> part(std::span<const Index> rows) const override {
    const Index m = std::ssize(rows);
    Matrix<double> out(m, m);
    for (Index k = 0; k < m; ++k)
      for (Index l = 0; l <= k; ++l) {
        const Index i = rows[k], j = rows[l];
        double value = i == j ? diagonal_[i] : a_(std::max(i, j), std::min(i, j));
        if (shift_ > 0) value -= shift_ * rows_.u[i] * rows_.u[j];
        out(k, l) = out(l, k) = value / (rows_.root[i] * rows_.root[j]);
      }
    return out;
  }

 private:
  /// S K S.
  void apply_weights() {
    const auto& root = rows_.root;
    parallel_for(a_.rows, 64, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        for (Index j = 0; j < i; ++j)
          a_(i, j) = static_cast<T>(static_cast<double>(a_(i, j)) * root[i] * root[j]);
        diagonal_[i] *= root[i] * root[i];
      }
    });
  }

  /// A + g u u^T.
  void centre() {
    const Index n = a_.rows;
    const auto trace = [&] {
      double sum = 0;
      for (const double value : diagonal_) sum += value;
      return sum;
    };
    const double whole = trace();
    double centred = whole;
    if (const auto& u = rows_.u; !u.empty()) {
      Matrix<double> means(n, 1);
      multiply(MatrixView<const double>(u.data(), n, 1), means.view());
      double mean = 0;
      for (Index i = 0; i < n; ++i) mean += u[i] * means(i, 0);
      for (Index i = 0; i < n; ++i) diagonal_[i] += u[i] * (mean * u[i] - 2 * means(i, 0));
      centred = trace();
      if (!(centred > kRounding * whole)) centred = whole;  // rows that are all alike
      shift_ = centred > 0 ? centred : 1;
      parallel_for(n, 64, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const double own = (mean + shift_) * u[i] - means(i, 0), other = u[i];
          for (Index j = 0; j < i; ++j)
            a_(i, j) =
                static_cast<T>(static_cast<double>(a_(i, j)) + (own * u[j] - other * means(j, 0)));
          diagonal_[i] += shift_ * u[i] * u[i];
        }
      });
      for (Index i = 0; i < n; ++i) row_means_.push_back(means(i, 0) / std::sqrt(rows_.weight));
    }
    const double count = static_cast<double>(std::max<Index>(1, rows_.counting()));
    if (centred > 0) scale_ = centred / count;
  }

  Matrix<T> own_;
  MatrixView<T> a_;
};

}  // namespace

Index WeightedRows::counting() const { return count() - std::ranges::count(root, 0.0); }

WeightedRows weigh(MatrixView<const double> targets, WeightsView weights, bool intercept) {
  WeightedRows out;
  out.weighted = weights.given();
  for (Index i = 0; i < targets.rows; ++i) {
    KERF_REQUIRE(weights[i] >= 0 && std::isfinite(weights[i]), data, "a row has the weight {}",
                 weights[i]);
    out.root.push_back(std::sqrt(weights[i]));
  }
  for (const double root : out.root) out.weight += root * root;
  KERF_REQUIRE(out.weight > 0, data, "all rows have weight 0");
  if (intercept) {
    out.u = out.root;
    for (double& value : out.u) value /= std::sqrt(out.weight);
  }
  out.y.resize(targets.rows, targets.cols);
  out.means.assign(targets.cols, 0.0);
  const auto root = [&](Index i) { return out.root[i]; };
  for (Index t = 0; t < targets.cols; ++t) {
    double& mean = out.means[t];
    if (intercept)
      for (Index i = 0; i < targets.rows; ++i)
        mean += root(i) * root(i) * targets(i, t) / out.weight;
    for (Index i = 0; i < targets.rows; ++i) out.y(i, t) = root(i) * (targets(i, t) - mean);
  }
  return out;
}

double KernelFactor::intercept_of(MatrixView<const double> x, Index target) const {
  double sum = 0;
  for (std::size_t i = 0; i < row_means_.size(); ++i)
    sum -= row_means_[i] * x(static_cast<Index>(i), target);
  return sum;
}

std::unique_ptr<KernelFactor> factor_in_double(MatrixView<double> matrix,
                                               const WeightedRows& rows) {
  std::vector<double> diagonal;
  for (Index i = 0; i < matrix.rows; ++i) diagonal.push_back(matrix(i, i));
  return std::make_unique<Factor<double>>(Matrix<double>(), matrix, std::move(diagonal),
                                          std::span<const double>(), rows);
}

std::unique_ptr<KernelFactor> factor_in_double(const KernelRows& kernel, const WeightedRows& rows,
                                               const Progress& progress) {
  const Index n = rows.count();
  Matrix<double> matrix(n, n);
  report(progress, "kernel matrix", 0, 0);
  kernel(0, n, matrix.view());  // all at once: symmetric kernels cost half
  std::vector<double> diagonal;
  for (Index i = 0; i < n; ++i) diagonal.push_back(matrix(i, i));
  const auto view = matrix.view();
  return std::make_unique<Factor<double>>(std::move(matrix), view, std::move(diagonal),
                                          std::span<const double>(), rows);
}

std::unique_ptr<KernelFactor> factor_in_single(const KernelRows& kernel, const WeightedRows& rows,
                                               const Progress& progress) {
  const Index n = rows.count();
  Matrix<float> matrix(n, n);
  std::vector<double> diagonal(n), offsets;
  double level = 0;
  {
    Matrix<double> block;
    for (Index begin = 0; begin < n; begin += kKernelBlock) {
      report(progress, "kernel matrix", begin, n);
      const Index end = std::min(begin + kKernelBlock, n);
      block.resize(end - begin, n);
      kernel(begin, end, block.view());
      if (begin == 0 && !rows.u.empty()) {
        // Of a wide kernel all numbers are nearly the same: rounded is how they differ from the
        // means over these rows.
        offsets.assign(n, 0.0);
        for (Index i = 0; i < end; ++i)
          for (Index j = 0; j < n; ++j) offsets[j] += block(i, j) / static_cast<double>(end);
        for (Index i = 0; i < end; ++i) level += offsets[i] / static_cast<double>(end);
      }
      parallel_for(end - begin, 16, [&](Index first, Index last) {
        for (Index i = begin + first; i < begin + last; ++i) {
          const auto from = block.row(i - begin);
          const auto to = matrix.row(i);
          const double own = offsets.empty() ? 0 : offsets[i] - level;
          if (offsets.empty())
            std::copy_n(from.begin(), i, to.begin());
          else
            for (Index j = 0; j < i; ++j) to[j] = static_cast<float>(from[j] - offsets[j] - own);
          diagonal[i] = from[i] - (offsets.empty() ? 0 : offsets[i] + own);
        }
      });
    }
  }
  const auto view = matrix.view();
  return std::make_unique<Factor<float>>(std::move(matrix), view, std::move(diagonal), offsets,
                                         rows);
}

}  // namespace kerf::detail
