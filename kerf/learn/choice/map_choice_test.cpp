// The grid of candidates and what lies beyond its edges; fits that choose are in learn/fit.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/choice/map_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kerf/core/random/random.h"

namespace kerf::detail {
namespace {

/// Rows of uniform columns, and a target that is a function of them with little noise.
class Table {
 public:
  Table(Index rows, const std::function<double(double, double)>& target, Index cols = 2)
      : x_(rows, cols), y_(rows, 1) {
    for (Index i = 0; i < rows; ++i) {
      const auto at = static_cast<std::uint64_t>(i);
      for (Index j = 0; j < cols; ++j)
        x_(i, j) =
            static_cast<float>(rng::uniform(rng::Key{3}, 2 * at + static_cast<std::uint64_t>(j)));
      y_(i, 0) = target(x_(i, 0), x_(i, cols - 1)) + 0.01 * rng::normal(rng::Key{4}, at);
    }
    MemorySource source(x_.view(), y_.view(), rows);
    summary_ = summarise(source, Task::regression, {}, rng::Key{1});
    scaling_ = make_scaling(ScaleKind::standard, summary_);
  }

  std::vector<MapCandidate> candidates(const Params& given = {}) const {
    return map_candidates(given, summary_, scaling_);
  }
  MapChoice choose(const Params& given, bool exact, Index features = 256) const {
    RowBlock rows;
    MemorySource(x_.view(), y_.view(), x_.rows()).next(rows);
    scaling_.apply(rows);
    MapChoiceOptions options;
    options.exact = exact;
    options.features = features;
    return choose_map(candidates(given), rows, y_.view(), x_.rows(), options);
  }

