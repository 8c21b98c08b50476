// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/rows/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "kerf/api/error.h"
#include "kerf/core/system/atomic_file.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/model/model_file.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

using namespace oracle;

class CheckpointTest : public ::testing::TestWithParam<std::tuple<std::string, Loss>> {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::string folder_ =
      (std::filesystem::temp_directory_path() / ("kerf_checkpoint_" + std::to_string(::getpid())))
          .string();
};

// Stopped again and again, the fit ends where it would have ended: bit for bit where the state is
// all there is (sums, epochs), within the tolerance of the iterations otherwise.  A block has 8,192
// rows here and a fold 10,000: sums of either fold are resumed half-way.
TEST_P(CheckpointTest, ResumedFitsEndAtTheSameModel) {
  const auto [solver, loss] = GetParam();
  const Data data = ring_of_classes(20000, 3);
  FitOptions options;
  options.solver = solver;
  options.loss = loss;
  options.folds = 2;
  if (solver == "sgd") options.sgd.epochs = 4;
  const auto whole = fit_classes(data, 3, options);
  options.checkpoint = folder_;
  options.checkpoint_interval = 0;
  const std::string first = folder_ + (solver == "cholesky" ? "/sums-0.ckpt" : "/state.ckpt");
  int stop_at = 150, resumed = 0;
  Matrix<double> weights;
  for (int attempt = 0; attempt < 100 && weights.rows() == 0; ++attempt) {
    int calls = 0;
    resumed += std::filesystem::exists(first) ? 1 : 0;
    try {
      const auto result = fit_classes(data, 3, options, "64", [&](const ProgressEvent&) {
        if (++calls >= stop_at) throw Error(ErrorKind::interrupted, "stopped");
      });
      weights.resize(result.model.linear.weights.rows(), 3);
      std::copy_n(result.model.linear.weights.data(), weights.rows() * 3, weights.data());
      EXPECT_EQ(result.report.lambda, whole.report.lambda);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::interrupted) << error.what();
      stop_at += solver == "cholesky" ? 10 : 3;  // its refinement begins anew
    }
  }
  ASSERT_GT(weights.rows(), 0);
  EXPECT_GE(resumed, 2);  // while rows were read or steps taken, not only once all was done
  const bool exact = solver == "cholesky" || solver == "sgd";
  double difference = 0, size = 0;
  for (Index k = 0; k < weights.rows() * 3; ++k) {
    difference += std::pow(weights.data()[k] - whole.model.linear.weights.data()[k], 2);
    size += std::pow(whole.model.linear.weights.data()[k], 2);
  }
  // pcg: a preconditioned residual of 1e-6, a hundred times that for the condition number.  newton:
  // F - min F, which is at least lambda |w - best w|^2, is 1e-5 of F for either, and F about the
  // error on rows left out; twice that, because the decrement is an estimate.
  const double most = exact             ? 0
                      : solver == "pcg" ? 1e-8 * size
                                        : 2 * 4e-5 * *whole.report.cv_error / whole.report.lambda;
  EXPECT_LE(difference, most);
}
INSTANTIATE_TEST_SUITE_P(All, CheckpointTest,
                         ::testing::Values(std::tuple("cholesky", Loss::squared),
                                           std::tuple("pcg", Loss::squared),
                                           std::tuple("newton", Loss::logistic),
                                           std::tuple("newton", Loss::squared_hinge),
                                           std::tuple("sgd", Loss::logistic)));

