// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/skeleton/skeleton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <cmath>
#include <ctime>
#include <functional>
#include <numbers>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/kernels/skeleton/skeleton_kernel.h"

namespace kerf::detail {
namespace {

using ::testing::HasSubstr;

std::vector<double> test_image(Index seed, Index h, Index w, Index c) {
  std::vector<double> x;
  for (Index i = 0; i < h; ++i)
    for (Index j = 0; j < w; ++j)
      for (Index l = 0; l < c; ++l)
        x.push_back(static_cast<double>((i * 7 + j * 13 + l * 29 + seed * 31 + (i * j) % 11) % 97) /
                        97 -
                    0.5);
  return x;
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    return error.what();
  }
  return "no error";
}

/// The definition, node by node and pair by pair, base kernels from their formulas.
double naive_value(const Skeleton& skeleton, Index node_number, const std::vector<double>& x,
                   const std::vector<double>& y) {
  const SkeletonNode& node = skeleton.nodes()[node_number];
  if (!node.is_input) {
    double sum = 0;
    for (const Index from : node.in) sum += naive_value(skeleton, from, x, y);
    const double r = sum / static_cast<double>(node.in.size());
    double value = 0;  // the series itself
    for (Index i = 0; i < 2000; ++i)
      value += node.activation.coefficient(i) * std::pow(r, static_cast<double>(i));
    return value;
  }
  const BaseSpace& base = node.base;
  double dot = 0, xx = 0, yy = 0, distance = 0;
  for (std::size_t a = 0; a < base.columns.size(); ++a) {
    const auto k = static_cast<std::size_t>(base.columns[a]);
    dot += x[k] * y[k];
    xx += x[k] * x[k];
    yy += y[k] * y[k];
    for (std::size_t b = 0; b < base.columns.size(); ++b) {
      const auto l = static_cast<std::size_t>(base.columns[b]);
      double entry = a == b ? base.scale * base.scale : 0;
      if (!base.factor.empty()) {
        entry = 0;
        for (std::size_t m = 0; m < base.factor.size(); ++m)
          entry += base.factor[a][m] * base.factor[b][m];
      }
      distance += (x[k] - y[k]) * entry * (x[l] - y[l]);
    }
  }
  const auto k = static_cast<std::size_t>(base.columns[0]);
  switch (base.kind) {
    case BaseKind::sign:
      return (x[k] >= 0) == (y[k] >= 0) ? 1 : -1;
    case BaseKind::circle:
      return std::cos(base.scale * (x[k] - y[k]));
    case BaseKind::gaussian:
      return std::exp(-distance / 2);
    case BaseKind::categorical:
      return base.columns.size() > 1 ? dot : (x[k] == y[k] ? 1 : 0);
    default:
      return dot / std::sqrt(xx * yy);
  }
}

constexpr const char* kMixed = R"({"columns": 8, "nodes": {
  "out": {"activation": "exp 0.7", "in": ["h", "t", "g"]},
  "h": {"activation": "relu", "in": ["a", "s", "c"]},
  "t": {"activation": "erf", "in": ["h", "o", "b"]},
  "a": {"space": "circle", "columns": [0], "scale": 1.5},
  "b": {"space": "sphere", "columns": [1, 2, 3]},
  "s": {"space": "sign", "columns": [4]},
  "c": {"space": "categorical", "columns": [7], "levels": 3},
  "o": {"space": "categorical", "columns": [5, 6]},
  "g": {"space": "gaussian", "columns": [0, 2], "matrix": [[2, 0.5], [0.5, 1]]}}})";

std::vector<double> mixed_row(std::uint64_t seed) {
  std::vector<double> x(8);
  rng::fill_normal(rng::Key{seed}, 0, x);
  x[5] = seed % 2 == 0 ? 1 : 0;
  x[6] = 1 - x[5];
  x[7] = static_cast<double>(seed % 3);
  return x;
}

