// Divide and conquer for tridiagonal matrices: the card stands on top of blas_eigen.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/blas_tridiagonal.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas_calls.h"

namespace kerf::detail::blas {
namespace {

constexpr Index kTile = 256;     // rows and columns of a product
constexpr Index kLeaf = 32;      // tridiagonals solved as they are
constexpr Index kSubtree = 256;  // tridiagonals solved by one thread
constexpr blasint kOne = 1, kMinusOne = -1;

/// c = a b for column-major matrices (no transposes), tiled over the columns and rows of c.
void multiply(Index rows, Index cols, Index inner, Columns a, Columns b, Columns c) {
  const Index down = (rows + kTile - 1) / kTile, across = (cols + kTile - 1) / kTile;
  parallel_for(down * across, 1, [&](Index tile, Index) {
    const Index i = tile % down * kTile, j = tile / down * kTile;
    const Index height = std::min(kTile, rows - i), width = std::min(kTile, cols - j);
    if (inner == 0) {
      for (Index col = j; col < j + width; ++col) std::fill_n(c.at(i, col), height, 0.0);
      return;
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, narrow(height), narrow(width),
                narrow(inner), 1.0, a.at(i, 0), narrow(a.stride), b.at(0, j), narrow(b.stride), 0.0,
                c.at(i, j), narrow(c.stride));
  });
}

class DivideAndConquer {
 public:
  DivideAndConquer(Tridiagonal& t, Columns q, Index n, const Steps& steps)
      : d_(t.diagonal), e_(t.beside), q_(q), n_(n), order_(n), steps_(steps) {}

  std::vector<Index> run() {
    double scale = 0;  // so that nothing under- or overflows
    for (Index i = 0; i < n_; ++i) scale = std::max({scale, std::abs(d(i)), std::abs(e(i))});
    if (scale == 0) scale = 1;
    for (Index i = 0; i < n_; ++i) d(i) /= scale, e(i) /= scale;
    std::vector<std::pair<Index, Index>> subtrees;
    divide(0, n_, kSubtree, subtrees);
    parallel_for(std::ssize(subtrees), 1, [&](Index k, Index) {
      const auto [begin, end] = subtrees[k];
      std::vector<std::pair<Index, Index>> leaves;
      divide(begin, end, kLeaf, leaves);
      for (const auto& [first, last] : leaves) solve_leaf(first, last);
      conquer(begin, end, kLeaf);
    });
    conquer(0, n_, kSubtree);
    std::vector<Index> sorted;
    for (const blasint position : order_) sorted.push_back(position - 1);
    for (Index i = 0; i < n_; ++i) d(i) *= scale;
    return sorted;
  }

 private:
  double& d(Index i) const { return d_[i]; }
  double& e(Index i) const { return e_[i]; }
  static Index middle(Index begin, Index end) { return begin + (end - begin) / 2; }

  /// Tears the rank-one matrices between pieces of at most `most` out of T.
  void divide(Index begin, Index end, Index most, std::vector<std::pair<Index, Index>>& pieces) {
    if (end - begin <= most) return pieces.emplace_back(begin, end), void();
    const Index cut = middle(begin, end);
    d(cut - 1) -= std::abs(e(cut - 1));
    d(cut) -= std::abs(e(cut - 1));
    divide(begin, cut, most, pieces);
    divide(cut, end, most, pieces);
  }

  void conquer(Index begin, Index end, Index most) {
    if (end - begin <= most) return;
    const Index cut = middle(begin, end);
    conquer(begin, cut, most);
    conquer(cut, end, most);
    merge(begin, cut, end);
    if (most != kSubtree) return;
    const double part = static_cast<double>(end - begin) / static_cast<double>(n_);
    merged_ += 0.75 * part * part * part;  // of n^3 (1 + 1/4 + 1/16 + ...)
    steps_.at(kReduced + (kSolved - kReduced) * merged_);
  }

  void solve_leaf(Index begin, Index end) {
    const blasint n = narrow(end - begin), stride = narrow(q_.stride);
    std::vector<double> work(static_cast<std::size_t>(2 * n) + 2);
    blasint info = 0;
    dsteqr_("I", &n, &d(begin), &e(begin), q_.at(begin, begin), &stride, work.data(), &info);
    check(info);
    for (Index i = begin; i < end; ++i) order_[i] = static_cast<blasint>(i - begin + 1);
  }

