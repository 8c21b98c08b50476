// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/lanczos.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/dot.h"

namespace kerf::detail {
namespace {

constexpr Index kCheckEvery = 8;
constexpr Index kRowGrain = 64, kColumnGrain = 512;

class Lanczos {
 public:
  Lanczos(Index n, const SymmetricProduct& product) : n_(n), product_(product) {
    next_.resize(n);
    rng::fill_normal(rng::Key{1}.child("lanczos"), 0, next_);
    norm_ = std::sqrt(dot(next_, next_));
  }

  Index steps() const { return static_cast<Index>(diagonal_.size()); }
  /// The space is all that the product reaches from the first vector.
  bool finished() const { return norm_ == 0 || steps() == n_; }

  void step() {
    for (double& value : next_) value /= norm_;
    if (steps() > 0) off_diagonal_.push_back(norm_);
    basis_.push_back(next_);
    product_(basis_.back(), next_);
    diagonal_.push_back(dot(next_, basis_.back()));
    const double before = std::sqrt(dot(next_, next_));
    for (int round = 0; round < 2; ++round)
      for (const auto& q : basis_) {
        const double part = dot(next_, q);
        for (std::size_t j = 0; j < next_.size(); ++j) next_[j] -= part * q[j];
      }
    norm_ = std::sqrt(dot(next_, next_));
    if (!(norm_ > 1e-13 * before)) norm_ = 0;
  }

  /// Ritz values, ascending, and how far A u is from t u for each.
  void ritz(std::vector<double>& values, std::vector<double>& residuals) const {
    const Index k = steps();
    Matrix<double> t(k, k);
    t.fill(0);
    for (Index i = 0; i < k; ++i) {
      t(i, i) = diagonal_[i];
      if (i + 1 < k) t(i, i + 1) = off_diagonal_[i];
    }
    values.resize(k);
    residuals.resize(k);
    blas::symmetric_eigen(t.view(), values);
    for (Index i = 0; i < k; ++i) residuals[i] = finished() ? 0 : norm_ * std::abs(t(i, k - 1));
  }

 private:
  Index n_;
  const SymmetricProduct& product_;
  std::vector<double> next_, diagonal_, off_diagonal_;
  double norm_;
  std::vector<std::vector<double>> basis_;
};

}  // namespace

ExtremeEigenvalues extreme_eigenvalues(Index n, const SymmetricProduct& product, SpectrumEnd end,
                                       const LanczosOptions& options) {
  Lanczos lanczos(n, product);
  std::vector<double> values, residuals;
  ExtremeEigenvalues found;
  for (;;) {
    lanczos.step();
    const bool last = lanczos.finished() || lanczos.steps() >= options.most_steps;
    if (!last && lanczos.steps() % kCheckEvery != 0) continue;
    lanczos.ritz(values, residuals);
    const auto settled = [&](std::size_t i) {
      return residuals[i] <= options.tolerance * std::abs(values[i]);
    };
    const std::size_t top = values.size() - 1;
    const bool upper_is_larger = std::abs(values[top]) >= std::abs(values[0]);
    found = {values[0], values[top], lanczos.steps(), false};
    switch (end) {
      case SpectrumEnd::largest:
        found.converged = settled(top);
        break;
      case SpectrumEnd::both:
        found.converged = settled(0) && settled(top);
        break;
      case SpectrumEnd::largest_modulus:
        found.converged = settled(upper_is_larger ? top : 0);
        break;
    }
    found.converged |= lanczos.finished();
    if (found.converged || last) return found;
  }
}

std::vector<double> leading_eigenvalues(Index n, const SymmetricProduct& product, Index count,
                                        const LanczosOptions& options) {
  Lanczos lanczos(n, product);
  while (!lanczos.finished() && lanczos.steps() < options.most_steps) lanczos.step();
  std::vector<double> values, residuals, out;
  lanczos.ritz(values, residuals);
  for (std::size_t i = values.size(); i-- > 0 && std::ssize(out) < count;) {
    if (residuals[i] > options.tolerance * std::abs(values.back())) break;
    out.push_back(values[i]);
  }
  return out;
}

void symmetric_product(MatrixView<const double> a, std::span<const double> v,
                       std::span<double> out) {
  parallel_for(a.rows, kRowGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) out[i] = dot(a.row(i), v);
  });
}

void upper_product(MatrixView<const double> u, std::span<const double> v, std::span<double> out) {
  parallel_for(u.rows, kRowGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) out[i] = dot(u.row(i).subspan(i), v.subspan(i));
  });
}

void upper_transposed_product(MatrixView<const double> u, std::span<const double> v,
                              std::span<double> out) {
  parallel_for(u.cols, kColumnGrain, [&](Index begin, Index end) {
    std::fill(out.begin() + begin, out.begin() + end, 0.0);
    for (Index i = 0; i < end; ++i) {
      const double factor = v[i];
      const double* row = u.row(i).data();
      for (Index j = std::max(i, begin); j < end; ++j) out[j] += factor * row[j];
    }
  });
}

}  // namespace kerf::detail