TEST(Skeleton, AgreesWithTheReference) {
  struct Value {
    Index channels;
    const char* scale;
    double shallow, deep;
  };
  const Value reference[] = {{1, "3", 0.978778077827486, 0.9812380477339316},
                             {1, "12", 0.9666633690842941, 0.9702748389230504},
                             {3, "3", 0.97905529172728, 0.9824876758983698},
                             {3, "12", 0.9667182253185327, 0.9705292027766556}};
  for (const Value& value : reference) {
    const auto x = test_image(1, 24, 24, value.channels), y = test_image(4, 24, 24, value.channels);
    const std::string base = std::string("circle ") + value.scale;
    const std::string image = "24x24x" + std::to_string(value.channels);
    const SkeletonKernel shallow(SkeletonOptions{base + ", full exp 0.25", image});
    const SkeletonKernel deep(
        SkeletonOptions{base + ", conv 5/2 exp 0.25, conv 4/2 relu, full relu", image});
    EXPECT_NEAR(shallow(x, y), value.shallow, 1e-12);
    EXPECT_NEAR(deep(x, y), value.deep, 1e-12);
    EXPECT_NEAR(deep(x, x), 1, 1e-14);
  }
}

TEST(Skeleton, AgreesWithTheDefinitionForEveryBaseSpace) {
  const Skeleton skeleton = parse_skeleton(kMixed, {});
  const SkeletonKernel kernel(skeleton);
  const auto last = static_cast<Index>(skeleton.nodes().size()) - 1;
  EXPECT_EQ(skeleton.output().name, "out");
  for (std::uint64_t seed = 1; seed < 12; ++seed) {
    const auto x = mixed_row(100), y = mixed_row(seed);
    EXPECT_NEAR(kernel(x, y), naive_value(skeleton, last, x, y), 1e-12);
    EXPECT_NEAR(kernel(y, y), 1, 1e-14);
  }
}

TEST(Skeleton, GramBlocksGiveTheSingleValues) {
  const SkeletonKernel kernel(parse_skeleton(kMixed, {}));
  Matrix<float> x(70, 8);
  for (Index i = 0; i < x.rows(); ++i) {
    const auto row = mixed_row(static_cast<std::uint64_t>(i));
    std::ranges::copy(row, x.row(i).begin());
  }
  Matrix<double> out(70, 70);
  gram<double>(kernel, x.view(), x.view(), out.view());
  for (const Index i : {0, 3, 69})
    for (const Index j : {0, 31, 32, 69}) {
      const std::vector<double> left(x.row(i).begin(), x.row(i).end()),
          right(x.row(j).begin(), x.row(j).end());
      EXPECT_EQ(out(i, j), kernel(left, right));
    }
}

TEST(Skeleton, ComplexityFollowsTheRecursion) {
  const auto complexity = [](const std::string& text) {
    return parse_skeleton(text, {6, 6, 1}).complexity();
  };
  EXPECT_DOUBLE_EQ(complexity("circle 1, full exp 0.25"), 0.25);
  EXPECT_DOUBLE_EQ(complexity("circle 1, conv 3 relu, conv 2 relu, full relu"), 1);
  EXPECT_DOUBLE_EQ(complexity("circle 1, conv 3 power 2, full geometric 0.75"), 6);
  // Two paths of lengths 1 and 2 into the output.
  EXPECT_DOUBLE_EQ(parse_skeleton(R"({"columns": 1, "nodes": {"x": {"space": "circle",
      "columns": [0]}, "h": {"activation": "power 3", "in": ["x"]},
      "y": {"activation": "power 2", "in": ["x", "h"]}}})",
                                  {})
                       .complexity(),
                   2 * (1 + 3) / 2.0);
}

