// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/temperature.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"

namespace kerf::detail {
namespace {

// Golden sections end when log t is known within 1e-3.
constexpr double kStep = 2e-3;

// N rows, all right and all alike, p = 1 - 1/(N + 2) (Laplace's rule of succession) for their class:
// with score 1 for it and 0 for the others that is t = log((N + 1) (K - 1)).
TEST(Temperature, IsFiniteForRowsThatAreAllRight) {
  for (const Index classes : {1, 2, 3, 10})  // 1: one score for two classes
    for (const Index rows : {2, 28, 1000})
      for (const double weight : {1.0, 1e-4}) {
        LeftOutScores scores;
        for (Index i = 0; i < rows; ++i) {
          std::vector<double> row(classes, classes == 1 ? 1.0 : 0.0);
          const Index label = classes == 1 ? 1 : i % classes;
          if (classes > 1) row[label] = 1;
          scores.add(row, label, weight);
          scores.add(std::vector<double>(row.size(), 5.0), 0, 0);  // weighs nothing
        }
        const double expected =
            std::log(static_cast<double>((rows + 1) * std::max<Index>(1, classes - 1)));
        ASSERT_TRUE(scores.temperature().has_value());
        EXPECT_NEAR(*scores.temperature(), expected, kStep * expected)
            << classes << " classes, " << rows << " rows";
      }
}

// Labels drawn from the model sigmoid(3 f): maximum likelihood has a standard error of
// 1 / sqrt(sum f^2 p (1 - p)); five of them are a false alarm below 1e-6.  The doubt of 1/(N + 2) in
// every label moves t by less than a tenth of that.
TEST(Temperature, FindsTheFactorThatLabelsWereDrawnWith) {
  LeftOutScores scores;
  double information = 0;
  for (std::uint64_t i = 0; i < LeftOutScores::kEnough; ++i) {
    const double f = rng::normal(rng::Key{1}, i), p = 1 / (1 + std::exp(-3 * f));
    scores.add(std::vector{f}, rng::uniform(rng::Key{2}, i) < p ? 1 : 0, 1);
    information += f * f * p * (1 - p);
  }
  EXPECT_TRUE(scores.enough());
  EXPECT_NEAR(*scores.temperature(), 3, 5.1 / std::sqrt(information) + 3 * kStep);
}

TEST(Temperature, IsNoneWithoutRowsThatWeighSomething) {
  LeftOutScores scores;
  EXPECT_FALSE(scores.temperature().has_value());
  scores.add(std::vector<double>{1, 0}, 0, 0);
  EXPECT_FALSE(scores.temperature().has_value());
}

}  // namespace
}  // namespace kerf::detail
