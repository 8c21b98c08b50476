// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/fourier/qmc_features.h"

#include <algorithm>
#include <bit>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

using Sobol = boost::random::sobol_engine<std::uint32_t, 32>;
constexpr Index kLeastGroup = 3, kLargestGroup = 10;
constexpr double kTurn = 1 / (2 * std::numbers::pi);

/// The random triangular matrix and shift of one coordinate.
class DigitScramble {
 public:
  DigitScramble(rng::Key key, Index dim) {
    const rng::Key own = key.child(static_cast<std::uint64_t>(dim));
    for (int b = 0; b < 32; ++b) {
      const std::uint32_t random = rng::bits(own, static_cast<std::uint64_t>(b / 4))[b % 4];
      const std::uint32_t digit = std::uint32_t{1} << (31 - b);  // digit b counts from the top
      const std::uint32_t above = b == 0 ? 0 : ~std::uint32_t{0} << (32 - b);
      masks_[b] = (random & above) | digit;
    }
    shift_ = rng::bits(own, 8)[0];
  }

  std::uint32_t operator()(std::uint32_t digits) const {
    std::uint32_t out = 0;
    for (const std::uint32_t mask : masks_)
      out = (out << 1) | (static_cast<std::uint32_t>(std::popcount(digits & mask)) & 1U);
    return out ^ shift_;
  }

 private:
  std::uint32_t masks_[32], shift_;
};

double unit(std::uint32_t digits) { return (digits + 0.5) * 0x1p-32; }

double normal_quantile(double u) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * u); }

double quantile(ShiftInvariant kernel, double u) {
  switch (kernel) {
    case ShiftInvariant::gaussian:
    case ShiftInvariant::laplacian_l2:
    case ShiftInvariant::matern32:
    case ShiftInvariant::matern52:
      return normal_quantile(u);
    case ShiftInvariant::laplacian:
      return std::tan(std::numbers::pi * (u - 0.5));
    case ShiftInvariant::cauchy:
      return u < 0.5 ? std::log(2 * u) : -std::log(2 * (1 - u));
  }
  return 0;
}

/// Dimensions of the sequence: Student's t takes one for the common length, the first.
Index sequence_dim(ShiftInvariant kernel, Index in_dim) {
  return student_degrees(kernel) > 0 ? in_dim + 1 : in_dim;
}

/// The quantile of chi / sqrt(degrees), which a frequency of Student's t is divided by.
double length_quantile(Index degrees, double u) {
  if (degrees == 1) return -normal_quantile(u / 2);
  const double half = 0.5 * static_cast<double>(degrees);
  return std::sqrt(boost::math::gamma_p_inv(half, u) / half);
}

/// The order in which group g takes the points of its sequence: the first group's is the sequence's.
std::vector<Index> group_order(Index g, Index count, rng::Key key) {
  std::vector<Index> order(count);
  std::iota(order.begin(), order.end(), Index{0});
  const rng::Key own = key.child("order").child(static_cast<std::uint64_t>(g));
  for (std::uint64_t i = 0; g > 0 && i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + rng::below(own, i, order.size() - i)]);
  return order;
}

}  // namespace

Index sobol_group(Index count) {
  const auto log2 = static_cast<Index>(std::bit_width(static_cast<std::uint64_t>(count))) - 1;
  return std::clamp(log2, kLeastGroup, kLargestGroup);
}

Matrix<std::uint32_t> scrambled_sobol(Index dim, Index count, rng::Key key) {
  const Index group = std::min(dim, sobol_group(count));
  Matrix<std::uint32_t> net(count, group), points(count, dim);
  Sobol sobol(group);
  for (Index j = 0; j < count; ++j)
    for (std::uint32_t& digits : net.row(j)) digits = j == 0 ? 0 : sobol();
  parallel_for((dim + group - 1) / group, 1, [&](Index begin, Index end) {
    for (Index g = begin; g < end; ++g) {
      const std::vector<Index> order = group_order(g, count, key);
      for (Index k = g * group; k < std::min(dim, (g + 1) * group); ++k) {
        const DigitScramble scramble(key, k);
        for (Index j = 0; j < count; ++j) points(j, k) = scramble(net(order[j], k - g * group));
      }
    }
  });
  return points;
}

QmcFeatures::QmcFeatures(Index in_dim, const Options& options, rng::Key key)
    : FourierMap(in_dim, options, key) {
  const Index count = frequency_count(options, kOwner);
  const Index dim = sequence_dim(options.kernel, in_dim);
  const Matrix<std::uint32_t> points = scrambled_sobol(dim, count, key.child("sobol"));
  turns_ = Projection(in_dim, count, [&](Index j, std::span<float> frequency) {
    const auto point = points.row(j);
    double scale = kTurn / *options.bandwidth;
    if (dim > in_dim) scale /= length_quantile(student_degrees(options.kernel), unit(point[0]));
    const auto coordinates = point.subspan(dim - in_dim);
    for (std::size_t k = 0; k < frequency.size(); ++k)
      frequency[k] = static_cast<float>(scale * quantile(options.kernel, unit(coordinates[k])));
    return 0.0f;
  });
}

Index QmcFeatures::bytes(Index in_dim, const Options& options) {
  const Index count = options.features / (options.form == Options::Form::pairs ? 2 : 1);
  return 8 * (in_dim + 1) * count;
}

void QmcFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  turns_.apply(x, [&](Index i, Index first, std::span<float> turns) {
    form_.write(first, turns, out.row(i));
  });
}

}  // namespace kerf::detail