TEST(Skeleton, NamesWhatIsWrong) {
  const auto nodes = [](const std::string& text) {
    return error_of([&] { parse_skeleton("{\"columns\": 2, \"nodes\": {" + text + "}}", {}); });
  };
  const std::string x = R"("x": {"space": "circle", "columns": [0]}, )";
  EXPECT_THAT(nodes(x + R"("a": {"activation": "relu", "in": ["x", "b"]},
                           "b": {"activation": "relu", "in": ["a"]},
                           "o": {"activation": "relu", "in": ["b"]})"),
              HasSubstr("cycle"));
  EXPECT_THAT(nodes(x + R"("a": {"activation": "relu", "in": ["x"]},
                           "b": {"activation": "relu", "in": ["x"]})"),
              HasSubstr("two outputs, 'a' and 'b'"));
  EXPECT_THAT(nodes(x + R"("o": {"activation": "relu", "in": ["x"]},
                           "a": {"activation": "relu", "in": ["b"]},
                           "b": {"activation": "relu", "in": ["a"]})"),
              HasSubstr("does not reach the output"));
  EXPECT_THAT(nodes(x + R"("a": {"activation": "relu", "in": ["z"]})"), HasSubstr("\"z\""));
  EXPECT_THAT(nodes(x + R"("a": {"activation": "relu", "in": []})"), HasSubstr("no inputs"));
  EXPECT_THAT(nodes(R"("x": {"space": "circle", "columns": [2]})"), HasSubstr("column 2"));
  EXPECT_THAT(nodes(R"("x": {"space": "cirle", "columns": [0]})"), HasSubstr("cirle"));
  EXPECT_THAT(nodes(R"("x": {"spaces": "circle", "columns": [0]})"), HasSubstr("spaces"));
  EXPECT_THAT(nodes(R"("x": {"space": "gaussian", "columns": [0, 1],
                             "matrix": [[1, 2], [2, 1]]})"),
              HasSubstr("semi-definite"));
  const auto layers = [](const std::string& text) {
    return error_of([&] { parse_skeleton(text, {6, 6, 1}); });
  };
  EXPECT_THAT(layers("circle 1, conv 3/2 relu"), HasSubstr("leaves 2 x 2 nodes"));
  EXPECT_THAT(layers("circle 1, conv 7 relu, full relu"), HasSubstr("does not fit"));
  EXPECT_THAT(layers("circle, full relu"), HasSubstr("scale"));
  EXPECT_THAT(layers("circle 1, full reul"), HasSubstr("did you mean 'relu'"));
  EXPECT_THAT(layers("circle 1, full series 0.5 -0.1 0.6"), HasSubstr("negative"));
  EXPECT_THAT(layers("circle 1, full series 0.5 0.1"), HasSubstr("sum to 0.6"));
  EXPECT_THAT(layers("circle 1, full step"), HasSubstr("infinite mean degree"));
  EXPECT_THAT(layers("{nonsense"), HasSubstr("JSON"));
}

TEST(Skeleton, TheSizeOfLayersIsThatOfWhatIsBuilt) {
  for (
      const char* text :
      {"circle 1, full relu", "sign, conv 3/2 exp 2, full power 3",
       "circle 0.5, conv 2 relu, conv 3 erf, full relu",
       "gaussian 1 3/2, conv 2 relu, full identity", "sphere 4, full exp 1.5",
       R"({"image": [9, 8, 2], "base": {"space": "gaussian", "size": 2}, "layers": [{"activation": "power 2"}]})"}) {
    const ImageShape image{9, 8, 2};
    const SkeletonSize guess = skeleton_size(text, image);
    const SkeletonSize built = size_of(parse_skeleton(text, image));
    EXPECT_GE(guess.nodes, built.nodes) << text;  // a border that no window covers is counted
    EXPECT_LE(guess.nodes, built.nodes * 1.5) << text;
    EXPECT_GE(guess.edges, built.edges) << text;
    EXPECT_EQ(guess.widest, built.widest) << text;
    EXPECT_EQ(guess.gaussian, built.gaussian) << text;
    EXPECT_NEAR(guess.complexity, built.complexity, 1e-12 * built.complexity) << text;
  }
}

