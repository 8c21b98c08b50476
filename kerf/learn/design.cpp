// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/design.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"
#include "kerf/learn/normal_equations.h"

namespace kerf {
namespace {

constexpr Index kPiece = 256;        // rows a thread takes at a time
constexpr Index kBlock = 4096;       // rows summed at a time
constexpr Index kTile = 512;         // columns of a triangle at a time
constexpr std::size_t kLanes = 16;   // independent sums: what vectors are made of
constexpr std::size_t kShort = 256;  // numbers added in single precision before a double takes over

/// <z, u> and <z, w> in one read of z.
std::pair<double, double> two_dots(const float* z, const float* u, const float* w,
                                   std::size_t size) {
  double first = 0, second = 0;
  std::size_t j = 0;
  for (; j + kLanes <= size;) {
    const std::size_t end = std::min(j + kShort, size / kLanes * kLanes);
    float a[kLanes] = {}, b[kLanes] = {};
    for (; j < end; j += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k) {
        a[k] += z[j + k] * u[j + k];
        b[k] += z[j + k] * w[j + k];
      }
    for (std::size_t k = 0; k < kLanes; ++k) first += a[k], second += b[k];
  }
  for (; j < size; ++j) first += z[j] * u[j], second += z[j] * w[j];
  return {first, second};
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sums[4] = {};
  for (std::size_t j = 0; j < a.size(); ++j) sums[j % 4] += a[j] * b[j];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// G = Z^T Z, upper triangle.
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
  const blas::ThreadScope one(1);
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
          const float* zi = rows.data + i * rows.stride + j;
          const float* pi = product.data() + i * kTile;
          forms[static_cast<std::size_t>(begin + first + i)] +=
              2 * two_dots(zi, pi, pi, static_cast<std::size_t>(width)).first;
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

  /// u = M z and w = C z become vectors number count().
  void apply(std::span<const float> z) {
    const std::vector<double> wide(z.begin(), z.end());
    const auto u = u_.row(count_), w = w_.row(count_);
    std::ranges::copy(wide, u.begin());
    times_gram(wide, w);
    for (Index i = 0; i < count_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double p = dot(u_.row(i), wide) / s_[at], r = dot(w_.row(i), wide) / s_[at];
      const auto ui = u_.row(i), wi = w_.row(i);
      for (std::size_t j = 0; j < wide.size(); ++j) {
        u[j] -= p * ui[j];
        w[j] += (gain_[at] / s_[at] * p - r) * ui[j] - p * wi[j];
      }
    }
  }
  std::span<const double> u() const { return u_.row(count_); }
  std::span<const double> w() const { return w_.row(count_); }
  void keep(double s, double b) {
    s_.push_back(s);
    gain_.push_back(b);
    ++count_;
  }

 private:
  /// G z from its upper triangle.
  void times_gram(std::span<const double> z, std::span<double> out) const {
    std::ranges::fill(out, 0.0);
    for (Index i = 0; i < gram_.rows(); ++i) {
      const double* row = gram_.data() + i * gram_.cols();
      const double zi = z[static_cast<std::size_t>(i)];
      double sum = row[i] * zi;
      for (Index j = i + 1; j < gram_.cols(); ++j) {
        sum += row[j] * z[static_cast<std::size_t>(j)];
        out[static_cast<std::size_t>(j)] += row[j] * zi;
      }
      out[static_cast<std::size_t>(i)] += sum;
    }
  }

  const Matrix<double>& gram_;
  Matrix<double> u_, w_;
  std::vector<double> s_, gain_;
  Index count_ = 0;
};

void check_budget(Index rows, Index budget) {
  KERF_REQUIRE(budget >= 1 && budget <= rows, usage, "a budget of {} of {} rows", budget, rows);
}

}  // namespace

Design greedy_design(MatrixView<const float> z, Index budget, double c, const Progress& progress) {
  check_budget(z.rows, budget);
  KERF_REQUIRE(c > 0 && std::isfinite(c), usage, "lambda must be positive, not {}", c);
  const Matrix<double> gram = feature_sums(z, progress);
  Design design;
  std::vector<double> b = quadratic_forms(z, gram, progress), a(b.size());
  const auto size = static_cast<std::size_t>(z.cols);
  parallel_for(z.rows, kPiece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      a[static_cast<std::size_t>(i)] =
          two_dots(z.row(i).data(), z.row(i).data(), z.row(i).data(), size).first;
  });
  for (const double value : a) design.total += value;

