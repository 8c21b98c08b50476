// The public interface, as a program of a user's sees it.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "kerf/kerf.h"

namespace kerf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kData = KERF_SOURCE_DIR "/data/";

/// y = sin(2 a) b with an offset on a that floats would swallow.
struct Made {
  explicit Made(Index rows) : x(rows, 2), y(rows, 1) {
    std::mt19937 generator(5);
    std::normal_distribution<double> normal;
    for (Index i = 0; i < rows; ++i) {
      const double a = normal(generator), b = normal(generator);
      x(i, 0) = 1.7e9 + a;
      x(i, 1) = b;
      y(i, 0) = std::sin(2 * a) * b;
    }
  }
  Table table() const { return {.x = x.view(), .y = y.view()}; }
  Matrix<double> x, y;
};

/// The rows of `made` in blocks of `size`.
class Blocks final : public RowStream {
 public:
  Blocks(const Made& made, Index size) : made_(made), size_(size) {}
  void rewind() override { at_ = 0; }
  bool next(Table& block) override {
    if (at_ >= made_.x.rows()) return false;
    const Index end = std::min(at_ + size_, made_.x.rows());
    block.x = made_.x.view().slice(at_, end);
    block.y = made_.y.view().slice(at_, end);
    at_ = end;
    return true;
  }

 private:
  const Made& made_;
  Index size_, at_ = 0;
};

const FitRequest kRequest{.map = maps::Rff{.features = 256}, .fit = {.lambda = 1e-4}};

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Api, OnlyOptionsThatAreGivenBecomeText) {
  const maps::Rff rff{.kernel = "cauchy", .features = 512};
  EXPECT_EQ(rff.params(), (Params{{"kernel", "cauchy"}, {"features", "512"}}));
  const FitOptions fit{.clip = false, .lambda = 1e-3};
  EXPECT_EQ(fit.params(), (Params{{"clip", "false"}, {"lambda", "0.001"}}));
}

