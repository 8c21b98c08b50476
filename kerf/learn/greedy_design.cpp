// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"
#include "kerf/learn/design.h"
#include "kerf/learn/normal_equations.h"
#include "kerf/learn/row_products.h"

namespace kerf {
namespace {

constexpr Index kPiece = 256;   // rows a thread takes at a time
constexpr Index kBlock = 4096;  // rows summed at a time
constexpr Index kTile = 512;    // columns multiplied in single precision before a double takes over
constexpr Index kMostSteps = 32;  // between two looks at all rows

/// G = Z^T Z.
Matrix<double> feature_sums(MatrixView<const float> z, const Progress& progress) {
  Origin origin;
  origin.features.assign(static_cast<std::size_t>(z.cols), 0.0f);
  origin.targets = {0.0};
  NormalEquations sums(origin, Precision::single_);
  Matrix<float> block;
  Matrix<double> none;
  for (Index begin = 0; begin < z.rows; begin += kBlock) {
    const Index end = std::min(begin + kBlock, z.rows);
    block.resize(end - begin, z.cols);  // add() may overwrite what it is given
    for (Index i = begin; i < end; ++i) std::ranges::copy(z.row(i), block.row(i - begin).begin());
    none.resize(end - begin, 1);
    none.fill(0);
    sums.add(block.view(), none.view(), {});
    report(progress, "sums", end, z.rows);
  }
  Matrix<double> gram(z.cols, z.cols);
  gram.fill(0);
  sums.add_gram_to(gram.view());
  for (Index i = 0; i < z.cols; ++i)  // only the upper triangle was summed
    for (Index j = 0; j < i; ++j) gram(i, j) = gram(j, i);
  return gram;
}

/// b_j = z_j^T G z_j = 2 z_j^T T z_j with T the upper triangle of G, its diagonal halved: half of
/// the work of a product with G.
std::vector<double> quadratic_forms(MatrixView<const float> z, const Matrix<double>& gram,
                                    const Progress& progress) {
  const Index m = z.cols;
  Matrix<float> triangle(m, m);
  triangle.fill(0);
  for (Index i = 0; i < m; ++i)
    for (Index j = i; j < m; ++j)
      triangle(i, j) = static_cast<float>(gram(i, j) * (i == j ? 0.5 : 1));
  std::vector<double> forms(static_cast<std::size_t>(z.rows), 0.0);
  for (Index begin = 0; begin < z.rows; begin += kBlock) {
    report(progress, "scores", begin, z.rows);
    const Index end = std::min(begin + kBlock, z.rows);
    parallel_for(end - begin, kPiece, [&](Index first, Index last) {
      const auto rows = z.slice(begin + first, begin + last);
      Matrix<float> product(rows.rows, kTile);
      for (Index j = 0; j < m; j += kTile) {
        const Index width = std::min(kTile, m - j);
        const MatrixView<const float> left(rows.data, rows.rows, j + width, rows.stride);
        const MatrixView<const float> right(triangle.data() + j, j + width, width, m);
        blas::gemm(false, false, 1.0f, left, right, 0.0f,
                   MatrixView<float>(product.data(), rows.rows, width, kTile));
        for (Index i = 0; i < rows.rows; ++i) {
          const std::span zi(rows.data + i * rows.stride + j, static_cast<std::size_t>(width));
          const std::span<const float> pi(product.data() + i * kTile, zi.size());
          forms[static_cast<std::size_t>(begin + first + i)] += 2 * two_dots(zi, pi, pi).first;
        }
      }
    });
  }
  return forms;
}

/// The vectors of the steps so far, which stand for M and C.
class Updates {
 public:
  Updates(const Matrix<double>& gram, Index budget)
      : gram_(gram), u_(budget, gram.cols()), w_(budget, gram.cols()) {}

