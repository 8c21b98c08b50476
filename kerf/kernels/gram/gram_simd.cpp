// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/gram_simd.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/kernels/gram/gram_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of x that share a load of a y panel: 4 x 2 sums, 2 panel vectors, broadcasts.
constexpr Index kTileRows = 4;

template <class T>
HWY_INLINE Index distances(T* HWY_RESTRICT dots, Index count, T x_square,
                           const T* HWY_RESTRICT y_square, T near, T far, bool half,
                           std::int32_t* HWY_RESTRICT close) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto x2 = hn::Set(d, x_square), minus_two = hn::Set(d, T{-2}), zero = hn::Zero(d);
  const auto low = hn::Set(d, near), high = hn::Set(d, far);
  const auto factor = hn::Set(d, half ? T{0.5} : T{1});
  Index found = 0, j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto total = hn::Add(x2, hn::LoadU(d, y_square + j));
    const auto distance = hn::MulAdd(minus_two, hn::LoadU(d, dots + j), total);
    // Written so that a NaN (numbers beyond the precision's range) is listed too.
    const auto good = hn::And(hn::Ge(distance, hn::Mul(low, total)), hn::Le(distance, high));
    hn::StoreU(hn::Mul(factor, hn::Max(distance, zero)), d, dots + j);
    if (HWY_UNLIKELY(!hn::AllTrue(d, good))) {
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, good, bits);
      for (Index k = 0; k < lanes; ++k)
        if ((bits[k / 8] >> (k % 8) & 1) == 0) close[found++] = static_cast<std::int32_t>(j + k);
    }
  }
  for (; j < count; ++j) {
    const T total = x_square + y_square[j], distance = total - 2 * dots[j];
    dots[j] = (half ? T{0.5} : T{1}) * (distance > 0 ? distance : 0);
    if (!(distance >= near * total && distance <= far))
      close[found++] = static_cast<std::int32_t>(j);
  }
  return found;
}

double squared_difference(const float* HWY_RESTRICT x, double x_factor, const float* HWY_RESTRICT y,
                          double y_factor, Index count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto fx = hn::Set(d, x_factor), fy = hn::Set(d, y_factor);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  // Both products are rounded before they are subtracted: equal rows give exactly zero.
  const auto square = [&](Index k, auto sum) HWY_ATTR {
    const auto left = hn::Mul(fx, hn::PromoteTo(d, hn::LoadU(half, x + k)));
    const auto right = hn::Mul(fy, hn::PromoteTo(d, hn::LoadU(half, y + k)));
    const auto difference = hn::Sub(left, right);
    return hn::MulAdd(difference, difference, sum);
  };
  Index k = 0;
  for (; k + 2 * lanes <= count; k += 2 * lanes) {
    sum0 = square(k, sum0);
    sum1 = square(k + lanes, sum1);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; k < count; ++k) {
    const double left = x_factor * x[k], right = y_factor * y[k];
    sum += (left - right) * (left - right);
  }
  return sum;
}

double l1_difference(const float* HWY_RESTRICT x, const float* HWY_RESTRICT y, Index count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  Index k = 0;
  for (; k + lanes <= count; k += lanes)
    sums = hn::Add(sums, hn::Abs(hn::Sub(hn::PromoteTo(d, hn::LoadU(half, x + k)),
                                         hn::PromoteTo(d, hn::LoadU(half, y + k)))));
  double sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; k < count; ++k) sum += std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k]));
  return sum;
}

/// tile(i, j) = combine over k of (tile(i, j), x(i, k) - y(j, k)).
template <class T, class Combine>
HWY_INLINE void combine_tile(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, Index depth,
                             T* HWY_RESTRICT tile, Index rows, Index cols, Combine combine) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const Index width = 2 * lanes;
  for (Index j = 0; j < cols; j += width)
    for (Index i = 0; i < rows; i += kTileRows) {
      const T* panel = y + j * depth;
      T* out = tile + i * cols + j;
      hn::Vec<decltype(d)> left[kTileRows], right[kTileRows];
      for (Index r = 0; r < kTileRows; ++r) {
        left[r] = hn::LoadU(d, out + r * cols);
        right[r] = hn::LoadU(d, out + r * cols + lanes);
      }
      for (Index k = 0; k < depth; ++k, panel += width) {
        const auto y0 = hn::LoadU(d, panel), y1 = hn::LoadU(d, panel + lanes);
#pragma GCC unroll 4
        for (Index r = 0; r < kTileRows; ++r) {
          const auto value = hn::Set(d, x[(i + r) * depth + k]);
          left[r] = combine(left[r], hn::Sub(value, y0));
          right[r] = combine(right[r], hn::Sub(value, y1));
        }
      }
      for (Index r = 0; r < kTileRows; ++r) {
        hn::StoreU(left[r], d, out + r * cols);
        hn::StoreU(right[r], d, out + r * cols + lanes);
      }
    }
}

