// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/sketched_gram.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kBlock = 2048;  // rows of the sketch that are summed at a time

}  // namespace

SketchedGram::SketchedGram(Index features, rng::Key key) : features_(features) {
  const Index rows = std::max(kRowsPerFeature * features, kNonzeros);
  rows_.emplace(rows, features, kNonzeros, key);
  ones_.emplace(rows, 1, kNonzeros, key);
}

void SketchedGram::add(Index first, MatrixView<const float> z, WeightsView weights) {
  rows_->add(first, z);
  add_weights(first, z.rows, weights);
}

void SketchedGram::add_kept(const FeatureCache& cache) {
  if (!cache.has_random_access()) return;
  rows_->add_in_any_order(cache.rows(), [&](Index row, float factor, std::span<float> sum) {
    cache.add_row(row, factor, sum);
  });
  add_weights(0, cache.rows(), cache.weights());
}

void SketchedGram::add_weights(Index first, Index rows, WeightsView weights) {
  Matrix<float> roots(rows, 1);
  for (Index i = 0; i < rows; ++i) roots(i, 0) = static_cast<float>(std::sqrt(weights[i]));
  ones_->add(first, MatrixView<const float>(roots.view()));
}

void SketchedGram::finish(std::span<const double> sum, double n, Precision precision) {
  const Origin none{std::vector<float>(features_, 0.0f), {}};
  gram_.emplace(none, precision);
  const auto rows = rows_->result(), ones = ones_->result();
  Matrix<float> block;
  for (Index begin = 0; begin < rows.rows; begin += kBlock) {
    const Index end = std::min(begin + kBlock, rows.rows);
    block.resize(end - begin, features_);
    for (Index i = begin; i < end; ++i) {
      const double one = ones(i, 0) / n;
      for (Index j = 0; j < features_; ++j)
        block(i - begin, j) = static_cast<float>(rows(i, j) - one * sum[j]);
    }
    gram_->add(block.view(), MatrixView<const double>(nullptr, block.rows(), 0), {});
  }
  rows_.reset();
  ones_.reset();
}

Matrix<double> SketchedGram::factor(double c) const {
  Matrix<double> r(features_, features_);
  double lift = 1e-8 * mean_diagonal();
  for (int attempt = 0;; ++attempt) {
    r.fill(0);
    for (Index j = 0; j < features_; ++j) r(j, j) = c;
    gram_->add_gram_to(r.view());
    if (blas::cholesky(r.view()) == 0) return r;
    KERF_REQUIRE(attempt < 12, numeric, "the sketched system has no factor at c = {:.3g}", c);
    c += lift;
    lift *= 10;
  }
}

double SketchedGram::mean_diagonal() const {
  double trace = 0;
  for (Index j = 0; j < features_; ++j) trace += gram_->diagonal(j);
  const double mean = trace / static_cast<double>(features_);
  return mean > 0 ? mean : 1;
}

Index SketchedGram::bytes_while_adding(Index rows, Index features) {
  return 4 * kRowsPerFeature * features * (features + 1) + RowOsnap::order_bytes(rows, kNonzeros);
}

Index SketchedGram::bytes(Index features, Index factors) {
  return NormalEquations::bytes(features, 0) + factors * 8 * features * features;
}

}  // namespace kerf::detail
