// Rows far outside those of training, and maps that make nothing of the rows.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kerf/learn/fit/incremental.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/model/model_file.h"

namespace kerf::detail {
namespace {

constexpr Index kRows = 300, kColumns = 4;

struct Data {
  Matrix<float> x{kRows, kColumns};
  Matrix<double> y{kRows, 1};
  Data() {
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < kColumns; ++j)
        x(i, j) = static_cast<float>(
            rng::normal(rng::Key{5}, static_cast<std::uint64_t>(i * kColumns + j)));
      y(i, 0) = std::sin(x(i, 0)) + 0.5 * std::cos(2 * x(i, 1));
    }
  }
  MemorySource source(Index block = 100) const { return {x.view(), y.view(), block}; }
};

FitResult fit_on(const Data& data, const std::string& map, Params params, bool clip) {
  MemorySource source = data.source();
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  FitOptions options;
  options.clip = clip;
  return fit(source, summary, map, params, options);
}

struct Prediction {
  double value;
  Index far_rows;
};

/// Of a row whose first column is so far out.
Prediction predict(const Model& model, float first) {
  Matrix<float> x(1, kColumns);
  x.fill(0.2f);
  x(0, 0) = first;
  MemorySource source(x.view(), {}, 1);
  RowBlock block;
  source.next(block);
  Matrix<double> out;
  const Index far_rows = Predictor(model).scores(block, out);
  return {out(0, 0), far_rows};
}

const struct {
  const char* map;
  Params params;
} kGrowing[] = {
    {"ntk-rf", {{"features", "256"}}},   {"arccos", {{"features", "256"}}},
    {"ntk-poly", {{"features", "256"}}}, {"nystrom", {{"features", "64"}, {"kernel", "ntk"}}},
    {kExactMap, {{"kernel", "ntk"}}},
};

// Targets lie between -1.5 and 1.5.  A row 1,182 standard deviations out gets what a row half a range
// outside gets, which is not far from them; without --clip tens or hundreds of times as much.
TEST(FarRows, AreNotPredictedFarOutsideTheTargets) {
  const Data data;
  for (const auto& [map, params] : kGrowing) {
    const Model model = fit_on(data, map, params, true).model;
    const Prediction far = predict(model, 1182);
    EXPECT_LT(std::abs(far.value), 3) << map;
    EXPECT_EQ(far.far_rows, 1) << map;
    EXPECT_EQ(predict(model, 0.5f).far_rows, 0) << map;
    EXPECT_GT(std::abs(predict(fit_on(data, map, params, false).model, 1182).value), 20) << map;
  }
}

// Their kernel is near 0 there, but the features of few directions are not.
TEST(FarRows, AreDrawnBackAndCountedWhereTheKernelDoesNotGrowToo) {
  const Data data;
  for (const auto& [map, params] : {std::pair<std::string, Params>("rff", {{"features", "64"}}),
                                    {kExactMap, {{"kernel", "gaussian"}}}}) {
    const Model model = fit_on(data, map, params, true).model;
    EXPECT_EQ(predict(model, 1182).far_rows, 1) << map;
    EXPECT_EQ(predict(model, 0).far_rows, 0) << map;
    EXPECT_TRUE(fit_on(data, map, params, false).model.scaling.lower.empty()) << map;
  }
}

TEST(FarRows, AreDrawnBackByAModelThatWasSaved) {
  const Model model = fit_on(Data(), "ntk-rf", {{"features", "64"}}, true).model;
  const Model same = model_from_bytes(model_to_bytes(model), "memory");
  EXPECT_EQ(same.scaling.lower, model.scaling.lower);
  EXPECT_EQ(predict(same, 1182).value, predict(model, 1182).value);
}

// Inside the range nothing changes: weights have the bits of a fit without it.
TEST(FarRows, LeaveTheWeightsAsTheyAre) {
  const Data data;
  const Model a = fit_on(data, "ntk-rf", {{"features", "64"}}, true).model;
  const Model b = fit_on(data, "ntk-rf", {{"features", "64"}}, false).model;
  for (Index k = 0; k < 64; ++k) EXPECT_EQ(a.linear.weights(k, 0), b.linear.weights(k, 0));
}

// Later blocks are of training too: the range grows, and no row of them is drawn back.
TEST(FarRows, OfATrainingByBlocksAreThoseOutsideAllBlocks) {
  const Data data;
  FitOptions options;
  options.lambda = 1e-3;
  options.scale = ScaleKind::none;
  const auto in_blocks = [&](bool clip) {
    options.clip = clip;
    MemorySource source = data.source(10);
    RowBlock block;
    source.next(block);
    MemorySource first(block.dense.view(), {}, 10);
    DataSummary summary = summarise(first, Task::regression, {}, rng::Key{1});
    summary.targets = 1;
    IncrementalFit fit(summary, "ntk-rf", {{"features", "64"}, {"bias", "1"}}, options);
    source.rewind();
    while (source.next(block)) fit.add(block);
    return fit.solve().model;
  };
  const Model a = in_blocks(true), b = in_blocks(false);
  ASSERT_EQ(a.scaling.lower.size(), 4u);
  for (Index k = 0; k < 64; ++k) EXPECT_EQ(a.linear.weights(k, 0), b.linear.weights(k, 0));
  float largest = 0;
  for (Index i = 0; i < kRows; ++i) largest = std::max(largest, data.x(i, 0));
  EXPECT_EQ(a.scaling.upper[0], largest);
}

// A network of one unit a layer, most of which are dead: one of the first seeds is.
TEST(ZeroFeatures, OfADeadNetworkAreSaid) {
  const Data data;
  int dead = 0;
  for (Index seed = 1; seed <= 8; ++seed) {
    MemorySource source = data.source();
    const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
    FitOptions options;
    options.seed = seed;
    options.scale = ScaleKind::none;
    options.lambda = 1e-3;
    const auto result = fit(source, summary, "grad-rf",
                            {{"features", "9"}, {"depth", "4"}, {"bias", "0"}}, options);
    RowBlock block;
    source.rewind();
    bool all_zero = true;
    Matrix<float> z;
    while (source.next(block)) {
      Predictor(result.model).features(block, z);
      all_zero = all_zero && std::all_of(z.data(), z.data() + z.rows() * z.cols(),
                                         [](float v) { return v == 0; });
    }
    EXPECT_EQ(!result.report.warnings.empty(), all_zero) << seed;
    dead += all_zero ? 1 : 0;
  }
  EXPECT_GT(dead, 0);
  EXPECT_LT(dead, 8);
}

}  // namespace
}  // namespace kerf::detail
