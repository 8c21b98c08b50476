// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/pointwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kerf::detail {
namespace {

TEST(Pointwise, SineAndCosineOfTurnsAreAccurate) {
  std::vector<float> turns;
  for (int i = -5000; i <= 5000; ++i) turns.push_back(static_cast<float>(i) * 7.31e-4f);
  for (const float big : {1e3f, 12345.678f, 1e6f, 8e6f})
    turns.insert(turns.end(), {big, -big, big + 0.25f});
  std::vector<float> c(turns.size()), s(turns.size()), only_c(turns.size());
  sincos_turns(turns, 2.0f, c.data(), s.data());
  cos_turns(turns, 2.0f, only_c.data());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double angle = 2 * M_PI * (turns[i] - std::round(double{turns[i]}));
    EXPECT_NEAR(c[i], 2 * std::cos(angle), 4e-7) << turns[i];
    EXPECT_NEAR(s[i], 2 * std::sin(angle), 4e-7) << turns[i];
    EXPECT_EQ(c[i], only_c[i]);
  }
}

TEST(Pointwise, NothingComesOutThatIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> bad = {inf, -inf, std::nanf(""), 3e38f, -3e38f, 0};
  std::vector<float> a(bad.size()), b(bad.size());
  sincos_turns(bad, 1.0f, a.data(), b.data());
  for (std::size_t i = 0; i < bad.size(); ++i)
    EXPECT_TRUE(std::isfinite(a[i]) && std::isfinite(b[i]));
  relu(bad, 4.0f, a.data());
  step(bad, 4.0f, b.data());
  for (std::size_t i = 0; i < bad.size(); ++i)
    EXPECT_TRUE(std::isfinite(a[i]) && std::isfinite(b[i]));
  EXPECT_EQ(b, (std::vector<float>{4, 0, 0, 4, 0, 0}));
  absolute(bad, 4.0f, 1.0f, a.data());
  sign(bad, 4.0f, b.data());
  for (const float v : a) EXPECT_TRUE(std::isfinite(v));
  EXPECT_EQ(b, (std::vector<float>{4, -4, -4, 4, -4, -4}));
}

TEST(Pointwise, AnElementDoesNotDependOnItsPlace) {
  std::vector<float> x(37);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.37f * static_cast<float>(i) - 5;
  std::vector<float> whole(x.size()), one(1);
  cos_turns(x, 1.0f, whole.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    cos_turns({&x[i], 1}, 1.0f, one.data());
    EXPECT_EQ(one[0], whole[i]);
  }
}

TEST(Pointwise, ActivationsAreWhatTheySay) {
  const std::vector<float> x = {-1, 0, 0.5f, 2};
  std::vector<float> out(4);
  relu(x, 3.0f, out.data());
  EXPECT_EQ(out, (std::vector<float>{0, 0, 1.5f, 6}));
  step(x, 3.0f, out.data());
  EXPECT_EQ(out, (std::vector<float>{0, 0, 3, 3}));
  sign(x, 3.0f, out.data());
  EXPECT_EQ(out, (std::vector<float>{-3, -3, 3, 3}));
  absolute(x, 2.0f, 0.25f, out.data());
  EXPECT_EQ(out, (std::vector<float>{1.5f, -0.5f, 0.5f, 3.5f}));
  EXPECT_EQ(squared_norm(x), 5.25);
}

}  // namespace
}  // namespace kerf::detail
