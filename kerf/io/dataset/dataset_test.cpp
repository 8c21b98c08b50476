// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/dataset/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kerf/io/dataset/test_files.h"

namespace kerf::detail {
namespace {

using io::error_of;
using io::gather;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

class DatasetTest : public ::testing::Test {
 protected:
  Dataset open(std::string_view text, const Params& params = {}) {
    return open_dataset({folder_.write("t.csv", text)}, read_options<DataOptions>(params, "data"),
                        rng::Key{1});
  }
  std::string error(std::string_view text, const Params& params = {}) {
    return error_of([&] { open(text, params); });
  }
  std::unique_ptr<EncodedSource> apply(const Encoding& encoding, std::string_view text,
                                       io::Targets targets = io::Targets::optional) {
    return open_for_model({folder_.write("new.csv", text)}, encoding, {}, targets);
  }
  std::string apply_error(const Encoding& encoding, std::string_view text,
                          io::Targets targets = io::Targets::optional) {
    return error_of([&] { gather(*apply(encoding, text, targets)); });
  }
  static std::vector<float> row(const RowBlock& block, Index i) {
    return {block.dense.row(i).begin(), block.dense.row(i).end()};
  }
  static std::vector<double> targets(const RowBlock& block) {
    return {block.targets.data(),
            block.targets.data() + block.targets.rows() * block.targets.cols()};
  }