 private:
  Matrix<float> x_;
  Matrix<double> y_;
  DataSummary summary_;
  Scaling scaling_;
};

std::vector<std::string> labels(const MapChoice& choice) {
  std::vector<std::string> all;
  for (const auto& trial : choice.trials) all.push_back(trial.candidate.label);
  return all;
}

bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

TEST(MapCandidates, AreOfEveryKindOfKernel) {
  const Table table(50, [](double a, double) { return a; });
  std::map<std::string, int> of_kernel;
  for (const MapCandidate& candidate : table.candidates()) {
    ++of_kernel[candidate.kernel];
    const bool is_linear = candidate.kernel == "linear";
    EXPECT_EQ(candidate.map == "linear", is_linear) << candidate.label;
  }
  const std::map<std::string, int> expected = {
      {"ntk", 16},     {"nngp", 8},     {"gaussian", 4},  {"laplacian-l2", 4},
      {"matern32", 3}, {"matern52", 3}, {"laplacian", 3}, {"linear", 1}};
  EXPECT_EQ(of_kernel, expected);
  // A number of features asks for features, and the columns are no such number.
  for (const MapCandidate& candidate : table.candidates({{"features", "64"}}))
    EXPECT_NE(candidate.kernel, "linear");
  EXPECT_EQ(table.candidates({{"kernel", "linear"}}).size(), 1u);
  EXPECT_EQ(table.candidates({{"kernel", "linear"}, {"features", "auto"}}).size(), 1u);
  EXPECT_EQ(table.candidates({{"kernel", "matern52"}}).size(), 3u);
}

// A wave of 30 periods over one column: its length is far below a quarter of the median distance.
TEST(MapChoice, ExtendsAGridWhoseEdgeWins) {
  const Table table(
      700, [](double a, double) { return std::sin(190 * a); }, 1);
  for (const bool exact : {true, false}) {
    const MapChoice choice = table.choose({{"kernel", "gaussian"}}, exact, 2048);
    const auto all = labels(choice);
    EXPECT_TRUE(holds(all, "gaussian, bandwidth 0.125")) << choice.reason;
    EXPECT_GE(choice.winner().beyond, 1) << choice.reason;
    // It took part in all rounds, and its map and its kernel have the same bandwidth.
    EXPECT_EQ(choice.trials.front().errors.size(), choice.rounds.size());
    EXPECT_EQ(choice.winner().options.at("bandwidth"),
              choice.winner().kernel_options.at("bandwidth"));
    const auto quarter = std::ranges::find(choice.trials, "gaussian, bandwidth 0.25",
                                           [](const auto& t) { return t.candidate.label; });
    ASSERT_NE(quarter, choice.trials.end());
    const auto bandwidth = [](const MapCandidate& c) {
      return std::stod(c.options.at("bandwidth"));
    };
    EXPECT_NEAR(bandwidth(choice.winner()),
                bandwidth(quarter->candidate) * std::pow(0.5, choice.winner().beyond), 1e-12);
  }
}

// Noise has no length: whatever wins, a grid grows by two at most and the sentence says where it ends.
TEST(MapChoice, ExtendsNoGridTwiceOver) {
  const Table rough(300, [](double a, double b) {
    return std::fmod(std::floor(97 * a) + std::floor(89 * b), 2.0);
  });
  for (const char* kernel : {"gaussian", "laplacian", "matern32"}) {
    const MapChoice choice = rough.choose({{"kernel", kernel}}, true);
    const std::size_t declared = rough.candidates({{"kernel", kernel}}).size();
    EXPECT_LE(choice.trials.size(), declared + 4) << kernel;
    for (const auto& trial : choice.trials) EXPECT_LE(trial.candidate.beyond, 2);
    const bool is_edge = !edge_option(choice.winner(), choice.trials).empty();
    EXPECT_EQ(choice.reason.find("bandwidth is at the edge") != std::string::npos, is_edge)
        << choice.reason;
    if (is_edge) EXPECT_EQ(choice.winner().beyond, 2);
  }
}

TEST(MapChoice, LeavesAGridWhoseMiddleWins) {
  const Table smooth(400, [](double a, double b) { return std::sin(12 * a) + std::cos(12 * b); });
  const MapChoice choice = smooth.choose({{"kernel", "gaussian"}}, true);
  EXPECT_EQ(choice.winner().beyond, 0);
  EXPECT_EQ(choice.reason.find("edge"), std::string::npos);
  // A bandwidth that was given stands alone.
  const MapChoice given = smooth.choose({{"kernel", "gaussian"}, {"bandwidth", "0.1"}}, true);
  EXPECT_EQ(given.trials.size(), 1u);
}

TEST(BeyondEdge, GoesOnByTheRatioOfTheLastTwo) {
  const Table table(50, [](double a, double) { return a; });
  std::vector<MapChoice::Trial> trials;
  for (MapCandidate& candidate : table.candidates())
    trials.push_back({std::move(candidate), {}, 0});
  const auto next = [&](const std::string& label) -> std::string {
    for (const auto& trial : trials)
      if (trial.candidate.label == label) {
        const auto found = beyond_edge(trial.candidate, trials);
        return found ? found->label : "nothing";
      }
    return "no such candidate";
  };
  EXPECT_EQ(next("gaussian, bandwidth 0.25"), "gaussian, bandwidth 0.125");
  EXPECT_EQ(next("gaussian, bandwidth 2"), "gaussian, bandwidth 4");
  EXPECT_EQ(next("gaussian, bandwidth 1"), "nothing");
  EXPECT_EQ(next("laplacian, bandwidth 9"), "laplacian, bandwidth 27");
  EXPECT_EQ(next("laplacian, bandwidth 1"), "laplacian, bandwidth 0.333");
  EXPECT_EQ(next("ntk, depth 5, bias 3"), "ntk, depth 5, bias 9");
  EXPECT_EQ(next("ntk, depth 5, bias 1"), "nothing");
  // Nothing lies below 0, and depths have no scale.
  EXPECT_EQ(next("ntk, depth 5, bias 0"), "nothing");
  EXPECT_EQ(next("linear"), "nothing");
}

}  // namespace
}  // namespace kerf::detail
