// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/core/system/memory.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/ridge/exact_at_lambda.h"
#include "kerf/learn/rows/feature_cache.h"
#include "kerf/learn/solvers/fit_memory.h"
#include "kerf/learn/solvers/solver.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

using namespace oracle;

TEST(SolverChoice, FollowsSizeAndMemory) {
  FitOptions options;
  options.lambda = 1e-6;
  const auto chosen = [&](Index rows, Index features, Index memory) {
    const Problem problem{rows, 90, features, 1, 0, memory, options};
    return choose_solver(problem).entry->name;
  };
  constexpr Index kGiga = Index{1} << 30;
  EXPECT_EQ(chosen(200, 4096, 8 * kGiga), "dual");
  EXPECT_EQ(chosen(100000, 512, 8 * kGiga), "cholesky");
  EXPECT_EQ(chosen(467000, 8192, 16 * kGiga), "pcg");
}

// It used to be taken, in silence, where nothing else fitted: far from the least error.
TEST(SolverChoice, LeavesStochasticGradientsToWhoNamesThem) {
  constexpr Index kGiga = Index{1} << 30;
  FitOptions options;
  // Copies of images: no rows are left out, and pcg is for more rows than features.
  Problem copies{200, 64, 512, 10, 0, 8 * kGiga, options, true};
  copies.copies = 9;
  EXPECT_EQ(choose_solver(copies).entry->name, "cholesky");
  // As many rows as features: the kernel matrix takes less than the sums of folds.
  FitOptions two;
  two.folds = 2;
  Problem tight{9000, 9, 9000, 1, 0, 0, two};
  tight.memory = find_solver("cholesky").bytes(tight);
  EXPECT_LT(find_solver("dual").bytes(tight), tight.memory);
  EXPECT_LE(choose_solver(tight).entry->bytes(tight), tight.memory);
  EXPECT_NE(choose_solver(tight).entry->name, "sgd");
  const Problem large{20000, 90, 200000, 1, 0, 4 * kGiga, options};
  EXPECT_GT(choose_solver(large).entry->bytes(large), large.memory);
  EXPECT_NE(choose_solver(large).entry->name, "sgd");
}

// 400,000 x 8 rows with 2,048 features took 3.3 GB for pcg, where 100 MB do at little more time.
TEST(SolverChoice, TakesAQuarterOfWhatIsFree) {
  const Data data = smooth_targets(500, 1);
  FitOptions options;
  options.lambda = 1e-3;
  FitOptions chosen;
  const Problem many{400000, 8, 2048, 1, 0, Index{1} << 34, chosen};
  EXPECT_EQ(choose_solver(many).entry->name, "cholesky");
  EXPECT_GT(find_solver("pcg").bytes(many), 10 * find_solver("cholesky").bytes(many));
  EXPECT_EQ(memory_budget(12345), 12345);
  EXPECT_NEAR(static_cast<double>(memory_budget(0)), 0.25 * static_cast<double>(available_memory()),
              0.05 * static_cast<double>(available_memory()));
  const auto report = fit_targets(data, "64", options).report;
  EXPECT_EQ(report.memory_note, "");
  // The problem that a fit poses: whatever is free, only a quarter of it is there to be used.
  MemorySource source(data.x.view(), data.y.view(), 100);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  const Progress silent;
  const FitJob job{source, summary, options, 0, silent};
  const FeatureMapEntry& rff = find_feature_map("rff");
  const Problem problem = problem_of(job, rff, rff.complete({{"features", "64"}}));
  EXPECT_LE(problem.memory, problem.most / 3);
  // Where not even the leanest keeps to it, the first line says what is taken and why.
  const std::string note = memory_note(available_memory() / 2, 0, "training with 9 features");
  for (const char* words :
       {"more than a quarter", "training with 9 features", "(memory sets a limit)"})
    EXPECT_NE(note.find(words), std::string::npos) << note;
  EXPECT_EQ(memory_note(available_memory() / 2, available_memory(), "training"), "");
}

// One lambda needs no eigenvalues: 12 bytes for each pair of rows instead of 24.
TEST(SolverChoice, KnowsThatOneLambdaNeedsNoEigenvalues) {
  FitOptions given, chosen;
  given.lambda = 1e-3;
  const auto bytes = [](const FitOptions& options) {
    return find_solver("dual").bytes(Problem{2000, 9, 4000, 1, 0, Index{1} << 40, options});
  };
  // One lambda has the rows that judge it besides.
  EXPECT_EQ(bytes(chosen) - bytes(given), 12 * 2000 * 2000 - 8 * 2000 * kLeftOutRows);
}