  io::TestFolder folder_;
};

std::string numbers(int rows, const char* last = nullptr) {
  std::string text;
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i) + "," + std::to_string(i * 0.5) + "," +
            (last != nullptr ? last : std::to_string(i * 0.25 + 0.1)) + "\n";
  return text;
}

TEST_F(DatasetTest, RegressionWithTheLastColumnAsTarget) {
  auto data = open(numbers(10));
  EXPECT_EQ(data.summary.task, Task::regression);
  EXPECT_THAT(data.summary.task_reason, HasSubstr("not whole"));
  EXPECT_EQ(data.summary.rows, 10);
  EXPECT_EQ(data.summary.cols, 2);
  EXPECT_THAT(data.summary.mean, ElementsAre(4.5, 2.25));
  EXPECT_DOUBLE_EQ(data.summary.mean_square[0], 28.5);
  const RowBlock all = gather(*data.source);
  EXPECT_THAT(row(all, 3), ElementsAre(3.f, 1.5f));
  EXPECT_DOUBLE_EQ(all.targets(3, 0), 0.85);
  data.source->rewind();
  EXPECT_EQ(gather(*data.source).rows(), 10);
}

TEST_F(DatasetTest, ClassesKeepOrderAndSpelling) {
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += std::to_string(i) + (i % 3 == 0 ? ",10\n" : i % 3 == 1 ? ",9.0\n" : ",-1\n");
  auto data = open(text);
  EXPECT_EQ(data.summary.task, Task::classification);
  EXPECT_THAT(data.summary.classes, ElementsAre("-1", "9.0", "10"));
  EXPECT_THAT(data.summary.class_rows, ElementsAre(6, 7, 7));
  EXPECT_EQ(gather(*data.source).targets(0, 0), 2);
  auto words = open("1,b\n2,a\n3,b\n");
  EXPECT_THAT(words.summary.classes, ElementsAre("a", "b"));
  EXPECT_THAT(targets(gather(*words.source)), ElementsAre(1, 0, 1));
}

TEST_F(DatasetTest, TaskAutoCountsDistinctValues) {
  std::string few, many;
  for (int i = 0; i < 50; ++i) few += std::to_string(i) + "," + std::to_string(i % 10) + "\n";
  for (int i = 0; i < 50; ++i) many += std::to_string(i) + "," + std::to_string(i % 11) + "\n";
  EXPECT_EQ(open(few).summary.task, Task::classification);
  EXPECT_EQ(open(many).summary.task, Task::regression);
  EXPECT_EQ(open(many, {{"task", "classification"}}).summary.classes.size(), 11u);
  EXPECT_EQ(open(few, {{"task", "regression"}}).summary.task, Task::regression);
}

TEST_F(DatasetTest, TargetsByNameNumberAndSeveral) {
  const std::string text = "a,b,1\n1.5,2.5,3.5\n4.5,5.5,6.5\n";
  EXPECT_THAT(targets(gather(*open(text, {{"target", "a"}}).source)), ElementsAre(1.5, 4.5));
  EXPECT_THAT(targets(gather(*open(text, {{"target", "first"}}).source)), ElementsAre(1.5, 4.5));
  EXPECT_THAT(targets(gather(*open(text, {{"target", "1"}}).source)), ElementsAre(3.5, 6.5))
      << "a name wins over a number";
  EXPECT_THAT(targets(gather(*open(text, {{"target", "-2"}}).source)), ElementsAre(2.5, 5.5));
  EXPECT_THAT(targets(gather(*open(text, {{"target", "b,a"}}).source)),
              ElementsAre(2.5, 1.5, 5.5, 4.5));
  EXPECT_EQ(open(text, {{"target", "none"}}).summary.cols, 3);
  EXPECT_EQ(open(text, {{"target", "none"}}).summary.targets, 0);
  EXPECT_THAT(error(text, {{"target", "aa"}}), HasSubstr("did you mean 'a'"));
  EXPECT_THAT(error(text, {{"target", "7"}}), HasSubstr("0 to 2"));
  EXPECT_THAT(error(text, {{"target", "a"}, {"drop", "a"}}), HasSubstr("dropped"));
  try {
    open(text, {{"target", "zzz"}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
  }
}

TEST_F(DatasetTest, DropAndWeights) {
  const std::string text = "a,b,c,d,w,y\n1,2,3,4,0.5,1.5\n5,6,7,8,2,2.5\n";
  auto data = open(text, {{"drop", "a,2-3"}, {"weights", "w"}});
  EXPECT_EQ(data.summary.cols, 1);
  EXPECT_EQ(data.summary.weight, 2.5);
  const RowBlock all = gather(*data.source);
  EXPECT_THAT(row(all, 1), ElementsAre(6.f));
  EXPECT_THAT(all.weights, ElementsAre(0.5, 2));
  EXPECT_THAT(error("1,-1,2.5\n2,1,3.5\n", {{"weights", "1"}}), HasSubstr("negative"));
}

TEST_F(DatasetTest, WordsBecomeOneHotColumns) {
  auto data = open("colour,x,y\nred,1,0.5\nblue,2,1.5\nred,3,2.5\n7,4,3.5\n");
  EXPECT_THAT(data.encoding.input_names(),
              ElementsAre("'colour'=7", "'colour'=blue", "'colour'=red", "'x'"));
  EXPECT_THAT(data.summary.one_hot, ElementsAre(true, true, true, false));
  EXPECT_THAT(data.summary.mean, ElementsAre(0.25, 0.25, 0.5, 2.5));
  const RowBlock all = gather(*data.source);
  EXPECT_THAT(row(all, 0), ElementsAre(0.f, 0.f, 1.f, 1.f));
  EXPECT_THAT(row(all, 1), ElementsAre(0.f, 1.f, 0.f, 2.f));
  EXPECT_THAT(row(all, 3), ElementsAre(1.f, 0.f, 0.f, 4.f));
  EXPECT_THAT(error("1,2.5\nx,3.5\n3,4.5\n"), HasSubstr("t.csv:2:1: 'x' in column 0"));
  EXPECT_THAT(error("a,2.5\nb,3.5\nc,4.5\n", {{"max-levels", "2"}, {"header", "no"}}),
              HasSubstr("more than 2 different words"));
}

TEST_F(DatasetTest, MissingCellsByRule) {
  const std::string text = "a,b,y\n1,2,0.5\n?,4,1.5\n3,NA,2.5\n5,6,3.5\n";
  EXPECT_THAT(error(text), HasSubstr("t.csv:3:1: the value of 'a' is missing"));
  auto mean = open(text, {{"missing", "mean"}});
  EXPECT_EQ(mean.missing_cells, 2);
  EXPECT_THAT(mean.summary.mean, ElementsAre(3, 4));
  const RowBlock all = gather(*mean.source);
  EXPECT_THAT(row(all, 1), ElementsAre(3.f, 4.f));
  EXPECT_THAT(row(all, 2), ElementsAre(3.f, 4.f));
  auto drop = open(text, {{"missing", "drop"}});
  EXPECT_EQ(drop.dropped_rows, 2);
  EXPECT_EQ(drop.summary.rows, 2);
  EXPECT_THAT(targets(gather(*drop.source)), ElementsAre(0.5, 3.5));
  EXPECT_THAT(error("1,0.5\n2,\n", {{"missing", "mean"}}), HasSubstr("missing = drop"));
  EXPECT_THAT(error("1,,0.5\n2,,1.5\n", {{"missing", "mean"}}),
              HasSubstr("all values of column 1"));
  EXPECT_THAT(error("1,,0.5\n2,,1.5\n", {{"missing", "drop"}}),
              HasSubstr("every one of the 2 rows"));
}

TEST_F(DatasetTest, SaysWhatCannotBeLearned) {
  EXPECT_THAT(error("a,b\n"), HasSubstr("a header but no rows"));
  EXPECT_THAT(error("1,1\n2,1\n3,1\n4,1\n5,1\n"), HasSubstr("one value only"));
  EXPECT_THAT(error("1.5\n2.5\n"), HasSubstr("no input column"));
  EXPECT_THAT(error("1,inf,2.5\n2,3,3.5\n4,4,4.5\n"), HasSubstr("t.csv:1:3: 'inf'"));
  EXPECT_THAT(error_of([&] { gather(*open("1,1e39,2.5\n2,3,3.5\n").source); }),
              HasSubstr("single precision"));
  EXPECT_THAT(error("1,x\n2,3.5\n4,4.5\n", {{"task", "regression"}, {"header", "no"}}),
              HasSubstr("t.csv:1:3: the target of a regression"));
}

TEST_F(DatasetTest, SummaryIsThatOfTheEncodedRows) {
  std::string text = "g,x,y,z\n";
  for (int i = 0; i < 3000; ++i)
    text += std::string(i % 3 == 0 ? "u" : "v") + "," +
            (i % 10 == 0 ? "" : std::to_string(1e6 + i * 0.37)) + "," + std::to_string(i % 7) +
            "," + std::to_string(i % 4) + "\n";
  auto data = open(text, {{"missing", "mean"}});
  const DataSummary plain =
      summarise(*data.source, Task::classification, data.summary.classes, rng::Key{1});
  EXPECT_EQ(plain.rows, data.summary.rows);
  EXPECT_EQ(plain.class_rows, data.summary.class_rows);
  for (std::size_t j = 0; j < plain.mean.size(); ++j) {
    EXPECT_NEAR(plain.mean[j], data.summary.mean[j], 1e-7 * std::abs(plain.mean[j]) + 1e-12);
    EXPECT_NEAR(plain.mean_square[j], data.summary.mean_square[j],
                2e-7 * std::abs(plain.mean_square[j]) + 1e-12);
  }
  ASSERT_EQ(plain.sample.rows(), data.summary.sample.rows());
  for (Index i = 0; i < plain.sample.rows(); ++i)
    EXPECT_EQ(row(plain.sample, i), row(data.summary.sample, i));
}

TEST_F(DatasetTest, RowsLimitsWhatIsRead) {
  auto data = open(numbers(5000), {{"rows", "3000"}});
  EXPECT_EQ(data.summary.rows, 3000);
  EXPECT_EQ(gather(*data.source).rows(), 3000);
}

TEST_F(DatasetTest, NewRowsMatchByNameOrPosition) {
  auto data = open("a,b,y\n1,2,0.5\n3,4,1.5\n5,7,2.5\n");
  const Encoding encoding = Encoding::from_json(data.encoding.to_json());
  EXPECT_THAT(row(gather(*apply(encoding, "y,b,extra,a\n0,20,9,10\n")), 0),
              ElementsAre(10.f, 20.f));
  EXPECT_FALSE(apply(encoding, "b,a\n20,10\n")->has_targets());
  EXPECT_TRUE(apply(encoding, "y,b,a\n1,20,10\n")->has_targets());
  EXPECT_FALSE(apply(encoding, "y,b,a\n1,20,10\n", io::Targets::ignore)->has_targets());
  EXPECT_THAT(row(gather(*apply(encoding, "10,20,1\n")), 0), ElementsAre(10.f, 20.f));
  EXPECT_THAT(row(gather(*apply(encoding, "10,20\n")), 0), ElementsAre(10.f, 20.f));
  EXPECT_THAT(apply_error(encoding, "b,c\n20,10\n"), HasSubstr("no column 'a'"));
  EXPECT_THAT(apply_error(encoding, "1,2,3,4\n"),
              HasSubstr("has 4 columns, but the training rows had 3"));
  EXPECT_THAT(apply_error(encoding, "10,20\n", io::Targets::require), HasSubstr("no target"));
  EXPECT_THAT(apply_error(encoding, "10,x\n1,2\n"), HasSubstr("should be a finite number"));
  EXPECT_THAT(apply_error(encoding, "10,\n1,2\n"), HasSubstr("missing"));
}

TEST_F(DatasetTest, NewLevelsAreZerosAndNewClassesErrors) {
  auto data = open("g,x,y\nu,1,p\nv,2,q\nu,3,p\n");
  const Encoding encoding = Encoding::from_json(data.encoding.to_json());
  auto rows = apply(encoding, "g,x\nw,1\nv,2\n");
  const RowBlock all = gather(*rows);
  EXPECT_THAT(row(all, 0), ElementsAre(0.f, 0.f, 1.f));
  EXPECT_THAT(row(all, 1), ElementsAre(0.f, 1.f, 2.f));
  EXPECT_EQ(rows->counts().unknown_levels, 1);
  EXPECT_THAT(apply_error(encoding, "g,x,y\nu,1,z\n"),
              HasSubstr("class 'z' is none of the training classes (p, q)"));
  EXPECT_EQ(apply_error(encoding, "g,x,y\nu,1,z\n", io::Targets::ignore), "");
}

TEST_F(DatasetTest, SparseRows) {
  const std::string one =
      "+1 1:0.5 3:2\n-1 2:1\n+1 3:4\n-1 1:1\n+1 2:1\n-1 1:1\n1 1:1\n-1 1:2\n1 1:1\n1 2:3\n";
  auto data = open(one);
  EXPECT_TRUE(data.summary.is_sparse);
  EXPECT_EQ(data.summary.cols, 3);
  EXPECT_THAT(data.summary.classes, ElementsAre("-1", "1"));
  EXPECT_DOUBLE_EQ(data.summary.mean[2], 0.6);
  const RowBlock all = gather(*data.source);
  EXPECT_THAT(all.sparse.columns, testing::SizeIs(11));
  EXPECT_EQ(all.sparse.columns[1], 2);
  auto more = apply(data.encoding, "1 1:1 9:1\n");
  EXPECT_EQ(gather(*more).sparse.values.size(), 1u);
  EXPECT_EQ(more->counts().unknown_features, 1);
  EXPECT_THAT(apply_error(data.encoding, "1 0:1\n"), HasSubstr("index 0"));
  EXPECT_THAT(apply_error(data.encoding, "1,2,3\n"), HasSubstr("sparse"));
  EXPECT_EQ(open("1.5 0:1 2:1\n2.5 1:1\n").summary.cols, 3);
  EXPECT_THAT(error("1.5 1:1\n2.5 2000000000:1\n"), HasSubstr("columns"));
}

TEST_F(DatasetTest, ImagesOfBytes) {
  std::string images("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x01", 16),
      labels("\0\0\x08\x01\0\0\0\x02", 8);
  folder_.write("labels-idx1", labels + "\x03\x07");
  const auto path = folder_.write("images-idx3", images + "\xff\x01\x02\x03");
  auto data = open_dataset({path}, {}, rng::Key{1});
  EXPECT_TRUE(data.summary.is_bytes);
  EXPECT_EQ(data.summary.image, (ImageShape{2, 1, 1}));
  EXPECT_THAT(data.summary.classes, ElementsAre("3", "7"));
  EXPECT_THAT(row(gather(*data.source), 0), ElementsAre(255.f, 1.f));
  const Encoding encoding = Encoding::from_json(data.encoding.to_json());
  EXPECT_THAT(row(gather(*apply(encoding, "5,6,7\n")), 0), ElementsAre(5.f, 6.f));
  EXPECT_THAT(apply_error(encoding, "5,6,7,8\n"), HasSubstr("2 x 1 x 1"));
  std::filesystem::remove(folder_.path("labels-idx1"));
  EXPECT_THAT(error_of([&] { open_dataset({path}, {}, rng::Key{1}); }),
              HasSubstr("with labels FILE"));
  EXPECT_EQ(open_dataset({path}, {.target = "none"}, rng::Key{1}).summary.targets, 0);
}

TEST_F(DatasetTest, ImageOptionOnATable) {
  auto data = open("1,2,3,4,0.5\n5,6,7,255,1.5\n", {{"image", "2x2"}});
  EXPECT_EQ(data.summary.image, (ImageShape{2, 2, 1}));
  EXPECT_THAT(error("1,2,3,4,0.5\n5,6,7,255,1.5\n", {{"image", "2x3"}}), HasSubstr("have 4"));
  EXPECT_THAT(error("1,2,3,4,0.5\n5,6,7,255,1.5\n", {{"image", "2x"}}),
              HasSubstr("image is HEIGHTxWIDTH"));
}

TEST_F(DatasetTest, LargeOffsetsSurviveCentring) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += std::to_string(1371713733 + i) + "," + std::to_string(i * 0.5) + "\n";
  auto data = open(text);
  data.centre_large_columns();
  const RowBlock all = gather(*data.source);
  EXPECT_FLOAT_EQ(all.dense(0, 0), -49.5f);
  EXPECT_FLOAT_EQ(all.dense(99, 0), 49.5f);
  EXPECT_NEAR(data.summary.mean_square[0], 833.25, 1e-9);
  EXPECT_FLOAT_EQ(
      gather(*apply(Encoding::from_json(data.encoding.to_json()), "1371713733\n")).dense(0, 0),
      -49.5f);
}

TEST_F(DatasetTest, DroppedRowsStillGetPredictions) {
  auto data = open("a,b,y\n1,2,0.5\n?,4,1.5\n3,2,2.5\n5,6,3.5\n", {{"missing", "drop"}});
  EXPECT_EQ(gather(*apply(data.encoding, "a,b\n?,2\n1,3\n", io::Targets::ignore)).rows(), 2);
  EXPECT_EQ(gather(*apply(data.encoding, "a,b,y\n?,2,1\n1,3,1\n", io::Targets::require)).rows(), 1);
}

TEST(EncodingJson, RoundTripsAndRefusesDamage) {
  io::TestFolder folder;
  auto data = open_dataset({folder.write("t.csv", "g,x,w,y\nu,1,1,p\nv,2,1,q\nu,3,2,p\n")},
                           {.weights = "w", .missing = Missing::mean}, rng::Key{1});
  const std::string text = data.encoding.to_json();
  EXPECT_EQ(Encoding::from_json(text).to_json(), text);
  // Every text that differs in one byte is refused, or is a valid encoding too.
  for (std::size_t i = 0; i < text.size(); ++i)
    for (const char c : {'0', '9', '"', '}', 'x', '-'}) {
      std::string changed = text;
      changed[i] = c;
      try {
        Encoding::from_json(changed).validate();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::data);
      }
    }
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_THROW(Encoding::from_json(text.substr(0, n)), Error);
  EXPECT_THROW(Encoding::from_json("[]"), Error);
  EXPECT_THROW(Encoding::from_json(std::string(100000, '[')), Error);
}

TEST_F(DatasetTest, PlacesBehindACellOfSeveralLines) {
  const std::string text = "t,x,y\n\"u\nv\",1,0.5\n\"u\nv\",bad,1.5\nw,3,2.5\n";
  EXPECT_THAT(error(text), HasSubstr("t.csv:5:4: 'bad' in 'x'"));
}

TEST_F(DatasetTest, TheSampleIsCentredWithTheRows) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += (i % 10 == 3 ? "" : std::to_string(1371713733 + i)) + "," + std::to_string(i * 0.5) +
            (i % 2 == 0 ? ",u" : ",v") + "," + std::to_string(i * 0.3) + "\n";
  auto data = open(text, {{"missing", "mean"}});
  data.centre_large_columns();
  const RowBlock all = gather(*data.source);
  ASSERT_EQ(data.summary.sample.rows(), all.rows());
  for (Index i = 0; i < all.rows(); ++i) {
    EXPECT_EQ(row(data.summary.sample, i), row(all, i));
    EXPECT_EQ(data.summary.sample.targets(i, 0), all.targets(i, 0));
  }
  EXPECT_EQ(data.source->counts().imputed, 10) << "the sample is no part of the rows read";
}

