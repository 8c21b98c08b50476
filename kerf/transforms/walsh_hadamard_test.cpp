// SPDX-License-Identifier: Apache-2.0
#include "kerf/transforms/walsh_hadamard.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

template <class T>
std::vector<T> gaussian(Index n, std::uint64_t seed) {
  std::vector<T> x(n);
  rng::fill_normal(rng::Key{seed}, 0, std::span<T>(x));
  return x;
}

std::vector<float> signs(Index n, std::uint64_t seed) {
  std::vector<float> s(n);
  rng::fill_sign(rng::Key{seed}, 0, s);
  return s;
}

// The definition, entry by entry, in integers: no rounding anywhere.
TEST(WalshHadamardReference, IsTheMatrixOfItsDefinition) {
  for (Index n = 1; n <= 64; n *= 2)
    for (Index j = 0; j < n; ++j) {
      std::vector<float> x(n);
      x[j] = 1;
      walsh_hadamard_reference(std::span(x));
      for (Index i = 0; i < n; ++i)
        EXPECT_EQ(x[i], std::popcount(static_cast<std::uint64_t>(i & j)) % 2 == 0 ? 1.0f : -1.0f);
    }
}

template <class T>
void expect_the_bits_of_the_reference(Index n) {
  auto expected = gaussian<T>(n, 1);
  auto x = expected;
  walsh_hadamard_reference(std::span<T>(expected));
  walsh_hadamard(MatrixView<T>(x.data(), 1, n));
  EXPECT_EQ(x, expected) << "length " << n;
}

TEST(WalshHadamard, HasTheBitsOfTheReferenceAtEveryLength) {
  for (Index n = 1; n <= Index{1} << 18; n *= 2) {
    expect_the_bits_of_the_reference<float>(n);
    expect_the_bits_of_the_reference<double>(n);
  }
}

TEST(WalshHadamard, SlowHasTheBitsOfTheReferenceOnTheLongestRow) {
  expect_the_bits_of_the_reference<float>(kMaxHadamard);
}

TEST(WalshHadamard, TreatsEachRowAloneAtAnyThreadCount) {
  const Index rows = 301, n = 512, stride = 520;
  const auto x = gaussian<float>(rows * stride, 2);
  auto one = x, two = x;
  const int before = threads();
  set_threads(1);
  for (Index i = 0; i < rows; ++i) walsh_hadamard({one.data() + i * stride, 1, n, stride});
  set_threads(3);
  walsh_hadamard({two.data(), rows, n, stride});
  set_threads(before);
  EXPECT_EQ(one, two);  // the 8 columns behind each row too: nobody touched them
}

TEST(WalshHadamardColumns, HasTheBitsOfTheReferenceDownEveryColumn) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 8}, {2, 8}, {64, 8}, {256, 64}, {4096, 16}, {2, 16384}}) {
    auto x = gaussian<float>(rows * cols, 7);
    auto expected = x;
    for (Index j = 0; j < cols; ++j) {
      std::vector<float> column;
      for (Index i = 0; i < rows; ++i) column.push_back(x[i * cols + j]);
      walsh_hadamard_reference(std::span(column));
      for (Index i = 0; i < rows; ++i) expected[i * cols + j] = column[i];
    }
    walsh_hadamard_columns({x.data(), rows, cols});
    EXPECT_EQ(x, expected) << rows << " x " << cols;
  }
  std::vector<float> x(36);
  EXPECT_THROW(walsh_hadamard_columns({x.data(), 3, 8}), Error);
  EXPECT_THROW(walsh_hadamard_columns({x.data(), 2, 12}), Error);
  EXPECT_THROW(walsh_hadamard_columns({x.data(), 2, 4}), Error);
  EXPECT_THROW(walsh_hadamard_columns({x.data(), 2, 8, 16}), Error);
}

TEST(SignedWalshHadamard, PadsFlipsAndTransformsInOneGo) {
  for (const Index n : {1, 2, 4, 8, 16, 32, 64, 128, 1024, 4096, 32768})
    for (const Index size : {n, n / 2 + 1, n * 3 / 4, n - 1, Index{0}}) {
      if (size > n) continue;
      const auto x = gaussian<float>(size, 3), s = signs(n, 4);
      std::vector<float> expected(n), out(expected.size(), 7.0f);
      for (std::size_t i = 0; i < x.size(); ++i) expected[i] = x[i] * s[i];
      walsh_hadamard_reference(std::span(expected));
      signed_walsh_hadamard(x, s, out);
      EXPECT_EQ(out, expected) << size << " of " << n;

      std::fill(out.begin(), out.end(), 0.0f);
      std::copy(x.begin(), x.end(), out.begin());
      signed_walsh_hadamard(out, s, out);
      EXPECT_EQ(out, expected) << "in place, " << size << " of " << n;
    }
}

std::vector<std::uint8_t> flips_of(std::span<const float> signs) {
  std::vector<std::uint8_t> flips;
  for (const float sign : signs) flips.push_back(sign < 0 ? 128 : 0);
  return flips;
}

TEST(FlippedWalshHadamard, ScalesFlipsAndMultipliesTwoRowsOnTheWayIn) {
  for (const Index n : {1, 4, 8, 64, 2048, 16384})
    for (const bool product : {false, true}) {
      const Index size = n - n / 5;
      const auto a = gaussian<float>(size, 5), s = signs(n, 7);
      const auto b = gaussian<float>(product ? size : 0, 6);
      const auto flips = flips_of(s);
      std::vector<float> expected(n), out(expected.size());
      for (std::size_t i = 0; i < a.size(); ++i)
        expected[i] = (product ? a[i] * b[i] : a[i]) * 0.3f * s[i];
      walsh_hadamard_reference(std::span(expected));
      flipped_walsh_hadamard(a, b, {flips, 0.3f}, out);
      EXPECT_EQ(out, expected) << n << product;
    }
}

TEST(WalshHadamard, RefusesLengthsThatAreNoPowerOfTwo) {
  std::vector<float> x(24);
  EXPECT_THROW(walsh_hadamard(MatrixView<float>(x.data(), 1, 24)), Error);
  EXPECT_THROW(walsh_hadamard(MatrixView<float>(x.data(), 1, 0)), Error);
  EXPECT_THROW(hadamard_size(0), Error);
  EXPECT_THROW(hadamard_size(kMaxHadamard + 1), Error);
  EXPECT_EQ(hadamard_size(1), 1);
  EXPECT_EQ(hadamard_size(784), 1024);
  EXPECT_EQ(hadamard_size(kMaxHadamard), kMaxHadamard);
}

}  // namespace
}  // namespace kerf::detail
