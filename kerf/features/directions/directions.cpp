// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/directions/directions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {

Matrix<float> orthogonal_directions(Index dim, Index count, rng::Key key) {
  Matrix<float> out(count, dim);
  parallel_for((count + dim - 1) / dim, 1, [&](Index begin, Index end) {
    for (Index group = begin; group < end; ++group) {
      const Index first = group * dim, rows = std::min(dim, count - first);
      Matrix<double> q(rows, dim);
      rng::fill_normal(key.child(static_cast<std::uint64_t>(group)), 0,
                       std::span(q.data(), rows * dim));
      blas::orthonormalise_rows(q.view());
      for (Index i = 0; i < rows; ++i)
        std::ranges::transform(q.row(i), out.row(first + i).begin(),
                               [](double v) { return static_cast<float>(v); });
    }
  });
  return out;
}

void gibbs_direction(rng::Key key, std::uint64_t index, Index sweeps, std::span<float> out) {
  const rng::Key own = key.child(index);
  const std::size_t dim = out.size();
  std::vector<double> w(dim), draws(dim), choices(dim);
  rng::fill_normal(own, 0, std::span(w));
  for (Index t = 0; t < sweeps; ++t) {
    const rng::Key sweep = own.child(static_cast<std::uint64_t>(t));
    rng::fill_normal(sweep.child("normal"), 0, std::span(draws));
    rng::fill_uniform(sweep.child("choice"), 0, std::span(choices));
    double sum = 0;  // of all squares
    for (const double v : w) sum += v * v;
    for (std::size_t j = 0; j < dim; ++j) {
      const double others = std::max(0.0, sum - w[j] * w[j]);
      double next = draws[j];
      if (choices[j] > others / (1 + others)) {  // the length of three normals, one at hand
        const double b = rng::normal(sweep.child("second"), j);
        const double c = rng::normal(sweep.child("third"), j);
        next = std::copysign(std::sqrt(next * next + b * b + c * c), next);
      }
      w[j] = next;
      sum = others + next * next;
    }
  }
  double square = 0;
  for (const double v : w) square += v * v;
  for (std::size_t j = 0; j < dim; ++j) out[j] = static_cast<float>(w[j] / std::sqrt(square));
}

DirectionSet::DirectionSet(Directions kind, Index in_dim, double bias, Index count, rng::Key key,
                           Index sweeps) {
  if (kind == Directions::structured) {
    structured_ = StructuredProjection(in_dim, bias, count, key);
    return;
  }
  const Index dim = direction_dim(in_dim, bias);
  Matrix<float> orthogonal;
  if (kind == Directions::orthogonal) orthogonal = orthogonal_directions(dim, count, key);
  dense_ = Projection(in_dim, count, [&](Index j, std::span<float> direction) {
    std::vector<float> whole(dim);
    if (kind == Directions::gaussian)
      rng::fill_normal(key, static_cast<std::uint64_t>(j * dim), std::span(whole));
    else if (kind == Directions::orthogonal)
      std::ranges::copy(orthogonal.row(j), whole.begin());
    else if (kind == Directions::gibbs)
      gibbs_direction(key, static_cast<std::uint64_t>(j), sweeps, whole);
    else
      rng::sphere(key, static_cast<std::uint64_t>(j), whole);
    std::copy_n(whole.begin(), direction.size(), direction.begin());
    return bias == 0 ? 0.0f : static_cast<float>(bias * whole.back());
  });
}

void DirectionSet::apply(const RowsView& x, const Projection::Receive& receive) const {
  if (structured_.out_dim() > 0)
    structured_.apply(x, receive);
  else
    dense_.apply(x, receive);
}

double DirectionSet::inverse_variance(Directions kind, Index dim) {
  if (kind == Directions::gaussian) return 1;
  return static_cast<double>(kind == Directions::structured ? hadamard_size(dim) : dim);
}

double DirectionSet::mean_absolute(Directions kind, Index dim) {
  if (kind == Directions::gaussian) return std::sqrt(2 / std::numbers::pi);
  const double n = inverse_variance(kind, dim);
  return std::exp(std::lgamma(n / 2) - std::lgamma((n + 1) / 2)) / std::sqrt(std::numbers::pi);
}

Index DirectionSet::bytes(Directions kind, Index dim, Index count) {
  // Orthogonal directions are made in double, one group per thread, and kept once before packing.
  if (kind == Directions::orthogonal) return 16 * dim * count;
  if (kind == Directions::structured) return 12 * (count + hadamard_size(dim));
  return 4 * dim * count;
}

double DirectionSet::relative_bias(Directions kind, Index sweeps) {
  if (kind != Directions::gibbs) return 0;
  return 0.15 / std::pow(4.0, static_cast<double>(sweeps - 1));
}

}  // namespace kerf::detail