TEST_F(DatasetTest, Latin1WordsSurviveTheModelFile) {
  auto data = open("\xE9tat,x,y\n\xE9t\xE9,1,\xE0\n\xE8t\xE9,2,\xE8\n\xE9t\xE9,3,\xE0\n");
  const Encoding encoding = Encoding::from_json(data.encoding.to_json());
  EXPECT_THAT(encoding.classes, ElementsAre("\xC3\xA0", "\xC3\xA8"));
  // New rows match in either spelling.
  for (const char* rows :
       {"x,\xE9tat,y\n1,\xE9t\xE9,\xE8\n", "x,\xC3\xA9tat,y\n1,\xC3\xA9t\xC3\xA9,\xC3\xA8\n"}) {
    auto source = apply(encoding, rows);
    const RowBlock all = gather(*source);
    EXPECT_THAT(row(all, 0), ElementsAre(0.f, 1.f, 1.f));
    EXPECT_THAT(targets(all), ElementsAre(1));
    EXPECT_EQ(source->counts().unknown_levels, 0);
  }
}

TEST(EncodingJson, RefusesImagesOfNegativeSize) {
  io::TestFolder folder;
  auto data = open_dataset({folder.write("t.csv", "1,2.5\n2,3.5\n")}, {}, rng::Key{1});
  std::string text = data.encoding.to_json();
  for (const char* image : {"[-1,0,0]", "[0,-1,0]", "[0,0,-1]", "[-1,-1,1]"})
    EXPECT_THROW(Encoding::from_json(std::string("{\"image\":") + image + "," + text.substr(1)),
                 Error)
        << image;
}

