// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/row_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/dot.h"

namespace kerf::detail {
namespace {

constexpr Index kAtOnce = 128;  // rows whose solves run together

/// x := (I - H)^-1 x by elimination; false if a pivot is not above `least`.
bool leave_out(Matrix<double> h, double least, std::span<double> x) {
  const Index size = std::ssize(x);
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) h(i, j) = (i == j ? 1.0 : 0.0) - h(i, j);
  for (Index k = 0; k < size; ++k) {
    if (!(h(k, k) > least)) return false;
    for (Index i = k + 1; i < size; ++i) {
      const double factor = h(i, k) / h(k, k);
      for (Index j = k; j < size; ++j) h(i, j) -= factor * h(k, j);
      x[i] -= factor * x[k];
    }
  }
  for (Index k = size - 1; k >= 0; --k) {
    for (Index j = k + 1; j < size; ++j) x[k] -= h(k, j) * x[j];
    x[k] /= h(k, k);
  }
  return true;
}

}  // namespace

RowSample::RowSample(Index seed, Index copies)
    : seed_(seed),
      key_(rng::Key{static_cast<std::uint64_t>(seed)}.child("judged rows")),
      copies_(copies),
      most_(std::max<Index>(1, kMost / copies) * copies) {}

void RowSample::add(Index first, MatrixView<const float> z, MatrixView<const double> y,
                    WeightsView weights) {
  features_ = z.cols;
  outputs_ = y.cols;
  z_.reserve(std::min(most_, rows() + z.rows) * features_);  // growing bit by bit would leave holes
  for (Index i = 0; i < z.rows; ++i) {
    const Index number = first + i;
    const auto example = static_cast<std::uint64_t>(number / copies_);
    const std::pair key(rng::uniform(key_, example), number);
    const bool full = rows() >= most_;
    if (places_.contains(key) || (full && key > places_.rbegin()->first)) continue;
    Index place = rows();
    if (full) {
      place = places_.rbegin()->second;
      places_.erase(std::prev(places_.end()));
    } else {
      numbers_.resize(place + 1);
      weights_.resize(place + 1);
      z_.resize((place + 1) * features_);
      y_.resize((place + 1) * outputs_);
    }
    places_[key] = place;
    numbers_[place] = number;
    weights_[place] = weights[i];
    std::ranges::copy(z.row(i), z_.begin() + place * features_);
    std::ranges::copy(y.row(i), y_.begin() + place * outputs_);
  }
}

std::vector<Index> RowSample::in_order() const {
  std::vector<Index> order(numbers_.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [&](Index place) { return numbers_[place]; });
  return order;
}

std::size_t RowSample::end_of_example(const std::vector<Index>& order, std::size_t begin) const {
  const Index example = numbers_[order[begin]] / copies_;
  std::size_t end = begin;
  while (end < order.size() && numbers_[order[end]] / copies_ == example) ++end;
  return end;
}

RowSample::Leverages RowSample::leverages(std::span<const NormalEquations* const> sums,
                                          MatrixView<const double> factor) const {
  const std::vector<Index> order = in_order();
  const Origin& origin = sums.front()->origin();
  Leverages all{.h = Matrix<double>(rows(), copies_), .precision = sums.front()->precision()};
  all.targets.assign(outputs_, 0.0);
  for (const auto* part : sums) {
    all.weight += part->weight();
    all.rows += part->rows();
    for (Index t = 0; t < outputs_; ++t)
      all.targets[t] += part->target_sum(t) + part->weight() * origin.targets[t];
  }
  const double n = all.weight;
  std::vector<double> mean(features_, 0.0);
  for (Index j = 0; j < features_; ++j) {
    for (const auto* part : sums) mean[j] += part->feature_sum(j) / n;
    mean[j] += origin.features[j];
  }
  Matrix<double> u;
  all.h.fill(0);
  const Index at_once = std::max(kAtOnce / copies_, Index{1}) * copies_;
  for (Index begin = 0; begin < rows(); begin += at_once) {
    const Index end = std::min(rows(), begin + at_once);
    u.resize(end - begin, features_);
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < features_; ++j) u(i - begin, j) = z()(order[i], j) - mean[j];
    blas::triangular_solve_rows(factor, false, u.view());
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end);) {
      const std::size_t last = end_of_example(order, i);
      for (std::size_t a = i; a < last; ++a)
        for (std::size_t b = i; b < last; ++b)
          all.h(static_cast<Index>(a), static_cast<Index>(b - i)) =
              std::sqrt(weights_[order[a]] * weights_[order[b]]) *
              (1 / n + dot_in_order(u.row(static_cast<Index>(a) - begin),
                                    u.row(static_cast<Index>(b) - begin)));
      i = last;
    }
  }
  return all;
}

