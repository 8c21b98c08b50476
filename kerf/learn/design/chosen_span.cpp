// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/design/chosen_span.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {

void ChosenSpan::project(std::span<double> v, int passes) const {
  std::vector<double> along(count_);
  for (int pass = 0; pass < passes; ++pass) {
    parallel_for(count_, 16, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) along[i] = dot(basis_.row(i).first(v.size()), v);
    });
    parallel_for(std::ssize(v), 256, [&](Index begin, Index end) {
      for (Index i = 0; i < count_; ++i) {
        const double factor = along[i];
        const double* q = basis_.row(i).data();
        for (Index j = begin; j < end; ++j) v[j] -= factor * q[j];
      }
    });
  }
}

void ChosenSpan::project_rows(MatrixView<double> v) const {
  if (count_ == 0) return;
  const MatrixView<const double> q(basis_.data(), count_, length(), basis_.cols());
  Matrix<double> along(v.rows, count_);
  blas::gemm(false, true, 1.0, v, q, 0.0, along.view());
  blas::gemm(false, false, -1.0, along.view(), q, 1.0, v);
}

void ChosenSpan::add(std::span<const double> v) {
  const double scale = 1 / std::sqrt(dot(v, v) + c_);
  const auto q = basis_.row(count_);
  std::ranges::fill(q, 0.0);
  std::ranges::transform(v, q.begin(), [&](double value) { return scale * value; });
  q[features_ + count_] = scale * std::sqrt(c_);
  ++count_;
}

}  // namespace kerf::detail
