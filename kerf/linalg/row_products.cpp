// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/row_products.h"

#include <algorithm>
#include <cmath>

#include "kerf/linalg/blas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/linalg/row_products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;

void encode(const float* row, std::size_t count, float inverse, std::int16_t* out) {
  const Tag d;
  const hn::Rebind<std::int32_t, Tag> wide;
  const hn::Rebind<std::int16_t, Tag> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, inverse);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto integers = hn::NearestInt(hn::Mul(hn::LoadU(d, row + j), factor));
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(wide, integers)), narrow, out + j);
  }
  for (; j < count; ++j) out[j] = static_cast<std::int16_t>(std::lrint(row[j] * inverse));
}

void decode(const std::int16_t* in, std::size_t count, float scale, float* out) {
  const Tag d;
  const hn::Rebind<std::int32_t, Tag> wide;
  const hn::Rebind<std::int16_t, Tag> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, scale);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto integers = hn::PromoteTo(wide, hn::LoadU(narrow, in + j));
    hn::StoreU(hn::Mul(hn::ConvertTo(d, integers), factor), d, out + j);
  }
  for (; j < count; ++j) out[j] = scale * static_cast<float>(in[j]);
}

/// out[r] = <z_r, v> for four rows at once: v is read once for all.
void dot4(const float* const z[4], const float* v, std::size_t count, float out[4]) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  auto a0 = hn::Zero(d), a1 = hn::Zero(d), a2 = hn::Zero(d), a3 = hn::Zero(d);
  auto b0 = hn::Zero(d), b1 = hn::Zero(d), b2 = hn::Zero(d), b3 = hn::Zero(d);
  std::size_t j = 0;
  for (; j + 2 * lanes <= count; j += 2 * lanes) {
    const auto v0 = hn::LoadU(d, v + j), v1 = hn::LoadU(d, v + j + lanes);
    a0 = hn::MulAdd(hn::LoadU(d, z[0] + j), v0, a0);
    a1 = hn::MulAdd(hn::LoadU(d, z[1] + j), v0, a1);
    a2 = hn::MulAdd(hn::LoadU(d, z[2] + j), v0, a2);
    a3 = hn::MulAdd(hn::LoadU(d, z[3] + j), v0, a3);
    b0 = hn::MulAdd(hn::LoadU(d, z[0] + j + lanes), v1, b0);
    b1 = hn::MulAdd(hn::LoadU(d, z[1] + j + lanes), v1, b1);
    b2 = hn::MulAdd(hn::LoadU(d, z[2] + j + lanes), v1, b2);
    b3 = hn::MulAdd(hn::LoadU(d, z[3] + j + lanes), v1, b3);
  }
  out[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(a0, b0)));
  out[1] = hn::GetLane(hn::SumOfLanes(d, hn::Add(a1, b1)));
  out[2] = hn::GetLane(hn::SumOfLanes(d, hn::Add(a2, b2)));
  out[3] = hn::GetLane(hn::SumOfLanes(d, hn::Add(a3, b3)));
  for (; j < count; ++j)
    for (int r = 0; r < 4; ++r) out[r] += z[r][j] * v[j];
}

/// g += sum of p[r] z_r over four rows.
void axpy4(const float* const z[4], const float p[4], std::size_t count, float* g) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto p0 = hn::Set(d, p[0]), p1 = hn::Set(d, p[1]), p2 = hn::Set(d, p[2]),
             p3 = hn::Set(d, p[3]);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    auto sum = hn::MulAdd(hn::LoadU(d, z[0] + j), p0, hn::LoadU(d, g + j));
    sum = hn::MulAdd(hn::LoadU(d, z[1] + j), p1, sum);
    sum = hn::MulAdd(hn::LoadU(d, z[2] + j), p2, sum);
    sum = hn::MulAdd(hn::LoadU(d, z[3] + j), p3, sum);
    hn::StoreU(sum, d, g + j);
  }
  for (; j < count; ++j)
    for (int r = 0; r < 4; ++r) g[j] += p[r] * z[r][j];
}