std::optional<FitQuality> RowSample::quality(const Leverages& all, const LinearModel& model) const {
  // What is left of a row that the model follows must not be rounding of its leverage.
  const double least = all.precision == Precision::single_ ? 1e-3 : 1e-9;
  const double n = all.weight;
  const std::vector<Index> order = in_order();
  Matrix<double> scores(rows(), outputs_);
  linear_scores(model, z(), scores.view());
  TargetErrors errors{std::vector<double>(outputs_), std::vector<double>(outputs_), all.targets};
  for (double& mean : errors.mean) mean /= n;
  double used = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    end = end_of_example(order, begin);
    const auto size = static_cast<Index>(end - begin);
    Matrix<double> h(size, size);
    double weight = 0;
    for (Index a = 0; a < size; ++a) {
      weight += weights_[order[begin + a]];
      for (Index b = 0; b < size; ++b) h(a, b) = all.h(static_cast<Index>(begin) + a, b);
    }
    if (!(weight > 0 && weight < n)) continue;
    used += weight;
    for (Index t = 0; t < outputs_; ++t) {
      double rest = all.targets[t];  // of the other rows
      std::vector<double> left_out;
      for (std::size_t k = begin; k < end; ++k) {
        const Index i = order[k];
        rest -= weights_[i] * y()(i, t);
        left_out.push_back(std::sqrt(weights_[i]) * (y()(i, t) - scores(i, t)));
      }
      if (!leave_out(h.copy(), least, left_out)) return std::nullopt;
      for (const double value : left_out) errors.fit[t] += value * value;
      for (std::size_t k = begin; k < end; ++k)
        errors.constant[t] +=
            weights_[order[k]] * std::pow(y()(order[k], t) - rest / (n - weight), 2);
    }
  }
  for (auto* sums : {&errors.fit, &errors.constant})
    for (double& sum : *sums) sum /= used;
  return explained(errors, used,
                   rows() < all.rows ? fmt::format("leave-one-out of {} rows", rows())
                                     : std::string("leave-one-out"));
}

void RowSample::save(ArrayWriter& arrays) const {
  arrays.add_numbers("made", {static_cast<double>(seed_), static_cast<double>(copies_)});
  arrays.add("rows", std::span<const Index>(numbers_));
  arrays.add("z", z());
  arrays.add("y", y());
  arrays.add("weights", std::span<const double>(weights_));
}

RowSample RowSample::load(ArrayReader& arrays) {
  const auto made = arrays.vector<double>("made");
  const auto numbers = arrays.vector<Index>("rows");
  const Matrix<float> z = arrays.matrix<float>("z");
  const Matrix<double> y = arrays.matrix<double>("y");
  const auto weights = arrays.vector<double>("weights");
  KERF_REQUIRE(made.size() == 2 && made[0] >= 0 && made[0] < 0x1p54 && made[1] >= 1 &&
                   made[1] <= 1e6 && z.rows() == y.rows() && z.rows() == std::ssize(weights) &&
                   z.rows() == std::ssize(numbers) &&
                   std::ranges::all_of(numbers, [](Index i) { return i >= 0; }) &&
                   std::ranges::all_of(weights, [](double w) { return w >= 0; }),
               data, "the rows kept for the quality of the fit are damaged");
  RowSample sample(static_cast<Index>(made[0]), static_cast<Index>(made[1]));
  for (Index i = 0; i < z.rows(); ++i)
    sample.add(numbers[i], z.view().slice(i, i + 1), y.view().slice(i, i + 1),
               WeightsView(weights).slice(i, i + 1));
  return sample;
}

Index RowSample::bytes(Index rows, Index features, Index outputs) {
  const Index kept = std::min(rows, kMost);
  return kept * (4 * features + 24 * outputs + 64) + 8 * std::min(kept, kAtOnce) * features;
}

}  // namespace kerf::detail