// Whatever is kept, the plan keeps to the memory as long as something smaller is left to take.
TEST(IterationPlan, KeepsToTheMemoryAndCountsWhatIsHeld) {
  FitOptions chosen, given;
  given.lambda = 1e-3;
  const auto problem = [](const FitOptions& options, Index memory) {
    return Problem{20000, 9, 64, 200, 0, memory, options, true};
  };
  const Index least = find_solver("pcg").bytes(problem(chosen, 1)), single = 4 * 20000 * 64;
  for (Index memory = least; memory < least + 2 * single; memory += single / 16)
    EXPECT_LE(find_solver("pcg").bytes(problem(chosen, memory)), memory);
  // Two lambdas in the same passes: twice the vectors, in every lane of a pass.
  EXPECT_GE(least - find_solver("pcg").bytes(problem(given, 1)),
            product_bytes(64, 400) - product_bytes(64, 200));
  // Classes hold a fold out even so: inputs and targets wait in five folds, not in one.
  Problem numbers = problem(given, 1);
  numbers.classification = false;
  EXPECT_GE(find_solver("pcg").bytes(problem(given, 1)) - find_solver("pcg").bytes(numbers),
            TrainingRows::bytes(20000, 9, 64, 200, 5) - TrainingRows::bytes(20000, 9, 64, 200, 1));
}

TEST(SolverChoice, PassesOverNoOptionInSilence) {
  const Data data = smooth_targets(60, 1);
  const auto refusal = [&](const char* features, auto change) {
    FitOptions options;
    change(options);
    try {
      fit_targets(data, features, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  using O = FitOptions;
  const auto has = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos ? ::testing::AssertionSuccess()
                                                 : ::testing::AssertionFailure() << text;
  };
  const auto sgd = [](auto change) {
    return [=](O& o) {
      o.solver = "sgd";
      change(o);
    };
  };
  EXPECT_TRUE(has(refusal("8", sgd([](O& o) { o.lambda_grid = "1e-3"; })), "does not choose"));
  EXPECT_TRUE(has(refusal("8", sgd([](O& o) { o.variance = true; })), "variances"));
  EXPECT_TRUE(
      has(refusal("8", sgd([](O& o) { o.precision = Precision::double_; })), "single precision"));
  EXPECT_TRUE(has(refusal("8", [](O& o) { o.lambda = 1, o.lambda_grid = "1,2"; }), "one of them"));
  EXPECT_TRUE(has(refusal("8", [](O& o) { o.solver = "pcg", o.sgd.epochs = 3; }), "sgd"));
  const auto dual = [](const char* grid) {
    return [=](O& o) { o.solver = "dual", o.lambda_grid = grid; };
  };
  EXPECT_TRUE(has(refusal("128", dual("0")), "solver = dual needs a positive lambda"));
  EXPECT_EQ(refusal("128", dual("0,1e-3")), "");
}

// Checkpoints of early versions hold these numbers, and must be gone on from.
TEST(SolverTable, NamesAllAndKeepsTheNumbersOfCheckpoints) {
  const auto names = solver_names();
  ASSERT_EQ(names.size(), solvers().size() + 1);
  EXPECT_STREQ(names[0], kAutoSolver);
  const char* const early[] = {"cholesky", "dual", "pcg", "newton", "sgd", "sparse"};
  for (int k = 0; k < 6; ++k)
    EXPECT_EQ(find_solver(early[k]).traits.identity, std::to_string(k + 1)) << early[k];
  EXPECT_THROW(find_solver("cholsky"), Error);
  FitOptions wrong;
  wrong.solver = "cholsky";
  EXPECT_THROW(write_options(wrong), Error);
}

TEST(SolverChoice, SaysWhyASolverCannot) {
  const Data data = smooth_targets(300, 1);
  FitOptions options;
  options.solver = "dual";
  try {
    fit_targets(data, "64", options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("fewer rows than features"), std::string::npos);
  }
}

// tefm takes no more directions than there are rows; its estimate was that of all features.
TEST(FitMemory, OfTefmIsThatOfItsRows) {
  const FitOptions options;
  const FeatureMapEntry& tefm = find_feature_map("tefm");
  const Params params = tefm.complete({{"features", "4096"}, {"bandwidth", "1"}});
  DataSummary summary;
  summary.cols = 5;
  summary.targets = 1;
  const auto bytes = [&](Index rows) {
    summary.rows = rows;
    return problem_of(summary, tefm, params, options, 0).map_bytes;
  };
  EXPECT_LT(10 * bytes(30), bytes(4096));
  EXPECT_EQ(bytes(1000000), bytes(4096));
}

}  // namespace
}  // namespace kerf::detail