void dots(const float* z, const double* u, const double* w, std::size_t count, double out[2]) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, hn::ScalableTag<double>> narrow;
  const std::size_t lanes = hn::Lanes(d);
  auto a0 = hn::Zero(d), a1 = hn::Zero(d), b0 = hn::Zero(d), b1 = hn::Zero(d);
  std::size_t j = 0;
  for (; j + 2 * lanes <= count; j += 2 * lanes) {
    const auto x0 = hn::PromoteTo(d, hn::LoadU(narrow, z + j));
    const auto x1 = hn::PromoteTo(d, hn::LoadU(narrow, z + j + lanes));
    a0 = hn::MulAdd(x0, hn::LoadU(d, u + j), a0);
    a1 = hn::MulAdd(x1, hn::LoadU(d, u + j + lanes), a1);
    b0 = hn::MulAdd(x0, hn::LoadU(d, w + j), b0);
    b1 = hn::MulAdd(x1, hn::LoadU(d, w + j + lanes), b1);
  }
  out[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(a0, a1)));
  out[1] = hn::GetLane(hn::SumOfLanes(d, hn::Add(b0, b1)));
  for (; j < count; ++j) {
    out[0] += double{z[j]} * u[j];
    out[1] += double{z[j]} * w[j];
  }
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {
namespace {

HWY_EXPORT(encode);
HWY_EXPORT(decode);
HWY_EXPORT(dot4);
HWY_EXPORT(axpy4);
HWY_EXPORT(dots);

/// From this many vectors on a matrix product is quicker than one vector at a time.
constexpr Index kProductVectors = 4;

}  // namespace

float encode16(std::span<const float> row, std::int16_t* out) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  const float scale = largest / 32767;
  if (!(scale >= 1e-37f)) {  // zeros, or so small that 1/scale would overflow
    std::fill_n(out, row.size(), std::int16_t{0});
    return 0;
  }
  HWY_DYNAMIC_DISPATCH(encode)(row.data(), row.size(), 1 / scale, out);
  return scale;
}

void decode16(const std::int16_t* in, float scale, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(decode)(in, out.size(), scale, out.data());
}

void rows_times(MatrixView<const float> z, MatrixView<const float> v, MatrixView<float> out) {
  if (v.rows >= kProductVectors) return blas::gemm(false, true, 1.0f, z, v, 0.0f, out);
  const auto count = static_cast<std::size_t>(z.cols);
  for (Index i = 0; i < z.rows; i += 4) {
    const Index rows = std::min<Index>(4, z.rows - i);
    const float* at[4];
    for (Index r = 0; r < 4; ++r) at[r] = z.row(i + std::min(r, rows - 1)).data();
    for (Index k = 0; k < v.rows; ++k) {
      float dots[4];
      HWY_DYNAMIC_DISPATCH(dot4)(at, v.row(k).data(), count, dots);
      for (Index r = 0; r < rows; ++r) out(i + r, k) = dots[r];
    }
  }
}

void times_rows(MatrixView<const float> p, MatrixView<const float> z, MatrixView<float> g) {
  if (p.cols >= kProductVectors) return blas::gemm(true, false, 1.0f, p, z, 0.0f, g);
  const auto count = static_cast<std::size_t>(z.cols);
  for (Index k = 0; k < p.cols; ++k) std::ranges::fill(g.row(k), 0.0f);
  for (Index i = 0; i < z.rows; i += 4) {
    const Index rows = std::min<Index>(4, z.rows - i);
    const float* at[4];
    for (Index r = 0; r < 4; ++r) at[r] = z.row(i + std::min(r, rows - 1)).data();
    for (Index k = 0; k < p.cols; ++k) {
      float factors[4] = {};
      for (Index r = 0; r < rows; ++r) factors[r] = p(i + r, k);
      HWY_DYNAMIC_DISPATCH(axpy4)(at, factors, count, g.row(k).data());
    }
  }
}

std::pair<double, double> two_dots(std::span<const float> z, std::span<const double> u,
                                   std::span<const double> w) {
  double out[2];
  HWY_DYNAMIC_DISPATCH(dots)(z.data(), u.data(), w.data(), z.size(), out);
  return {out[0], out[1]};
}

}  // namespace kerf::detail
#endif  // HWY_ONCE