TEST(Api, FitsSavesLoadsAndPredictsFiles) {
  Dataset train = open_dataset({kData + "digits_train.csv.gz"});
  EXPECT_EQ(train.task(), Task::classification);
  EXPECT_EQ(train.columns(), 64);
  const Fit fit =
      kerf::fit(train, {.map = maps::Arccos{.features = 512}, .holdout = 0.2, .page = true});
  ASSERT_TRUE(fit.test && fit.report.quality);
  EXPECT_GT(fit.test->accuracy, 0.95);
  EXPECT_NEAR(fit.report.quality->value, fit.test->accuracy, 0.03);
  EXPECT_THAT(fit.page, HasSubstr("</html>"));

  const auto path = std::filesystem::temp_directory_path() / "kerf-api-test.kerf";
  fit.model.save(path.string());
  const Model model = Model::load(path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(model.to_bytes(), fit.model.to_bytes());
  Dataset test = model.open({kData + "digits_test.csv.gz"});
  const Predictions found = model.predict(test);
  ASSERT_EQ(found.values.rows(), test.rows());
  ASSERT_EQ(found.probabilities.cols(), 10);
  double sum = 0;
  for (const double p : found.probabilities.row(0)) sum += p;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(model.score(test).rows, test.rows());  // read again from the first row on
  EXPECT_GT(model.score(test).accuracy, 0.95);
}

TEST(Api, MemoryStreamAndBlocksGiveOneModel) {
  const Made made(600);
  Blocks stream(made, 37);
  Dataset table = open_dataset(made.table()), streamed = open_dataset(stream);
  const std::string one = kerf::fit(table, kRequest).model.to_bytes();
  EXPECT_EQ(kerf::fit(streamed, kRequest).model.to_bytes(), one);
  EXPECT_GT(Model::from_bytes(one).score(streamed).r2, 0.8);
  BlockwiseFit blocks(kRequest);
  blocks.add(made.table());
  EXPECT_EQ(blocks.rows(), 600);
  const Predictions a = blocks.solve().model.predict(made.table());
  const Predictions b = Model::from_bytes(one).predict(made.table());
  for (Index i = 0; i < 600; ++i) EXPECT_NEAR(a.values(i, 0), b.values(i, 0), 1e-4);
}

TEST(Api, AFitLeavesTheDatasetAsItWas) {
  const Made made(300);
  Dataset data = open_dataset(made.table());
  const std::string standard = kerf::fit(data, kRequest).model.to_bytes();
  FitRequest other = kRequest;
  other.fit.seed = 7;
  other.fit.scale = "rms";
  const std::string rms = kerf::fit(data, other).model.to_bytes();
  EXPECT_EQ(kerf::fit(data, kRequest).model.to_bytes(), standard);
  Dataset fresh = open_dataset(made.table());
  EXPECT_EQ(kerf::fit(fresh, other).model.to_bytes(), rms);
}

TEST(Api, ColumnsOfMemoryGoByTheirNames) {
  const Made made(300);
  std::vector<std::string> colours;
  Matrix<double> y(300, 1);
  for (Index i = 0; i < 300; ++i) {
    colours.push_back(i % 3 == 0 ? "red" : "blue");
    y(i, 0) = i % 3 == 0 ? made.x(i, 1) : -made.x(i, 1);
  }
  Dataset data = open_dataset(Table{.x = made.x.view(),
                                    .y = y.view(),
                                    .names = {"time", "size"},
                                    .words = {{"colour", colours}}});
  EXPECT_EQ(data.columns(), 4);
  const Model model = kerf::fit(data, kRequest).model;
  EXPECT_GT(model.score(data).r2, 0.9);
  // One row, its columns in another order, with a word that training never saw.
  const double row[] = {made.x(1, 1), made.x(1, 0)};
  const Predictions known = model.predict({.x = MatrixView<const double>(row, 1, 2),
                                           .names = {"size", "time"},
                                           .words = {{"colour", {"blue"}}}});
  EXPECT_EQ(known.values(0, 0), model.predict(data).values(1, 0));
  EXPECT_TRUE(known.warnings.empty());
  const Predictions unknown = model.predict({.x = MatrixView<const double>(row, 1, 2),
                                             .names = {"size", "time"},
                                             .words = {{"colour", {"green"}}}});
  ASSERT_EQ(unknown.warnings.size(), 1U);
  EXPECT_THAT(unknown.warnings[0], HasSubstr("colour"));
}

TEST(Api, ClassesOfMemoryAndSparseRows) {
  // (1, 0), (0, 1), ... as sparse rows of two columns.
  std::vector<float> values(200, 1);
  std::vector<std::int32_t> columns;
  std::vector<Index> offsets = {0};
  Matrix<double> y(200, 1);
  for (int i = 0; i < 200; ++i) {
    columns.push_back(i % 2);
    offsets.push_back(i + 1);
    y(i, 0) = i % 2;
  }
  const CsrView x{values.data(), columns.data(), offsets.data(), 200, 2};
  Dataset data = open_dataset(Table{.x = x, .y = y.view(), .classes = {"left", "right"}});
  const Model model = kerf::fit(data, {.map = maps::Rff{.features = 64}}).model;
  EXPECT_THAT(model.classes(), ElementsAre("left", "right"));
  const Predictions found = model.predict(Table{.x = x});
  EXPECT_EQ(found.classes[0], 0);
  EXPECT_EQ(found.classes[1], 1);
}

TEST(Api, FeaturesReproduceTheirKernel) {
  const Made made(50);
  Matrix<float> x(50, 2);
  for (Index i = 0; i < 50; ++i)
    x(i, 0) = static_cast<float>(made.x(i, 0) - 1.7e9), x(i, 1) = static_cast<float>(made.x(i, 1));
  const FeatureMap map(maps::Rff{.bandwidth = 2, .features = 4096}, 2);
  EXPECT_EQ(map.features(), 4096);
  const Matrix<float> z = map.transform(x.view());
  const Matrix<double> k = map.kernel().gram(x.view());
  const double bound = 6 * std::sqrt(map.relative_variance());
  for (Index i = 0; i < 50; ++i) {
    double dot = 0;
    for (Index j = 0; j < 4096; ++j) dot += double{z(i, j)} * z(0, j);
    EXPECT_NEAR(dot, k(i, 0), bound);
  }
  const double a[] = {1, 2}, b[] = {0, 1};
  EXPECT_DOUBLE_EQ(Kernel(kernels::Gaussian{.bandwidth = 2})(a, b), std::exp(-0.25));
  EXPECT_EQ(FeatureMap("rff", x.view()).options().count("bandwidth"), 1U);
  EXPECT_THAT(message_of([] { FeatureMap("rff", 2); }), HasSubstr("bandwidth"));
  EXPECT_THAT(message_of([] { Kernel("gausian"); }), HasSubstr("gaussian"));
}

TEST(Api, InsightAnswersWithNumbers) {
  Dataset data = open_dataset({kData + "diabetes_train.csv"});
  const Diagnosis diagnosis = diagnose(data, "rff", {64, 256}, {.sample = 100, .seeds = 3});
  ASSERT_EQ(diagnosis.sizes.size(), 2U);
  EXPECT_LT(diagnosis.sizes[1].kernel_error.mean, diagnosis.sizes[0].kernel_error.mean);
  EXPECT_THAT(diagnosis.written.html, HasSubstr("</html>"));
  const Plan planned = kerf::plan(data, "rff", {.kernel_error = 0.2, .sample = 100});
  ASSERT_TRUE(planned.features);
  EXPECT_GT(*planned.features, 8);
  const Comparison comparison =
      compare(data, {"rff", maps::Arccos{.order = 1}}, {64}, {.seeds = 2, .sample = 0});
  ASSERT_EQ(comparison.entries.size(), 2U);
  EXPECT_GT(comparison.entries[comparison.recommended].error.mean, 0);
  const Selection selection = select_rows(data, maps::Arccos{.features = 128}, {.budget = 10});
  EXPECT_EQ(selection.rows.size(), 10U);
  EXPECT_GT(*selection.explained, 0.5);
}

TEST(Api, WhatIsWrongIsSaidBeforeTheWork) {
  const Made made(50);
  Dataset data = open_dataset(made.table());
  EXPECT_THAT(message_of([&] { kerf::fit(data, {.map = "rrf"}); }), HasSubstr("rff"));
  EXPECT_THAT(message_of([&] {
                kerf::fit(data, {.by_name = {{"lamda", "1"}}});
              }),
              HasSubstr("lambda"));
  EXPECT_THAT(message_of([&] { kerf::fit(data, {.fit = {.solver = "choleski"}}); }),
              HasSubstr("cholesky"));
  EXPECT_THAT(message_of([&] {
                kerf::fit(data, {.fit = {.lambda = 1}, .by_name = {{"lambda", "2"}}});
              }),
              HasSubstr("twice"));
  EXPECT_THAT(message_of([&] { BlockwiseFit({.holdout = 0.2}); }), HasSubstr("all rows"));
  EXPECT_THAT(message_of([&] { BlockwiseFit().solve(); }), HasSubstr("no rows"));
  EXPECT_THAT(message_of([&] { kerf::fit(data, kRequest, {.memory_limit = 1000}); }),
              HasSubstr("memory"));
  EXPECT_THAT(
      message_of([&] { open_dataset(Table{.x = made.x.view(), .y = made.y.view().slice(0, 10)}); }),
      HasSubstr("50 rows"));
  const Model model = kerf::fit(data, kRequest).model;
  EXPECT_THAT(message_of([&] { model.predict(Table{.x = made.y.view()}); }), HasSubstr("column"));
  Dataset rows = model.open(made.table());
  EXPECT_THAT(message_of([&] { kerf::fit(rows); }), HasSubstr("for this model"));
  class Empty final : public RowStream {
    void rewind() override {}
    bool next(Table&) override { return false; }
  } empty;
  EXPECT_THAT(message_of([&] { open_dataset(empty); }), HasSubstr("no rows"));
}

TEST(Api, ADatasetFollowsWhicheverModelReadsIt) {
  // Models one after the other at one address, one of them with its first column far from zero.
  const Made far(100);
  Made near(100);
  for (Index i = 0; i < 100; ++i) near.x(i, 0) = far.x(i, 0) - 1.7e9;
  Dataset far_rows = open_dataset(far.table()), near_rows = open_dataset(near.table());
  const std::string of_far = kerf::fit(far_rows, kRequest).model.to_bytes(),
                    of_near = kerf::fit(near_rows, kRequest).model.to_bytes();
  Dataset test = open_dataset(far.table());
  for (int round = 0; round < 4; ++round)
    for (const std::string* bytes : {&of_far, &of_near}) {
      Dataset fresh = open_dataset(far.table());
      EXPECT_EQ(Model::from_bytes(*bytes).score(test).rmse,
                Model::from_bytes(*bytes).score(fresh).rmse);
    }
}

TEST(Api, ATableSaysWhatIsInputAndWhatIsTarget) {
  const Made made(100);
  Dataset none = open_dataset(Table{.x = made.x.view()});
  EXPECT_EQ(none.columns(), 2);
  EXPECT_THAT(message_of([&] { kerf::fit(none, kRequest); }), HasSubstr("target"));
  Dataset data = open_dataset(made.table());
  const Model model = kerf::fit(data, kRequest).model;
  const auto first = made.x.view().columns(0, 1);
  EXPECT_THAT(message_of([&] { model.predict(Table{.x = first, .y = made.y.view()}); }),
              HasSubstr("wants 2"));
  Matrix<double> three(100, 3);
  three.fill(0);
  EXPECT_THAT(message_of([&] { model.predict(Table{.x = three.view()}); }), HasSubstr("wants 2"));
  // A file whose target stands first: a table has it last all the same.
  Dataset file =
      open_dataset({kData + "diabetes_train.csv"}, {.target = "first", .task = "regression"});
  const Model of_file = kerf::fit(file, kRequest).model;
  Matrix<double> x(3, of_file.columns());
  x.fill(0.01);
  Matrix<double> y(3, 1);
  y.fill(0.5);
  const double with = of_file.predict(Table{.x = x.view(), .y = y.view()}).values(0, 0);
  EXPECT_EQ(of_file.predict(Table{.x = x.view()}).values(0, 0), with);
}

/// Blocks as they are given.
class Given final : public RowStream {
 public:
  explicit Given(std::vector<Table> blocks) : blocks_(std::move(blocks)) {}
  void rewind() override { at_ = 0; }
  bool next(Table& block) override {
    if (at_ == blocks_.size()) return false;
    block = blocks_[at_++];
    return true;
  }

 private:
  std::vector<Table> blocks_;
  std::size_t at_ = 0;
};

TEST(Api, BlocksOfAStreamAreAllOfOneShape) {
  const Made made(40);
  Matrix<float> pixels(40, 6);
  pixels.fill(0.5F);
  Matrix<std::uint8_t> bytes(40, 6);
  bytes.fill(7);
  std::vector<double> weights(40, 2);
  const std::vector<std::string> words(40, "a");
  const Table plain = made.table();
  const Table images{.x = pixels.view(), .y = made.y.view(), .image = {2, 3, 1}};
  const std::vector<std::pair<Table, Table>> pairs = {
      {plain, {.x = made.x.view()}},
      {plain, {.x = made.x.view(), .y = made.y.view(), .weights = weights}},
      {images, {.x = pixels.view(), .y = made.y.view(), .image = {3, 2, 1}}},
      {images, {.x = bytes.view(), .y = made.y.view(), .image = {2, 3, 1}}},
      {images, {.x = pixels.view(), .image = {2, 3, 1}}},
      {{.y = made.y.view(), .words = {{"w", words}}},
       {.x = made.y.view(), .y = made.y.view(), .names = {"w"}}}};
  for (const auto& [one, other] : pairs) {
    Given stream({one, other});
    EXPECT_THAT(message_of([&] { open_dataset(stream); }), HasSubstr("a block of the stream has"));
  }
}

TEST(Api, AStopLeavesTheDatasetUsable) {
  const Made made(200);
  Dataset data = open_dataset(made.table());
  const std::string before = kerf::fit(data, kRequest).model.to_bytes();
  const Context stop{
      .progress = [](const ProgressEvent&) { throw Error(ErrorKind::interrupted, "enough"); }};
  EXPECT_EQ(message_of([&] { kerf::fit(data, kRequest, stop); }), "enough");
  EXPECT_EQ(kerf::fit(data, kRequest).model.to_bytes(), before);
}

TEST(Api, AModelThatDoesNotFitLeavesTheDatasetUsable) {
  const Made made(100);
  const auto named = [&](std::vector<std::string> names) {
    return Table{.x = made.x.view(), .y = made.y.view(), .names = std::move(names)};
  };
  Dataset one = open_dataset(named({"p", "q"})), other = open_dataset(named({"p", "r"}));
  const Model fits = kerf::fit(one, kRequest).model, not_at_all = kerf::fit(other, kRequest).model;
  Dataset test = open_dataset(named({"p", "q"}));
  const double before = fits.score(test).r2;
  EXPECT_THAT(message_of([&] { not_at_all.score(test); }), HasSubstr("no column 'r'"));
  EXPECT_EQ(fits.score(test).r2, before);
  EXPECT_GT(kerf::fit(test, kRequest).model.score(test).r2, 0.5);
}

TEST(Api, MatricesThatWereMovedOrRefused) {
  Matrix<double> a(3, 4), b = std::move(a);
  EXPECT_EQ(a.rows(), 0);  // NOLINT: what is moved from is what this is about
  a.resize(5, 5);
  a.fill(1);
  EXPECT_EQ(b.rows(), 3);
  EXPECT_THROW(b.resize(Index{1} << 33, Index{1} << 33), Error);
  EXPECT_THROW(b.resize(-1, 5), Error);
  EXPECT_THROW(b.resize(Index{1} << 45, 1), Error);
  b.resize(10, 10);
  b.fill(1);
  EXPECT_EQ(b(9, 9), 1);
}

TEST(Api, SparseRowsMayBeSlicesOrNoneAndAreChecked) {
  const std::vector<float> values = {1, 2, 3, 4};
  const std::vector<std::int32_t> columns = {0, 1, 0, 1}, wrong = {0, 5, 0, 1};
  const std::vector<Index> offsets = {0, 1, 2, 3, 4};
  const CsrView x{values.data(), columns.data(), offsets.data(), 4, 2};
  const double y[] = {1, 2, 3, 4};
  Dataset slice =
      open_dataset(Table{.x = x.slice(1, 4), .y = MatrixView<const double>(y + 1, 3, 1)});
  EXPECT_EQ(slice.rows(), 3);
  EXPECT_THAT(message_of([] { open_dataset(Table{.x = CsrView{}}); }), HasSubstr("no rows"));
  const FeatureMap map(maps::Rff{.bandwidth = 1, .features = 8}, 2);
  EXPECT_EQ(map.transform(x.slice(1, 4))(0, 0), map.transform(x)(1, 0));
  const CsrView bad{values.data(), wrong.data(), offsets.data(), 4, 2};
  EXPECT_THAT(message_of([&] { map.transform(bad); }), HasSubstr("column 5"));
  EXPECT_THAT(message_of([&] { map.kernel().gram(bad); }), HasSubstr("column 5"));
  const float nan[] = {NAN, 1};
  EXPECT_THAT(message_of([&] { map.transform(MatrixView<const float>(nan, 1, 2)); }),
              HasSubstr("not finite"));
}

TEST(Api, ABlockWithAFaultIsRefusedAsAWhole) {
  Made made(30000);
  BlockwiseFit fit(kRequest);
  fit.add({.x = made.x.view().slice(0, 500), .y = made.y.view().slice(0, 500)});
  made.y(29990, 0) = NAN;
  EXPECT_THAT(message_of([&] { fit.add(made.table()); }), HasSubstr("finite"));
  EXPECT_EQ(fit.rows(), 500);
  made.y(29990, 0) = 0;
  fit.add(made.table());
  EXPECT_EQ(fit.rows(), 30500);
}

TEST(Api, WhatATableCannotMeanIsRefused) {
  const Made made(60);
  Matrix<double> y(60, 1);
  y.fill(1);
  y(7, 0) = 0.5;
  const auto open = [&](Table table, const DataOptions& options = {}) {
    return message_of([&] { open_dataset(table, options); });
  };
  const Table classes{.x = made.x.view(), .y = y.view(), .classes = {"a", "b"}};
  EXPECT_THAT(open(classes), HasSubstr("class number 0.5"));
  EXPECT_THAT(open(classes, {.task = "regression"}), HasSubstr("no regression"));
  EXPECT_THAT(open({.x = made.x.view(), .y = y.view(), .classes = {"a", "a"}}), HasSubstr("twice"));
  EXPECT_THAT(open(made.table(), {.labels = "nothing"}), HasSubstr("for files"));
  EXPECT_THAT(open({.x = made.x.view(), .y = y.view(), .names = {"p"}}), HasSubstr("1 names"));
  EXPECT_THAT(open({.x = made.x.view(), .y = y.view(), .image = {2, -1, -1}}),
              HasSubstr("no images"));
  Dataset data = open_dataset(made.table());
  EXPECT_THAT(message_of([&] {
                kerf::fit(data, {.map = maps::Arccos{.features = 16, .gibbs_sweeps = 5}});
              }),
              HasSubstr("gibbs-sweeps"));
  const Model model = kerf::fit(data, kRequest).model;
  EXPECT_THAT(message_of([&] { model.open({kData + "iris_test.csv"}, {.missing = "drop"}); }),
              HasSubstr("knows its columns"));
}

TEST(Api, RowsThatWereLeftOutAreNamed) {
  Made made(50);
  Dataset data = open_dataset(made.table(), {.missing = "drop"});
  const Model model = kerf::fit(data, kRequest).model;
  made.x(3, 1) = NAN;
  const Predictions found = model.predict(made.table());
  ASSERT_EQ(found.values.rows(), 49);
  ASSERT_EQ(found.rows.size(), 49U);
  EXPECT_EQ(found.rows[3], 4);
  EXPECT_FALSE(found.warnings.empty());
}

TEST(Api, ThreadsPredictWithOneModelAtOnce) {
  const Made made(200);
  Dataset data = open_dataset(made.table());
  const Model model = kerf::fit(data, kRequest).model;
  const Predictions alone = model.predict(made.table());
  const Model loaded =
      Model::from_bytes(model.to_bytes());  // its map is made by whoever comes first
  std::vector<std::thread> threads;
  std::vector<double> last(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      last[static_cast<std::size_t>(t)] = loaded.predict(made.table()).values(199, 0);
    });
  for (auto& thread : threads) thread.join();
  for (const double value : last) EXPECT_EQ(value, alone.values(199, 0));
}

}  // namespace
}  // namespace kerf