  /// u = M z, w = C z, s and b become number count().
  void add(std::span<const float> row, double c) {
    const std::vector<double> z(row.begin(), row.end());
    const auto u = u_.row(count()), w = w_.row(count());
    std::vector<double> by_u(s_.size()), by_w(s_.size());
    parallel_for(count(), 16, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double p = dot(u_.row(i), z) / s_[at];
        by_u[at] = p;
        by_w[at] = b_[at] / s_[at] * p - dot(w_.row(i), z) / s_[at];
      }
    });
    parallel_for(gram_.rows(), 256, [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j) {
        u[static_cast<std::size_t>(j)] = z[static_cast<std::size_t>(j)];
        w[static_cast<std::size_t>(j)] = dot(gram_.row(j), z);
      }
      for (Index i = 0; i < count(); ++i) {
        const double p = by_u[static_cast<std::size_t>(i)], q = by_w[static_cast<std::size_t>(i)];
        const double *ui = u_.row(i).data(), *wi = w_.row(i).data();
        for (Index j = begin; j < end; ++j) {
          u[static_cast<std::size_t>(j)] -= p * ui[j];
          w[static_cast<std::size_t>(j)] += q * ui[j] - p * wi[j];
        }
      }
    });
    s_.push_back(c + dot(u, z));
    b_.push_back(dot(w, z));
  }
  /// Forgets all but the first `count` steps.
  void keep(Index count) {
    s_.resize(static_cast<std::size_t>(count));
    b_.resize(static_cast<std::size_t>(count));
  }
  Index count() const { return std::ssize(s_); }
  std::span<const double> u(Index step) const { return u_.row(step); }
  std::span<const double> w(Index step) const { return w_.row(step); }
  double gain(Index step) const {
    return b_[static_cast<std::size_t>(step)] / s_[static_cast<std::size_t>(step)];
  }

  /// What a step does to a row's a and b, given p = <z, u> and r = <z, w>.
  void update(Index step, double p, double r, double& a, double& b) const {
    const double s = s_[static_cast<std::size_t>(step)], beta = b_[static_cast<std::size_t>(step)];
    a -= p * p / s;
    b += (beta * p / s - 2 * r) * p / s;
  }

 private:
  static double dot(std::span<const double> a, std::span<const double> b) {
    double sums[8] = {};
    const std::size_t whole = a.size() / 8 * 8;
    for (std::size_t j = 0; j < whole; j += 8)
      for (std::size_t k = 0; k < 8; ++k) sums[k] += a[j + k] * b[j + k];
    double sum = 0;
    for (const double part : sums) sum += part;
    for (std::size_t j = whole; j < a.size(); ++j) sum += a[j] * b[j];
    return sum;
  }

  const Matrix<double>& gram_;
  Matrix<double> u_, w_;
  std::vector<double> s_, b_;
};