TEST_F(CheckpointTest, BelongsToOneFitAndServesAnotherLambda) {
  const Data data = ring_of_classes(400, 2), other = ring_of_classes(401, 2);
  FitOptions options;
  options.solver = "cholesky";
  options.checkpoint = folder_;
  auto first = fit_classes(data, 2, options);
  EXPECT_THROW(fit_classes(other, 2, options), Error);       // other rows
  EXPECT_THROW(fit_classes(data, 2, options, "32"), Error);  // another map
  options.lambda = 0.25;
  const auto again = refit(std::move(first.model), options);
  options.checkpoint.clear();
  const auto direct = fit_classes(data, 2, options);
  for (Index j = 0; j < 64; ++j)
    EXPECT_NEAR(again.model.linear.weights(j, 0), direct.model.linear.weights(j, 0), 1e-5);
  EXPECT_FALSE(again.model.training.cv_error.has_value());  // its lambda was given
  // Probabilities are calibrated at that lambda, by rows kept beside the sums.
  EXPECT_NEAR(again.model.temperature.value_or(0), *direct.model.temperature, 1e-3);
  EXPECT_TRUE(again.report.warnings.empty());
  Data labels = ring_of_classes(400, 2);  // the same rows with other classes
  for (Index i = 0; i < 400; ++i) labels.y(i, 0) = 1 - labels.y(i, 0);
  options.checkpoint = folder_;
  options.lambda.reset();
  EXPECT_THROW(fit_classes(labels, 2, options), Error);
  std::filesystem::resize_file(folder_ + "/sums-0.ckpt", 1000);
  options.checkpoint = folder_;
  options.lambda.reset();
  EXPECT_THROW(fit_classes(data, 2, options), Error);  // damaged
}

TEST_F(CheckpointTest, KeepsNoAnswerToAnotherQuestion) {
  const Data data = ring_of_classes(400, 3);
  FitOptions options;
  options.checkpoint = folder_;
  options.solver = "pcg";
  options.lambda_grid = "1e-4,1e-3";
  EXPECT_LE(fit_classes(data, 3, options).report.lambda, 1e-3);
  options.lambda_grid = "5,6";
  const auto other = fit_classes(data, 3, options);
  EXPECT_GE(other.report.lambda, 5);
  EXPECT_EQ(other.report.path.size(), 2u);
  std::filesystem::remove_all(folder_);
  options.solver = "sgd";
  options.loss = Loss::logistic;
  options.lambda_grid.clear();
  options.checkpoint_interval = 0;
  options.lambda = 0;
  fit_classes(data, 3, options);
  options.lambda = 100;
  EXPECT_THROW(fit_classes(data, 3, options), Error);
}

// One target of 3,000 is another, of a row that is not in the summary's sample.
TEST_F(CheckpointTest, KnowsTheTargetsOfAllRows) {
  const Data data = ring_of_classes(3000, 2);
  Data other = ring_of_classes(3000, 2);
  const auto sampled = [](const Data& of) {
    MemorySource source(of.x.view(), of.y.view(), 100);
    const RowBlock sample =
        summarise(source, Task::classification, class_names(2), rng::Key{1}).sample;
    return std::vector<double>(sample.targets.data(), sample.targets.data() + sample.rows());
  };
  Index row = 0;
  for (; row < 100; ++row) {
    other.y(row, 0) = 1 - data.y(row, 0);
    if (sampled(other) == sampled(data)) break;
    other.y(row, 0) = data.y(row, 0);
  }
  ASSERT_LT(row, 100);
  FitOptions options;
  options.solver = "cholesky";
  options.checkpoint = folder_;
  auto first = fit_classes(data, 2, options);
  EXPECT_THROW(fit_classes(other, 2, options), Error);
  // A model of other targets is not solved from these sums; a file of before, which does not say
  // what rows it is of, is.
  options.checkpoint = folder_ + "/other";
  auto second = fit_classes(other, 2, options);
  options.checkpoint = folder_;
  options.lambda = 0.5;
  EXPECT_NE(first.model.training.identity, second.model.training.identity);
  EXPECT_THROW(refit(model_from_bytes(model_to_bytes(second.model), "memory"), options), Error);
  EXPECT_NO_THROW(refit(model_from_bytes(model_to_bytes(first.model), "memory"), options));
  second.model.training.identity.clear();
  EXPECT_NO_THROW(refit(std::move(second.model), options));
}

// Weights of the fit before have seen the fold that judges: they must not start what it judges.
TEST_F(CheckpointTest, JudgesFromWeightsThatHaveNotSeenTheJudge) {
  const Data data = ring_of_classes(600, 3);
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
    std::filesystem::remove_all(folder_);
    FitOptions options;
    options.loss = loss;
    options.lambda_grid = "1.1e-5";
    const auto fresh = fit_classes(data, 3, options, "256").report;
    options.checkpoint = folder_;
    options.checkpoint_interval = 0;
    options.lambda_grid = "1e-5";
    fit_classes(data, 3, options, "256");
    options.lambda_grid = "1.1e-5";
    const auto again = fit_classes(data, 3, options, "256").report;
    EXPECT_NEAR(*again.cv_error, *fresh.cv_error, 1e-9 * *fresh.cv_error);
    EXPECT_NEAR(*again.temperature, *fresh.temperature, 1e-9 * *fresh.temperature);
  }
}

