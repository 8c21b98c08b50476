// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/random/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kerf/core/random/random_simd.h"

namespace kerf::detail::rng {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::uint64_t low_half(const Words& w) { return w[0] | std::uint64_t{w[1]} << 32; }
std::uint64_t high_half(const Words& w) { return w[2] | std::uint64_t{w[3]} << 32; }

/// The middles of 2^52 equal cells of (0, 1): every one is exact, and none is 0 or 1.
double to_unit(std::uint64_t word) {
  const auto one_to_two = std::bit_cast<double>((word >> 12) | 0x3FF0000000000000u);
  return one_to_two - (1 - 0x1p-53);
}

/// Natural logarithm of a normal positive number, by log m = 2 artanh((m-1)/(m+1)), relative error
/// below 1e-15.  Our own because libm's differs in the last bit between CPUs (FMA variants).
double portable_log(double x) {
  const auto word = std::bit_cast<std::uint64_t>(x);
  // m in [sqrt(1/2), sqrt 2): adding the distance from sqrt(1/2) to 1 carries into the exponent.
  const std::uint64_t shifted = word + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);
  const auto exponent = static_cast<double>(static_cast<std::int64_t>(shifted >> 52) - 1023);
  const auto m = std::bit_cast<double>((shifted & 0x000FFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu);
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double series = 0;
#pragma GCC unroll 11
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * z;
  return exponent * kLn2High + (2 * s + (2 * s * series + exponent * kLn2Low));
}

struct SinCos {
  double sin, cos;
};

/// sin and cos of 2 pi turns, turns in [0, 1]: an exact reduction to an eighth of a turn, then
/// Taylor.
SinCos portable_sincos(double turns) {
  const int quadrant = static_cast<int>(4 * turns + 0.5);
  const double x = kTwoPi * (turns - 0.25 * quadrant);
  const double z = x * x;
  double sin_series = 0, cos_series = 0;
#pragma GCC unroll 8
  for (int k = 7; k >= 0; --k) {
    cos_series = (cos_series + kCosine[k]) * z;
    sin_series = (sin_series + kSine[k]) * z;
  }
  const double sine = x + x * sin_series, cosine = 1 + cos_series;
  // Without branches: the quadrant is random, a jump on it would be mispredicted.
  const bool swap = (quadrant & 1) != 0;
  const double a = swap ? cosine : sine, b = swap ? sine : cosine;
  return {(quadrant & 2) != 0 ? -a : a, ((quadrant + 1) & 2) != 0 ? -b : b};
}

/// Two independent normals from 128 bits (Box-Muller).
std::array<double, 2> normal_pair(const Words& words) {
  const double radius = std::sqrt(-2 * portable_log(to_unit(low_half(words))));
  const auto [sine, cosine] = portable_sincos(to_unit(high_half(words)));
  return {radius * cosine, radius * sine};
}

template <class T>
void fill_normals(Key key, std::uint64_t first, std::span<T> out) {
  const std::size_t n = out.size();
  std::size_t i = 0;
  if (n > 0 && first % 2 == 1) out[i++] = static_cast<T>(normal(key, first));
  const std::size_t pairs = (n - i) / 2;
  fill_normal_pairs(key, (first + i) / 2, out.subspan(i, 2 * pairs));
  i += 2 * pairs;
  if (i < n) out[i] = static_cast<T>(normal(key, first + i));
}

}  // namespace

Words philox(Words counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

Words bits(Key key, std::uint64_t index, std::uint64_t attempt) {
  return philox(
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
       static_cast<std::uint32_t>(attempt), static_cast<std::uint32_t>(attempt >> 32)},
      {static_cast<std::uint32_t>(key.value), static_cast<std::uint32_t>(key.value >> 32)});
}

// Children come from counters whose upper half no draw uses, so they never repeat a draw's bits.
Key Key::child(std::uint64_t label) const {
  return {low_half(bits(*this, label, ~std::uint64_t{0}))};
}

Key Key::child(std::string_view label) const {
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  for (const unsigned char c : label) hash = (hash ^ c) * 0x100000001B3u;
  return {low_half(bits(*this, hash, ~std::uint64_t{1}))};
}

double uniform(Key key, std::uint64_t index) { return to_unit(low_half(bits(key, index))); }

double normal(Key key, std::uint64_t index) { return normal_pair(bits(key, index / 2))[index % 2]; }

double sign(Key key, std::uint64_t index) {
  const std::uint32_t word = bits(key, index / 128)[index % 128 / 32];
  return (word >> (index % 32) & 1) != 0 ? 1.0 : -1.0;
}

std::uint64_t below(Key key, std::uint64_t index, std::uint64_t n) {
  // High half of a 64 x 64 bit product: the largest bias is n / 2^64.
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{low_half(bits(key, index))} * n >> 64);
}

double cauchy(Key key, std::uint64_t index) {
  const auto [sine, cosine] = portable_sincos(uniform(key, index) / 2);
  return -cosine / sine;  // tan(pi (u - 1/2))
}

double laplace(Key key, std::uint64_t index) {
  const Words words = bits(key, index);
  const double magnitude = -portable_log(to_unit(low_half(words)));
  return (words[3] & 1) != 0 ? magnitude : -magnitude;
}

double chi(Key key, std::uint64_t index, Index degrees) {
  if (degrees == 1) return std::abs(normal(key, index));
  // Squared, halved: a gamma draw of shape degrees/2 >= 1, by Marsaglia & Tsang's rejection.
  const double d = 0.5 * static_cast<double>(degrees) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (std::uint64_t attempt = 0;; attempt += 2) {
    const double x = normal_pair(bits(key, index, attempt))[0];
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = to_unit(low_half(bits(key, index, attempt + 1)));
    if (portable_log(u) < 0.5 * x * x + d - d * v + d * portable_log(v))
      return std::sqrt(2 * d * v);
  }
}

void fill_normal(Key key, std::uint64_t first, std::span<float> out) {
  fill_normals(key, first, out);
}
void fill_normal(Key key, std::uint64_t first, std::span<double> out) {
  fill_normals(key, first, out);
}

void fill_uniform(Key key, std::uint64_t first, std::span<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = uniform(key, first + i);
}

void fill_sign(Key key, std::uint64_t first, std::span<float> out) {
  std::uint64_t held = ~std::uint64_t{0};
  Words words{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t index = first + i;
    if (index / 128 != held) words = bits(key, held = index / 128);
    out[i] = (words[index % 128 / 32] >> (index % 32) & 1) != 0 ? 1.0f : -1.0f;
  }
}

void sphere(Key key, std::uint64_t index, std::span<float> out) {
  const auto dimension = static_cast<std::uint64_t>(out.size());
  double squares = 0;
  // A vector of zeros has probability zero; the loop is for one coordinate drawn as exactly 0.
  for (Key stream = key; squares == 0; stream = stream.child("again")) {
    fill_normal(stream, index * dimension, out);
    for (const float v : out) squares += double{v} * v;
  }
  const double scale = 1 / std::sqrt(squares);
  std::ranges::transform(out, out.begin(), [=](float v) { return static_cast<float>(v * scale); });
}

}  // namespace kerf::detail::rng