TEST(Skeleton, ShapesBeyondMemoryAreRefusedBeforeTheyAreBuilt) {
  const auto kind_of = [](const char* text, ImageShape image) {
    try {
      parse_skeleton(text, image);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::data;
  };
  EXPECT_EQ(kind_of("circle 1, full relu", {1 << 20, 1 << 20, 1}), ErrorKind::memory);
  EXPECT_EQ(kind_of("circle 1, conv 1000 relu, full relu", {4000, 4000, 1}), ErrorKind::memory);
  EXPECT_EQ(kind_of(R"({"columns": 1000000000000000000, "layers": [{"activation": "relu"}]})", {}),
            ErrorKind::memory);
}

TEST(Skeleton, ANumberBeyondDoubleIsNamed) {
  const std::string words = error_of([] {
    parse_skeleton(R"({"columns": 1, "base": {"space": "circle", "scale": 1e400}, "layers": []})",
                   {});
  });
  EXPECT_THAT(words, HasSubstr("1e400"));
  EXPECT_EQ(words.find("json.exception"), std::string::npos) << words;
}

// Seconds of this process, where a search through all nodes for each of them takes minutes.
TEST(Skeleton, ManyNodesAreReadAndWrittenInLinearTime) {
  constexpr int kNodes = 100000;
  std::string text = R"({"columns": 1, "nodes": {)", in;
  for (int k = 0; k < kNodes; ++k) {
    text += fmt::format(R"("n{}": {{"space": "circle", "columns": [0]}}, )", k);
    in += fmt::format(R"({}"n{}")", k > 0 ? ", " : "", k);
  }
  text += R"("out": {"activation": "relu", "in": [)" + in + "]}}}";
  const std::clock_t start = std::clock();
  const Skeleton skeleton = parse_skeleton(text, {});
  EXPECT_EQ(skeleton.nodes().size(), kNodes + 1u);
  EXPECT_EQ(parse_skeleton(skeleton_json(skeleton), {}).nodes().size(), kNodes + 1u);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 20);
}

TEST(Skeleton, JsonOfANodeListReadsBackTheSame) {
  for (const Skeleton& skeleton :
       {parse_skeleton(kMixed, {}),
        parse_skeleton("gaussian 0.5 2/2, conv 2 relu, full step to 9", {6, 6, 2}),
        parse_skeleton(R"({"image": [5, 5, 2], "base": {"space": "sphere", "size": 2},
                           "layers": [{"conv": 3, "activation": "geometric 0.5"},
                                      {"activation": "hermite 1 2 3"}]})",
                       {})}) {
    const Skeleton again = parse_skeleton(skeleton_json(skeleton), {});
    EXPECT_EQ(skeleton_json(again), skeleton_json(skeleton));
    std::vector<double> x(skeleton.columns()), y(x);
    rng::fill_normal(rng::Key{1}, 0, x);
    rng::fill_normal(rng::Key{2}, 0, y);
    EXPECT_NEAR(SkeletonKernel(again)(x, y), SkeletonKernel(skeleton)(x, y), 1e-14);
  }
}

// Coefficients against the closed form, their sum and their mean degree.  The tail of relu falls as
// i^(-5/2): the first 20,000 terms leave 4e-8 of the sum and 2e-3 of the mean.
TEST(DualSeries, CoefficientsAreThoseOfTheFunction) {
  for (const char* text :
       {"exp 0.25", "exp 9", "relu", "identity", "power 3", "geometric 0.6", "erf",
        "hermite 1 2 0 3", "series 0.25 0.5 0.25", "step to 8", "relu to 6", "power 0"}) {
    const DualSeries dual(text);
    double sum = 0, mean = 0;
    for (Index i = 0; i < 20000; ++i) {
      sum += dual.coefficient(i);
      mean += static_cast<double>(i) * dual.coefficient(i);
    }
    EXPECT_NEAR(sum, 1, 4e-7) << text;
    EXPECT_NEAR(mean, dual.mean_degree(), 4e-3 * std::max(1.0, mean)) << text;
    for (const double r : {-0.9, -0.3, 0.0, 0.2, 0.8}) {
      double value = 0;
      for (Index i = 0; i < 400; ++i)
        value += dual.coefficient(i) * std::pow(r, static_cast<double>(i));
      EXPECT_NEAR(dual(r), value, 1e-13) << text << " at " << r;
    }
    EXPECT_NEAR(dual(1), 1, 1e-14) << text;
  }
  EXPECT_DOUBLE_EQ(DualSeries("relu").coefficient(2), 1 / (2 * std::numbers::pi));
}

TEST(DualSeries, DegreesFollowTheCoefficients) {
  for (const char* text : {"exp 0.25", "relu", "geometric 0.99", "erf", "step to 8"}) {
    const DualSeries dual(text);
    double below = 0;
    for (Index i = 0; i < 400; ++i) {  // past the table of sums
      const double a = dual.coefficient(i);
      if (a > 1e-12) {
        EXPECT_EQ(dual.degree(below + 0.5 * a), i) << text;
      }
      below += a;
    }
  }
  EXPECT_EQ(DualSeries("power 4").degree(0.3), 4);
}

}  // namespace
}  // namespace kerf::detail