// Files with a checksum that is right and a header that is not: one clear line each.
TEST_F(CheckpointTest, SaysWhatIsWrongWithAForgedOne) {
  std::filesystem::create_directories(folder_);
  const Checkpoint checkpoint(folder_, {"r", "d"}, 0);
  const auto complaint_of = [&](const std::string& header, std::uint64_t size) {
    std::string bytes = "KERFCKP1";
    bytes.append(reinterpret_cast<const char*>(&size), 8);
    bytes += header;
    const auto sum = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    bytes.append(reinterpret_cast<const char*>(&sum), 4);
    std::ofstream(folder_ + "/state.ckpt", std::ios::binary) << bytes;
    try {
      checkpoint.load("state");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  for (const std::string header :
       {"{", "[]", "7", "{}", R"({"recipe": "r"})", R"({"recipe": "r", "data": "d"})",
        R"({"recipe": "r", "data": "d", "arrays": [7]})",
        R"({"recipe": "r", "data": "d", "arrays": [{"name": 1}]})",
        R"({"recipe": "r", "data": "d", "arrays": [], "x": 1e400})",
        R"({"recipe": "r", "data": "d", "arrays": [{"name": "a", "rows": "b", "cols": 1}]})"}) {
    const std::string words = complaint_of(header, header.size());
    EXPECT_NE(words.find("state.ckpt is damaged"), std::string::npos) << header << ": " << words;
    EXPECT_EQ(words.find("json.exception"), std::string::npos) << words;
  }
  const std::string good = R"({"recipe": "r", "data": "d", "arrays": []})";
  EXPECT_NE(complaint_of(good, ~std::uint64_t{0}).find("damaged"), std::string::npos);
  EXPECT_EQ(complaint_of(good, good.size()), "no error");
  std::filesystem::remove(folder_ + "/state.ckpt");
  std::filesystem::create_directory(folder_ + "/state.ckpt");
  EXPECT_THROW(checkpoint.load("state"), Error);
}

// What a save that was killed left behind goes when the folder is used again; what a process still
// writes stays, and so do files of others.
TEST_F(CheckpointTest, ClearsAwayWhatAKilledSaveLeft) {
  std::filesystem::create_directories(folder_);
  for (const char* name : {"state.ckpt.a1B2c3", "sums-0.ckpt.ZZZZZZ", "m.kerf.a1B2c3",
                           "state.ckpt.a1B2c", "state.ckpt.backup7", "ckpt.a1B2c3"})
    std::ofstream(folder_ + "/" + name) << "half";
  AtomicFile written(folder_ + "/state.ckpt");
  const Checkpoint checkpoint(folder_, {"r", "d"}, 0);
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    left.insert(entry.path().filename().string());
  EXPECT_EQ(left.size(), 5u);  // the four others, and the one that is being written
  EXPECT_FALSE(left.contains("state.ckpt.a1B2c3") || left.contains("sums-0.ckpt.ZZZZZZ"));
  written.commit();
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/state.ckpt"));
}

// Sums tell in which precision they were made: the options of a refit do not.
TEST_F(CheckpointTest, RefitWarnsByThePrecisionOfTheSums) {
  const Data data = ring_of_classes(400, 2);
  for (const Precision precision : {Precision::single_, Precision::double_}) {
    std::filesystem::remove_all(folder_);
    FitOptions options;
    options.solver = "cholesky";
    options.precision = precision;
    options.checkpoint = folder_;
    auto model = fit_classes(data, 2, options, "64", {}, "4").model;
    FitOptions again;
    again.checkpoint = folder_;
    again.lambda = 1e-8;  // too small for sums in single precision, not for double ones
    EXPECT_EQ(refit(std::move(model), again).report.warnings.empty(),
              precision == Precision::double_);
  }
}

}  // namespace
}  // namespace kerf::detail