  /// Two solved halves and the rank-one matrix between them to one solved problem (dlaed1).
  void merge(Index begin, Index cut, Index end) {
    const Index n = end - begin, upper = cut - begin;
    const blasint size = narrow(n), first = narrow(upper), stride = narrow(q_.stride);
    const auto room = static_cast<std::size_t>(n);
    const Columns q{q_.at(begin, begin), q_.stride};
    blasint* order = &order_[begin];
    std::vector<double> z(room), poles(room), w(room), work(room * room + room);
    std::vector<blasint> index(room), groups(room), places(room),
        types(std::max<std::size_t>(room, 4));
    cblas_dcopy(first, q.at(upper - 1, 0), stride, z.data(), 1);
    cblas_dcopy(size - first, q.at(upper, upper), stride, z.data() + upper, 1);
    double rho = e(cut - 1);
    blasint kept = 0, info = 0;
    dlaed2_(&kept, &size, &first, &d(begin), q.data, &stride, order, &rho, z.data(), poles.data(),
            w.data(), work.data(), index.data(), groups.data(), places.data(), types.data(), &info);
    check(info);
    if (kept == 0) {
      for (blasint i = 0; i < size; ++i) order[i] = i + 1;
      return;
    }
    secular_vectors(kept, rho, poles, w, groups, q, &d(begin));
    // The columns that are kept stand in `work`: those with an upper part, then those with a lower one.
    const Index with_upper = types[0] + types[1], with_lower = types[1] + types[2];
    const Columns uppers{work.data(), upper}, lowers{work.data() + upper * with_upper, n - upper};
    double* s = lowers.data + (n - upper) * with_lower;
    copy(with_lower, kept, {q.at(types[0], 0), q.stride}, {s, std::max<Index>(with_lower, 1)});
    multiply(n - upper, kept, with_lower, lowers, {s, std::max<Index>(with_lower, 1)},
             {q.at(upper, 0), q.stride});
    copy(with_upper, kept, q, {s, std::max<Index>(with_upper, 1)});
    multiply(upper, kept, with_upper, uppers, {s, std::max<Index>(with_upper, 1)}, q);
    const blasint deflated = size - kept;
    dlamrg_(&kept, &deflated, &d(begin), &kOne, &kMinusOne, order);
  }

  /// Eigenvalues (values) and eigenvectors (the first `kept` rows of q's first columns, in the order of
  /// `groups`) of diag(poles) + rho w w^T (dlaed3).
  static void secular_vectors(blasint kept, double rho, const std::vector<double>& poles,
                              const std::vector<double>& w, const std::vector<blasint>& groups,
                              Columns q, double* values) {
    parallel_for(kept, 16, [&](Index from, Index to) {
      for (Index j = from; j < to; ++j) {
        const blasint which = narrow(j + 1);
        blasint info = 0;
        dlaed4_(&kept, &which, poles.data(), w.data(), q.at(0, j), &rho, &values[j], &info);
        check(info);
      }
    });
    if (kept == 1) return;
    const Index k = kept;
    std::vector<double> weights(k);
    if (k == 2) {  // dlaed4 then leaves the vectors themselves
      for (Index j = 0; j < k; ++j) {
        const double both[] = {*q.at(0, j), *q.at(1, j)};
        for (Index i = 0; i < k; ++i) *q.at(i, j) = both[groups[i] - 1];
      }
      return;
    }
    // The w for which the eigenvalues found are exact: its vectors are orthogonal.
    parallel_for(k, 64, [&](Index from, Index to) {
      for (Index i = from; i < to; ++i) weights[i] = *q.at(i, i);
      for (Index j = 0; j < k; ++j)
        for (Index i = from; i < to; ++i)
          if (i != j) weights[i] *= *q.at(i, j) / (poles[i] - poles[j]);
      for (Index i = from; i < to; ++i) {
        double& weight = weights[i];
        weight = std::copysign(std::sqrt(-weight), w[i]);
      }
    });
    parallel_for(k, 64, [&](Index from, Index to) {
      std::vector<double> vector(k);
      for (Index j = from; j < to; ++j) {
        for (Index i = 0; i < k; ++i) vector[i] = weights[i] / *q.at(i, j);
        const double norm = cblas_dnrm2(kept, vector.data(), 1);
        for (Index i = 0; i < k; ++i)
          *q.at(i, j) = vector[groups[static_cast<std::size_t>(i)] - 1] / norm;
      }
    });
  }

  static void copy(Index rows, Index cols, Columns from, Columns to) {
    parallel_for(cols, 64, [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j) std::copy_n(from.at(0, j), rows, to.at(0, j));
    });
  }

  static void check(blasint info) {
    KERF_REQUIRE(info == 0, numeric, "the eigenvalues of a tridiagonal matrix were not found");
  }

  std::vector<double>&d_, &e_;
  Columns q_;
  Index n_;
  std::vector<blasint> order_;  // of each solved piece: its eigenvalues, ascending, from 1
  const Steps& steps_;
  double merged_ = 0;
};

}  // namespace

std::vector<Index> solve_tridiagonal(Tridiagonal& t, Columns q, Index n, const Steps& steps) {
  return DivideAndConquer(t, q, n, steps).run();
}

}  // namespace kerf::detail::blas
