// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/html.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf::detail::html {
namespace {

Index count(const std::string& text, const std::string& what) {
  Index found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

TEST(Html, AnErrorOfZeroIsOnTheChart) {
  const Series errors{"rff", {{16, 0.1}, {32, 0}, {64, 0, true}}};
  const std::string page = chart("error", {"features", true}, {"error", true}, {errors});
  EXPECT_EQ(count(page, "<circle"), 3);
  EXPECT_EQ(count(page, "nan"), 0);
  EXPECT_EQ(count(page, "inf"), 0);
  // A bar that reaches down to zero.
  const Series seeds{"rff", {{16, 0.1, false, 0, 0.2}, {32, 0.05, false, 0.01, 0.1}}};
  EXPECT_EQ(
      count(chart("error", {"features", true}, {"error", true}, {seeds}), "stroke-width=\"3\""), 2);
}

TEST(Html, WhatIsNotFiniteIsLeftOut) {
  const Series errors{"", {{16, INFINITY}, {32, 1}, {64, NAN}}};
  EXPECT_EQ(count(chart("c", {"x"}, {"y"}, {errors}), "<circle"), 1);
  EXPECT_EQ(chart("c", {"x"}, {"y"}, {{"", {{1, INFINITY}}}}), "");
}

TEST(Html, AChartOfNearlyOneValueHasTicks) {
  const double ulp = std::nextafter(1e6, 2e6) - 1e6;
  for (const double middle : {1e6, -1e6, 1e300, 1e-300, 0.0})
    for (const double range : {0.0, 1.0, 3.0, 20.0, 1e4}) {
      const double high = middle + range * ulp * (middle == 0 ? 1 : std::abs(middle) / 1e6);
      for (const bool log : {false, true}) {
        if (log && middle <= 0) continue;
        const Series line{"", {{middle, middle}, {high, high}}};
        const std::string page = chart("c", {"x", log}, {"y", log}, {line}, true);
        EXPECT_GE(count(page, "<text"), 4) << middle << " " << range;  // labels, and ticks
        EXPECT_LE(count(page, "<text"), 40) << middle << " " << range;
        EXPECT_EQ(count(page, "nan"), 0) << middle << " " << range;
      }
    }
}

TEST(Html, TheLineOfTheoryIsACurveOnAnyAxis) {
  const auto line = inverse_root_line({{16, 0.4}, {256, 0.1}});
  for (const Point& p : line.points) EXPECT_NEAR(p.y * std::sqrt(p.x), 1.6, 1e-12);
  EXPECT_GT(line.points.size(), 10u);
  // It is no measurement: not among the numbers.
  EXPECT_EQ(
      count(chart("c", {"x", true}, {"y", true}, {{"a", {{16, 0.4}, {256, 0.1}}}, line}), "<td"),
      6);
}

TEST(Html, SaysInWordsWhatColourSays) {
  const std::string marked = table({"map", "error"}, {{"a", "1"}, {"b", "2"}}, 1);
  EXPECT_NE(marked.find("<td>b (chosen)</td>"), std::string::npos) << marked;
  const std::string seconds = bars("Seconds", {{"reading", 0.5}, {"solving", 2}});
  EXPECT_NE(seconds.find("Seconds: reading 0.5, solving 2"), std::string::npos) << seconds;
}

TEST(Html, EscapesWhatUsersWrote) {
  EXPECT_EQ(count(table({"<b>"}, {{"<script>\"&"}}), "<script>"), 0);
  EXPECT_NE(section("<i>", "x").find("&lt;i&gt;"), std::string::npos);
}

}  // namespace
}  // namespace kerf::detail::html
