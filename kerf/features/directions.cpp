// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/directions.h"

#include <algorithm>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"

namespace kerf {

Matrix<float> orthogonal_directions(Index dim, Index count, rng::Key key) {
  Matrix<float> out(count, dim);
  const blas::ThreadScope one(1);  // LAPACK's bits depend on its threads: groups run in parallel
  parallel_for((count + dim - 1) / dim, 1, [&](Index begin, Index end) {
    for (Index group = begin; group < end; ++group) {
      const Index first = group * dim, rows = std::min(dim, count - first);
      Matrix<double> q(rows, dim);
      rng::fill_normal(key.child(static_cast<std::uint64_t>(group)), 0,
                       std::span(q.data(), static_cast<std::size_t>(rows * dim)));
      blas::orthonormalise_rows(q.view());
      for (Index i = 0; i < rows; ++i)
        std::ranges::transform(q.row(i), out.row(first + i).begin(),
                               [](double v) { return static_cast<float>(v); });
    }
  });
  return out;
}

Projection draw_directions(Directions kind, Index in_dim, double bias, Index count, rng::Key key) {
  const Index dim = direction_dim(in_dim, bias);
  Matrix<float> orthogonal;
  if (kind == Directions::orthogonal) orthogonal = orthogonal_directions(dim, count, key);
  return Projection(in_dim, count, [&](Index j, std::span<float> direction) {
    std::vector<float> whole(static_cast<std::size_t>(dim));
    switch (kind) {
      case Directions::gaussian:
        rng::fill_normal(key, static_cast<std::uint64_t>(j * dim), std::span(whole));
        break;
      case Directions::sphere:
        rng::sphere(key, static_cast<std::uint64_t>(j), whole);
        break;
      case Directions::orthogonal:
        std::ranges::copy(orthogonal.row(j), whole.begin());
        break;
    }
    std::copy_n(whole.begin(), direction.size(), direction.begin());
    return bias == 0 ? 0.0f : static_cast<float>(bias * whole.back());
  });
}

}  // namespace kerf