/// Steps are first taken among the rows of the largest gains, the candidates.  Then one product of
/// all rows with the vectors of these steps shows what the gain of every row was at every step, and
/// steps from the first one on at which another row had a larger gain are taken back.
class Greedy {
 public:
  Greedy(MatrixView<const float> z, Index budget, double c, const Progress& progress)
      : z_(z), c_(c), gram_(feature_sums(z, progress)), updates_(gram_, budget) {
    b_ = quadratic_forms(z, gram_, progress);
    a_.resize(b_.size());
    parallel_for(z.rows, kPiece, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        a_[static_cast<std::size_t>(i)] = two_dots(z.row(i), z.row(i), z.row(i)).first;
    });
    chosen_at_.assign(a_.size(), std::numeric_limits<Index>::max());
  }

  double total() const { return std::accumulate(a_.begin(), a_.end(), 0.0); }
  const std::vector<Index>& rows() const { return rows_; }
  double gain(Index step) const { return updates_.gain(step); }

  /// At least one more row, at most `steps`.
  void advance(Index steps, Index candidates) {
    const Index before = updates_.count();
    try_steps(steps, best_rows(candidates));
    multiply_all(before);
    take_back(first_wrong_step(before));
    settle(before);
  }

 private:
  double gain(std::size_t row) const { return b_[row] / (a_[row] + c_); }
  bool is_free(std::size_t row) const { return chosen_at_[row] >= updates_.count(); }

  std::vector<Index> best_rows(Index count) const {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (is_free(i)) rows.push_back(static_cast<Index>(i));
    const auto larger = [this](Index i, Index j) {
      const double left = gain(static_cast<std::size_t>(i)),
                   right = gain(static_cast<std::size_t>(j));
      return left != right ? left > right : i < j;
    };
    const auto end = rows.begin() + std::min<Index>(count, std::ssize(rows));
    std::ranges::nth_element(rows, end, larger);
    rows.erase(end, rows.end());
    std::ranges::sort(rows);  // of equal gains the first row wins, here as among all
    return rows;
  }

  void try_steps(Index steps, const std::vector<Index>& candidates) {
    const std::size_t count = candidates.size();
    std::vector<double> a(count), b(count);
    for (std::size_t k = 0; k < count; ++k) {
      a[k] = a_[static_cast<std::size_t>(candidates[k])];
      b[k] = b_[static_cast<std::size_t>(candidates[k])];
    }
    std::vector<float> u(static_cast<std::size_t>(z_.cols)), w(u.size());
    for (Index step = 0; step < std::min<Index>(steps, std::ssize(candidates)); ++step) {
      std::size_t best = count;
      for (std::size_t k = 0; k < count; ++k)
        if (is_free(static_cast<std::size_t>(candidates[k])) &&
            (best == count || b[k] / (a[k] + c_) > b[best] / (a[best] + c_)))
          best = k;
      const Index row = candidates[best], number = updates_.count();
      rows_.push_back(row);
      chosen_at_[static_cast<std::size_t>(row)] = number;
      updates_.add(z_.row(row), c_);
      std::ranges::copy(updates_.u(number), u.begin());
      std::ranges::copy(updates_.w(number), w.begin());
      parallel_for(std::ssize(candidates), 64, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const auto k = static_cast<std::size_t>(i);
          const auto [p, r] = two_dots(z_.row(candidates[k]), u, w);
          updates_.update(number, p, r, a[k], b[k]);
        }
      });
    }
  }

  /// products_: all rows times u and w of the steps since `before`, u and w in turn.
  void multiply_all(Index before) {
    const Index steps = updates_.count() - before;
    Matrix<float> vectors(2 * steps, z_.cols);
    for (Index t = 0; t < steps; ++t) {
      std::ranges::copy(updates_.u(before + t), vectors.row(2 * t).begin());
      std::ranges::copy(updates_.w(before + t), vectors.row(2 * t + 1).begin());
    }
    products_.resize(z_.rows, 2 * steps);
    products_.fill(0);
    parallel_for(z_.rows, kPiece, [&](Index begin, Index end) {
      Matrix<float> part(end - begin, 2 * steps);
      for (Index j = 0; j < z_.cols; j += kTile) {
        const Index width = std::min(kTile, z_.cols - j);
        blas::gemm(false, true, 1.0f, {z_.row(begin).data() + j, end - begin, width, z_.stride},
                   {vectors.data() + j, 2 * steps, width, z_.cols}, 0.0f, part.view());
        for (Index i = begin; i < end; ++i)
          for (Index k = 0; k < 2 * steps; ++k) products_(i, k) += double{part(i - begin, k)};
      }
    });
  }

  /// The first of the steps since `before` at which a row had a larger gain than the one taken.
  Index first_wrong_step(Index before) const {
    const Index steps = updates_.count() - before;
    std::vector<double> taken;
    for (Index t = 0; t < steps; ++t) {
      auto row = static_cast<std::size_t>(rows_[static_cast<std::size_t>(before + t)]);
      double a = a_[row], b = b_[row];
      for (Index earlier = 0; earlier < t; ++earlier) replay(before, earlier, row, a, b);
      taken.push_back(b / (a + c_));
    }
    Index wrong = steps;
    for (std::size_t row = 0; row < a_.size(); ++row) {
      double a = a_[row], b = b_[row];
      for (Index t = 0; t < wrong && chosen_at_[row] > before + t; ++t) {
        if (b / (a + c_) > taken[static_cast<std::size_t>(t)]) wrong = t;
        replay(before, t, row, a, b);
      }
    }
    return before + wrong;
  }

  void replay(Index before, Index t, std::size_t row, double& a, double& b) const {
    const auto p = products_.row(static_cast<Index>(row));
    updates_.update(before + t, p[static_cast<std::size_t>(2 * t)],
                    p[static_cast<std::size_t>(2 * t + 1)], a, b);
  }

  void take_back(Index steps) {
    for (std::size_t t = static_cast<std::size_t>(steps); t < rows_.size(); ++t)
      chosen_at_[static_cast<std::size_t>(rows_[t])] = std::numeric_limits<Index>::max();
    rows_.resize(static_cast<std::size_t>(steps));
    updates_.keep(steps);
  }

  void settle(Index before) {
    for (std::size_t row = 0; row < a_.size(); ++row)
      for (Index t = 0; t < updates_.count() - before; ++t)
        replay(before, t, row, a_[row], b_[row]);
  }

  MatrixView<const float> z_;
  double c_;
  Matrix<double> gram_;
  Updates updates_;
  std::vector<double> a_, b_;
  std::vector<Index> rows_, chosen_at_;  // the step at which a row was chosen
  Matrix<double> products_;
};

}  // namespace

Design greedy_design(MatrixView<const float> z, Index budget, double c, const Progress& progress,
                     Index candidates) {
  KERF_REQUIRE(budget >= 1 && budget <= z.rows, usage, "a budget of {} of {} rows", budget, z.rows);
  KERF_REQUIRE(c > 0 && std::isfinite(c), usage, "lambda must be positive, not {}", c);
  KERF_REQUIRE(candidates >= 1, usage, "{} candidates", candidates);
  Greedy greedy(z, budget, c, progress);
  Design design;
  design.total = greedy.total();
  for (Index steps = 1, done = 0; done < budget;) {
    report(progress, "selecting", done, budget);
    greedy.advance(std::min(steps, budget - done), candidates);
    const Index held = std::ssize(greedy.rows()) - done;
    steps = held == steps ? std::min(2 * steps, kMostSteps) : std::max<Index>(held, 1);
    done += held;
  }
  design.rows = greedy.rows();
  for (Index step = 0; step < budget; ++step) design.gains.push_back(greedy.gain(step));
  return design;
}

Index design_bytes(Index rows, Index features, Index budget) {
  const Index sums = NormalEquations::bytes(features, 1) +
                     NormalEquations::scratch_bytes(Precision::single_, threads());
  return 4 * rows * features + 4 * std::min(rows, kBlock) * features + 8 * features * features +
         std::max(sums, 4 * features * features) + 16 * budget * features +
         (32 + 16 * kMostSteps) * rows;
}

}  // namespace kerf
