// How options are named in messages, for each of the three faces.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/spelling.h"

#include <gtest/gtest.h>

#include <vector>

#include "kerf/api/error.h"
#include "kerf/core/options.h"

namespace kerf::detail {
namespace {

/// The face of the process is another one as long as this stands.
struct AsFace {
  explicit AsFace(Face other) : before(face()) { set_face(other); }
  ~AsFace() { set_face(before); }
  AsFace(const AsFace&) = delete;
  AsFace& operator=(const AsFace&) = delete;
  Face before;
};

using Words = std::vector<std::string>;

TEST(Spelling, IsTheOneOfTheFace) {
  const Words kinds = {"relu", "erf"};
  const auto spelled = [&](Face reader) {
    const AsFace as(reader);
    return Words{spell("lambda"),      spell("solver", "sgd"), spell("features", 8),
                 spell("kind", kinds), spell_on("train-last"), spell_bare("lambda")};
  };
  EXPECT_EQ(spelled(Face::program), (Words{"--lambda", "--solver sgd", "--features 8",
                                           "--kind relu or erf", "--train-last", "lambda"}));
  EXPECT_EQ(spelled(Face::python), (Words{"lambda_", "solver='sgd'", "features=8",
                                          "kind='relu' or 'erf'", "train_last=True", "lambda_"}));
  EXPECT_EQ(spelled(Face::cpp), (Words{"lambda", "solver = sgd", "features = 8",
                                       "kind = relu or erf", "train-last", "lambda"}));
  EXPECT_EQ(face(), Face::cpp);  // of a process that says nothing
}

TEST(Spelling, ValuesInPythonAreLiteralsOfIt) {
  const AsFace as(Face::python);
  EXPECT_EQ(spell("clip", "false"), "clip=False");
  EXPECT_EQ(spell("bandwidth", "1e-05"), "bandwidth=1e-05");
  EXPECT_EQ(spell("target", "it's"), R"(target='it\'s')");
  EXPECT_EQ(spell("delimiter", "\\"), R"(delimiter='\\')");
  EXPECT_EQ(spell("checkpoint", ""), "checkpoint=''");
  EXPECT_EQ(spell("holdout", 0.25), "holdout=0.25");
  EXPECT_EQ(spell("seed", 3), "random_state=3");
  EXPECT_EQ(spell("memory", "8G"), "memory_limit='8G'");
}

struct SomeOptions {
  Index count = 3;
  double lambda = 1;
  void describe(OptionVisitor& v) {
    v.integer("max-count", count, {1, 100}, "how many");
    v.real("lambda", lambda, {0, 10}, "not with " + spell("max-count"));
  }
};

std::string message(const Params& params) {
  try {
    read_options<SomeOptions>(params, "thing");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Spelling, MessagesAndHelpOfOptionsFollowIt) {
  const AsFace as(Face::python);
  EXPECT_EQ(message({{"max-count", "101"}}), "thing: max_count must be between 1 and 100, not 101");
  EXPECT_EQ(message({{"max-cont", "1"}}),
            "thing has no option max_cont (did you mean 'max_count'?); it has max_count, lambda_");
  EXPECT_EQ(list_options<SomeOptions>()[1].help, "not with max_count");
  set_face(Face::program);
  EXPECT_EQ(message({{"max-cont", "1"}}),
            "thing has no option --max-cont (did you mean 'max-count'?); it has --max-count, "
            "--lambda");
  EXPECT_EQ(list_options<SomeOptions>()[1].help, "not with --max-count");
}

}  // namespace
}  // namespace kerf::detail
