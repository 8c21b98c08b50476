// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/progress.h"

#include <gtest/gtest.h>

#include <thread>

#include "kerf/core/progress_view.h"
#include "kerf/core/system/stopwatch.h"

namespace kerf::detail {
namespace {

TEST(SecondsLeft, BeginsWithWhatIsExpectedAndEndsWithThePace) {
  const ExpectedStep step{"features", 10};
  EXPECT_DOUBLE_EQ(seconds_left(step, {"features", 0, 100}, 0), 10);
  EXPECT_DOUBLE_EQ(seconds_left(step, {"features", 50, 100}, 20), 20);  // half of it took 20
  EXPECT_GT(seconds_left(step, {"features", 10, 100}, 2), 10);          // slower than expected
  EXPECT_DOUBLE_EQ(seconds_left(step, {"another", 50, 100}, 4), 6);     // says nothing of the step
  EXPECT_GT(seconds_left(step, {"another"}, 100), 0);                   // late, but not at its end
  EXPECT_LT(seconds_left({"features"}, {"another"}, 5), 0);             // nothing is known
  EXPECT_DOUBLE_EQ(seconds_left({"features"}, {"features", 1, 4}, 5), 15);
}

TEST(SecondsLeft, CountsTheStepsToCome) {
  std::vector<double> told;
  const Progress progress =
      expecting([&](const ProgressEvent& event) { told.push_back(event.seconds_left); },
                {{"features", 10}, {"", 5}}, 2);
  report(progress, "features", 0, 100);
  report(progress, "features", 100, 100);
  report(progress, "solving", 0, 0);
  ASSERT_EQ(told.size(), 3);
  EXPECT_NEAR(told[0], 17, 0.1);
  EXPECT_NEAR(told[1], 7, 0.1);
  EXPECT_NEAR(told[2], 7, 0.1);
  EXPECT_FALSE(expecting({}, {{"features", 10}}));
}

TEST(Progress, OfFitsInsideOtherWorkIsThatOfTheWork) {
  std::string told;
  const Progress progress = counting(
      [&](const ProgressEvent& event) {
        told = std::string(event.stage) + " " + std::to_string(event.done) + " " +
               std::string(event.unit);
      },
      "comparing", 3, 9, "fits");
  report(progress, "features", 17, 100);
  EXPECT_EQ(told, "comparing 3 fits");
}

TEST(ProgressView, SaysWhatIsCounted) {
  ProgressView view;
  EXPECT_EQ(view.show({"choosing lambda", 5, 0, "lambdas"}, 1).what, "choosing lambda, 5 lambdas");
  EXPECT_EQ(view.show({"features", 1000, 90000}, 1).what, "features, 1,000 of 90,000 rows");
  EXPECT_EQ(view.show({"factoring", 5, 20, ""}, 1).what, "factoring, 25 %");
  EXPECT_EQ(view.show({"solving", 0, 0, ""}, 1).what, "solving");
  EXPECT_EQ(line_of(view.show({"solving", 0, 0, "", 71}, 20)), "0:20 solving, about 1:11 left");
  EXPECT_EQ(line_of(view.show({"reading", 7, 0}, 3)), "0:03 reading, 7 rows");
}

// A wild estimate neither turns the bar back nor makes the time left jump.
TEST(ProgressView, NeverGoesBack) {
  ProgressView view;
  double part = 0, left = 10;
  for (int k = 0; k <= 100; ++k) {
    const double now = 10 + 0.1 * k;
    const auto shown = view.show({"x", 0, 0, "", k % 2 == 0 ? 10.0 - 0.1 * k : 40.0}, now);
    EXPECT_GE(shown.part, part);
    EXPECT_LT(std::abs(shown.left - left), 2.5) << k;
    part = shown.part;
    left = shown.left;
  }
  EXPECT_LT(part, 1);
}

TEST(ProgressView, WritesALineEveryTenSecondsAndWhereStagesBegin) {
  ProgressView view;
  EXPECT_TRUE(view.wants_line({"reading"}, 0));
  EXPECT_FALSE(view.wants_line({"features"}, 0.5));  // too soon
  EXPECT_TRUE(view.wants_line({"features"}, 1.5));
  int lines = 0;
  for (int k = 0; k < 300; ++k) lines += view.wants_line({"features"}, 1.6 + 0.1 * k) ? 1 : 0;
  EXPECT_GE(lines, 2);
  EXPECT_LE(lines, 3);
}

TEST(PhaseClock, GivesEverySecondToOnePhase) {
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  double total = 0, outer = 0, inner = 0;
  {
    const Stopwatch whole(total);
    const PhaseClock phase(outer);
    wait();
    {
      const PhaseClock part(inner);
      wait();
    }
    wait();
  }
  EXPECT_GE(inner, 0.02);
  EXPECT_GE(outer, 0.04);
  EXPECT_LE(outer + inner, total + 1e-9);
  EXPECT_GT(outer + inner, 0.98 * total - 1e-3);
}

}  // namespace
}  // namespace kerf::detail
