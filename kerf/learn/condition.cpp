// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/condition.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/blas.h"
#include "kerf/core/random.h"
#include "kerf/core/require.h"

namespace kerf {
namespace {

constexpr Index kSteps = 16;

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

/// The centred G of all parts.
class CentredGram {
 public:
  explicit CentredGram(std::span<const NormalEquations> parts) : parts_(parts) {
    sum_.assign(static_cast<std::size_t>(parts.front().features()), 0.0);
    for (const auto& part : parts) {
      weight_ += part.weight();
      for (std::size_t j = 0; j < sum_.size(); ++j)
        sum_[j] += part.feature_sum(static_cast<Index>(j));
    }
  }
  double weight() const { return weight_; }

  Vector times(const Vector& v) const {
    Vector out(v.size());
    const double along = dot(sum_, v) / weight_;
    for (std::size_t j = 0; j < v.size(); ++j) out[j] = -sum_[j] * along;
    for (const auto& part : parts_) {
      const Matrix<double> product =
          part.gram_times(MatrixView<const double>(v.data(), std::ssize(v), 1));
      for (std::size_t j = 0; j < v.size(); ++j) out[j] += product(static_cast<Index>(j), 0);
    }
    return out;
  }

 private:
  std::span<const NormalEquations> parts_;
  Vector sum_;
  double weight_ = 0;
};

}  // namespace

double condition_number(std::span<const NormalEquations> parts, double lambda) {
  const CentredGram gram(parts);
  const Index m = parts.front().features(), steps = std::min(kSteps, m);
  std::vector<Vector> basis;
  Matrix<double> tridiagonal(steps, steps);
  tridiagonal.fill(0);
  Vector next(static_cast<std::size_t>(m));
  rng::fill_normal(rng::Key{1}.child("condition"), 0, next);
  Index size = 0;
  for (double norm = std::sqrt(dot(next, next)); size < steps && norm > 0; ++size) {
    for (double& value : next) value /= norm;
    basis.push_back(next);
    next = gram.times(next);
    tridiagonal(size, size) = dot(next, basis.back());
    const double before = std::sqrt(dot(next, next));
    for (int round = 0; round < 2; ++round)
      for (const Vector& q : basis) {
        const double part = dot(next, q);
        for (std::size_t j = 0; j < next.size(); ++j) next[j] -= part * q[j];
      }
    norm = std::sqrt(dot(next, next));
    if (!(norm > 1e-13 * before)) norm = 0;  // the space is all there is
    if (size + 1 < steps) tridiagonal(size, size + 1) = norm;
  }
  if (size == 0) return 1;
  std::vector<double> values(static_cast<std::size_t>(size));
  blas::symmetric_eigen({tridiagonal.data(), size, size, steps}, values);
  const double shift = gram.weight() * lambda;
  return (values.back() + shift) / (std::max(values.front(), 0.0) + shift);
}

double reach_of(Precision precision) { return precision == Precision::single_ ? 1e5 : 1e10; }

std::string condition_warning(std::span<const NormalEquations> parts, double lambda,
                              Precision precision) {
  const double condition = condition_number(parts, lambda);
  if (!(condition > reach_of(precision))) return "";
  return fmt::format(
      "the condition number is about {:.1g} or more: with sums in {} precision, which reach to "
      "{:.0g}, "
      "predictions may be off by more than 1e-4; raise --lambda{}",
      condition, kPrecisionNames[static_cast<int>(precision)], reach_of(precision),
      precision == Precision::single_ ? " or take --precision double" : "");
}

}  // namespace kerf