TEST_F(DatasetTest, WeightsThatCannotBeMeant) {
  EXPECT_THAT(error("1,0,2.5\n2,0,3.5\n", {{"weights", "1"}}), HasSubstr("the weights sum to"));
  EXPECT_THAT(error("1,1,2.5\n2,-1,3.5\n", {{"weights", "1"}}), HasSubstr("t.csv:2: "));
  EXPECT_THAT(error("1,1,2.5\n2,inf,3.5\n", {{"weights", "1"}}), HasSubstr("t.csv:2: "));
  EXPECT_THAT(error("1,1,2.5\n2,nan,3.5\n", {{"weights", "1"}}), HasSubstr("t.csv:2:3: "));
  EXPECT_THAT(error("1,1e308,2.5\n2,1e308,3.5\n", {{"weights", "1"}}),
              HasSubstr("the weights sum to"));
}

TEST_F(DatasetTest, BytesAreAskedOfTheInputsOnly) {
  const Params image{{"image", "2x2"}};
  EXPECT_TRUE(open("1,2,3,4,0.5\n5,6,7,255,-1.5\n", image).summary.is_bytes);
  EXPECT_FALSE(open("1,2,3,4,1\n5,6,7,256,2\n", image).summary.is_bytes);
}

TEST_F(DatasetTest, MissingPixelsGetTheMeanOfTheirPixel) {
  // Float images (2, 4) and (NaN, 8).
  const std::string images("\0\0\x0D\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x40\0\0\0\x40\x80\0\0", 24);
  const auto path = folder_.write("i", images + std::string("\x7F\xC0\0\0\x41\0\0\0", 8));
  auto data = open_dataset({path}, {.target = "none", .missing = Missing::mean}, rng::Key{1});
  EXPECT_THAT(row(gather(*data.source), 1), ElementsAre(2.f, 8.f));
  EXPECT_THAT(row(data.summary.sample, 1), ElementsAre(2.f, 8.f));
  const Encoding encoding = Encoding::from_json(data.encoding.to_json());
  EXPECT_THAT(row(gather(*apply(encoding, "1,5\n3,?\n")), 1), ElementsAre(3.f, 6.f));
}

}  // namespace
}  // namespace kerf::detail