  std::vector<bool> chosen(a.size(), false);
  std::vector<float> u(size), w(size);
  Updates updates(gram, budget);
  for (Index step = 0; step < budget; ++step) {
    report(progress, "selecting", step, budget);
    std::size_t best = 0;
    double best_gain = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < a.size(); ++j) {
      const double gain = b[j] / (a[j] + c);
      if (!chosen[j] && gain > best_gain) best = j, best_gain = gain;
    }
    chosen[best] = true;
    design.rows.push_back(static_cast<Index>(best));
    updates.apply(z.row(static_cast<Index>(best)));
    std::ranges::copy(updates.u(), u.begin());
    std::ranges::copy(updates.w(), w.begin());
    // Afresh from the vectors: what was subtracted step by step has lost some digits.
    double s = c, beta = 0;
    for (std::size_t j = 0; j < size; ++j) {
      s += double{z(static_cast<Index>(best), static_cast<Index>(j))} * updates.u()[j];
      beta += double{z(static_cast<Index>(best), static_cast<Index>(j))} * updates.w()[j];
    }
    design.gains.push_back(beta / s);
    parallel_for(z.rows, kPiece, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto [p, r] = two_dots(z.row(i).data(), u.data(), w.data(), size);
        const auto at = static_cast<std::size_t>(i);
        a[at] -= p * p / s;
        b[at] += (beta * p / s - 2 * r) * p / s;
      }
    });
    updates.keep(s, beta);
  }
  return design;
}

Design random_design(Index rows, Index budget, rng::Key key) {
  check_budget(rows, budget);
  std::vector<std::pair<double, Index>> order;
  for (Index i = 0; i < rows; ++i)
    order.emplace_back(rng::uniform(key, static_cast<std::uint64_t>(i)), i);
  std::ranges::sort(order);
  Design design;
  for (Index i = 0; i < budget; ++i)
    design.rows.push_back(order[static_cast<std::size_t>(i)].second);
  return design;
}

Design kmeans_design(MatrixView<const float> z, Index budget, rng::Key key,
                     const Progress& progress) {
  check_budget(z.rows, budget);
  const auto size = static_cast<std::size_t>(z.cols);
  std::vector<double> square(static_cast<std::size_t>(z.rows)),
      nearest(square.size(), std::numeric_limits<double>::infinity());
  for (Index i = 0; i < z.rows; ++i)
    square[static_cast<std::size_t>(i)] =
        two_dots(z.row(i).data(), z.row(i).data(), z.row(i).data(), size).first;
  Design design;
  auto next = static_cast<Index>(rng::below(key, 0, static_cast<std::uint64_t>(z.rows)));
  for (Index step = 0; step < budget; ++step) {
    report(progress, "selecting", step, budget);
    design.rows.push_back(next);
    const float* centre = z.row(next).data();
    const double centre_square = square[static_cast<std::size_t>(next)];
    parallel_for(z.rows, kPiece, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double product = two_dots(z.row(i).data(), centre, centre, size).first;
        nearest[at] =
            std::min(nearest[at], std::max(0.0, square[at] + centre_square - 2 * product));
      }
    });
    for (const Index row : design.rows) nearest[static_cast<std::size_t>(row)] = 0;
    double total = 0;
    for (const double d : nearest) total += d;
    double target = total * rng::uniform(key, static_cast<std::uint64_t>(step) + 1);
    // Where all rows left coincide with chosen ones, the first that is not chosen.
    next = -1;
    for (Index i = 0; i < z.rows && (next < 0 || target >= 0); ++i) {
      const double d = nearest[static_cast<std::size_t>(i)];
      const bool is_free =
          d > 0 || (total == 0 && std::ranges::find(design.rows, i) == design.rows.end());
      if (!is_free) continue;
      next = i;
      target -= d;
      if (target < 0 || total == 0) break;
    }
    if (next < 0) break;
  }
  return design;
}

Design select_rows(DesignMethod method, MatrixView<const float> z, Index budget, double lambda,
                   rng::Key key, const Progress& progress) {
  switch (method) {
    case DesignMethod::random:
      return random_design(z.rows, budget, key);
    case DesignMethod::kmeans:
      return kmeans_design(z, budget, key, progress);
    case DesignMethod::greedy:
      break;
  }
  return greedy_design(z, budget, lambda * static_cast<double>(z.rows), progress);
}

Index design_bytes(Index rows, Index features, Index budget) {
  const Index sums = NormalEquations::bytes(features, 1) +
                     NormalEquations::scratch_bytes(Precision::single_, threads());
  return 4 * rows * features + 4 * std::min(rows, kBlock) * features + 8 * features * features +
         std::max(sums, 4 * features * features) + 16 * budget * features + 24 * rows;
}

}  // namespace kerf
