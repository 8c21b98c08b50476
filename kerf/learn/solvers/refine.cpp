// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/refine.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/system/parallel.h"
#include "kerf/learn/ridge/ridge.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/block_cg.h"
#include "kerf/linalg/dot.h"

namespace kerf::detail {
namespace {

constexpr double kGoal = 1e-6;
constexpr Index kMostPasses = 12;
constexpr Index kRows = 512;  // that are made double at a time
constexpr Index kPiece = 64;  // of these, for a thread

/// Sums over all rows in double: of a row zc times numbers p of its own.
class RowSums {
 public:
  RowSums(TrainingRows& rows, const Origin& origin) : rows_(rows), origin_(origin) {}

  /// out += sum_i p_i^T zc_i for each pass; p_i: products of zc_i with the rows of v, then (with
  /// `targets`) sqrt(w_i) (y_i - d) and sqrt(w_i).
  Matrix<double> pass(MatrixView<const double> v, bool targets) {
    const Index k = v.rows + (targets ? rows_.outputs() + 1 : 0);
    Matrix<double> out(k, v.cols);
    out.fill(0);
    rows_.for_each([&](const TrainingRows::Block& block) {
      const PhaseClock watch(rows_.seconds().solve);
      for (Index begin = 0; begin < block.z.rows; begin += kRows)
        add(block, begin, std::min(begin + kRows, block.z.rows), v, targets, out.view());
    });
    return out;
  }

  double weight() const { return weight_; }
  const std::vector<double>& target_sums() const { return target_sums_; }

 private:
  void add(const TrainingRows::Block& block, Index begin, Index end, MatrixView<const double> v,
           bool targets, MatrixView<double> out) {
    const Index m = v.cols, rows = end - begin;
    wide_.resize(rows, m);
    numbers_.resize(rows, out.rows);
    const auto root = [&](Index i) { return std::sqrt(block.weights[begin + i]); };
    parallel_for(rows, kPiece, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const float* z = block.z.row(begin + i).data();
        for (Index j = 0; j < m; ++j) wide_(i, j) = (double{z[j]} - origin_.features[j]) * root(i);
      }
      const MatrixView<double> products{numbers_.row(first).data(), last - first, v.rows,
                                        numbers_.cols()};
      if (v.rows > 0)
        blas::gemm(false, true, 1.0, wide_.view().slice(first, last), v, 0.0, products);
    });
    if (targets) add_targets(block, begin, rows, v.rows, root);
    parallel_for(m, kRows, [&](Index first, Index last) {
      const MatrixView<const double> columns{wide_.data() + first, rows, last - first, m};
      blas::gemm(true, false, 1.0, numbers_.view(), columns, 1.0, out.columns(first, last));
    });
  }

  template <class Root>
  void add_targets(const TrainingRows::Block& block, Index begin, Index rows, Index at, Root root) {
    target_sums_.resize(origin_.targets.size(), 0.0);
    for (Index i = 0; i < rows; ++i) {
      const double r = root(i);
      weight_ += r * r;
      for (std::size_t t = 0; t < origin_.targets.size(); ++t) {
        const double y = block.y(begin + i, static_cast<Index>(t)) - origin_.targets[t];
        numbers_(i, at + static_cast<Index>(t)) = r * y;
        target_sums_[t] += r * r * y;
      }
      numbers_(i, numbers_.cols() - 1) = r;
    }
  }

  TrainingRows& rows_;
  const Origin& origin_;
  Matrix<double> wide_, numbers_;
  double weight_ = 0;
  std::vector<double> target_sums_;
};

/// products := (G - s s^T/n) v, given G v; vectors are rows.
void centre(MatrixView<const double> v, std::span<const double> s, double n,
            MatrixView<double> products) {
  for (Index k = 0; k < v.rows; ++k) {
    const double along = dot_in_order(s, v.row(k)) / n;
    for (Index j = 0; j < v.cols; ++j) products(k, j) -= s[j] * along;
  }
}

}  // namespace

Refined refine_ridge(TrainingRows& rows, const Origin& origin, MatrixView<const double> factor,
                     double lambda, const LinearModel& start) {
  const Index m = factor.rows, outputs = rows.outputs();
  Matrix<double> x(outputs, m);
  for (Index t = 0; t < outputs; ++t)
    for (Index j = 0; j < m; ++j) x(t, j) = start.weights(j, t);
  RowSums sums(rows, origin);
  const auto tell = [&](Index pass) { report(rows.progress(), "refining", pass, 0, "passes"); };
  Refined result;
  tell(++result.passes);
  Matrix<double> all = sums.pass(x.view(), true);  // G x, C, s
  const double n = sums.weight();
  const std::vector<double> s(all.row(2 * outputs).begin(), all.row(2 * outputs).end());
  const MatrixView<double> products = all.view().slice(0, outputs),
                           rhs = all.view().slice(outputs, 2 * outputs);
  centre(x.view(), s, n, products);
  for (Index t = 0; t < outputs; ++t)
    for (Index j = 0; j < m; ++j) rhs(t, j) -= s[j] * sums.target_sums()[t] / n;
  BlockCg cg(factor, n * lambda, rhs);
  cg.restart(std::move(x), products);
  while (cg.residual() > kGoal && !cg.broken() && result.passes < kMostPasses) {
    tell(++result.passes);
    Matrix<double> product = sums.pass(cg.direction().view(), false);
    centre(cg.direction().view(), s, n, product.view());
    cg.advance(product.view());
  }
  result.residual = cg.residual();
  const Matrix<double> w = cg.take_solution();
  result.model.weights.resize(m, outputs);
  for (Index t = 0; t < outputs; ++t) {
    for (Index j = 0; j < m; ++j) result.model.weights(j, t) = w(t, j);
    result.model.intercept.push_back((sums.target_sums()[t] - dot_in_order(s, w.row(t))) / n);
  }
  undo_origin(origin, result.model);
  return result;
}

Index refine_bytes(Index features, Index outputs) {
  // Rows in double; sums, right-hand sides and the vectors of conjugate gradients.
  return 8 * features * (kRows + 16 * outputs + 4) + 8 * kRows * (2 * outputs + 1);
}

}  // namespace kerf::detail