template <class T>
HWY_INLINE void add_l1(const T* x, const T* y, Index depth, T* sums, Index rows, Index cols) {
  combine_tile(x, y, depth, sums, rows, cols, [](auto sum, auto difference) HWY_ATTR {
    return hn::Add(sum, hn::Abs(difference));
  });
}

void multiply_cauchy(const double* x, const double* y, Index depth, double scale, double* products,
                     Index rows, Index cols) {
  const hn::ScalableTag<double> d;
  const auto factor = hn::Set(d, scale), one = hn::Set(d, 1.0);
  combine_tile(x, y, depth, products, rows, cols, [&](auto product, auto difference) HWY_ATTR {
    const auto scaled = hn::Mul(factor, difference);
    return hn::Mul(product, hn::MulAdd(scaled, scaled, one));
  });
}

// HWY_EXPORT takes functions, not templates.
Index distances_f(float* dots, Index count, float x_square, const float* y_square, float near,
                  float far, bool half, std::int32_t* close) {
  return distances(dots, count, x_square, y_square, near, far, half, close);
}
Index distances_d(double* dots, Index count, double x_square, const double* y_square, double near,
                  double far, bool half, std::int32_t* close) {
  return distances(dots, count, x_square, y_square, near, far, half, close);
}
void add_l1_f(const float* x, const float* y, Index depth, float* sums, Index rows, Index cols) {
  add_l1(x, y, depth, sums, rows, cols);
}
void add_l1_d(const double* x, const double* y, Index depth, double* sums, Index rows, Index cols) {
  add_l1(x, y, depth, sums, rows, cols);
}
Index width_f() { return static_cast<Index>(2 * hn::Lanes(hn::ScalableTag<float>())); }
Index width_d() { return static_cast<Index>(2 * hn::Lanes(hn::ScalableTag<double>())); }

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {

HWY_EXPORT(distances_f);
HWY_EXPORT(distances_d);
HWY_EXPORT(squared_difference);
HWY_EXPORT(l1_difference);
HWY_EXPORT(add_l1_f);
HWY_EXPORT(add_l1_d);
HWY_EXPORT(multiply_cauchy);
HWY_EXPORT(width_f);
HWY_EXPORT(width_d);

namespace gram_simd {

template <>
Index distances(float* dots, Index count, float x_square, const float* y_square, float near,
                float far, bool half, std::int32_t* close) {
  return HWY_DYNAMIC_DISPATCH(distances_f)(dots, count, x_square, y_square, near, far, half, close);
}
template <>
Index distances(double* dots, Index count, double x_square, const double* y_square, double near,
                double far, bool half, std::int32_t* close) {
  return HWY_DYNAMIC_DISPATCH(distances_d)(dots, count, x_square, y_square, near, far, half, close);
}
double squared_difference(const float* x, double x_factor, const float* y, double y_factor,
                          Index count) {
  return HWY_DYNAMIC_DISPATCH(squared_difference)(x, x_factor, y, y_factor, count);
}
double l1_difference(const float* x, const float* y, Index count) {
  return HWY_DYNAMIC_DISPATCH(l1_difference)(x, y, count);
}
template <>
Index panel_width<float>() {
  return HWY_DYNAMIC_DISPATCH(width_f)();
}
template <>
Index panel_width<double>() {
  return HWY_DYNAMIC_DISPATCH(width_d)();
}
template <>
void add_l1(const float* x, const float* y, Index depth, float* sums, Index rows, Index cols) {
  HWY_DYNAMIC_DISPATCH(add_l1_f)(x, y, depth, sums, rows, cols);
}
template <>
void add_l1(const double* x, const double* y, Index depth, double* sums, Index rows, Index cols) {
  HWY_DYNAMIC_DISPATCH(add_l1_d)(x, y, depth, sums, rows, cols);
}
void multiply_cauchy(const double* x, const double* y, Index depth, double scale, double* products,
                     Index rows, Index cols) {
  HWY_DYNAMIC_DISPATCH(multiply_cauchy)(x, y, depth, scale, products, rows, cols);
}

}  // namespace gram_simd
}  // namespace kerf::detail
#endif  // HWY_ONCE
