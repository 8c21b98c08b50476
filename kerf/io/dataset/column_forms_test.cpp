// Columns as people have them: dates, amounts, codes, words for missing cells, in training and in new
// rows.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kerf/io/dataset/dataset.h"
#include "kerf/io/dataset/test_files.h"
#include "kerf/io/memory/memory_reader.h"

namespace kerf::detail {
namespace {

using io::error_of;
using io::gather;
using testing::ElementsAre;
using testing::HasSubstr;

class ColumnFormsTest : public ::testing::Test {
 protected:
  Dataset open(std::string_view text, const DataOptions& options = {}) {
    return open_dataset({folder_.write("t.csv", text)}, options, rng::Key{1});
  }
  /// Inputs of the first of new rows, as a model has them that was saved and loaded.
  std::vector<float> inputs(const Encoding& encoding, std::string_view text,
                            const DataOptions& options = {}) {
    const Encoding loaded = Encoding::from_json(encoding.to_json());
    EXPECT_EQ(loaded.to_json(), encoding.to_json());
    const auto source =
        open_for_model({folder_.write("new.csv", text)}, loaded, options, io::Targets::ignore);
    const RowBlock block = gather(*source);
    return {block.dense.row(0).begin(), block.dense.row(0).end()};
  }
  std::string refused(const Encoding& encoding, std::string_view text) {
    return error_of([&] { inputs(encoding, text); });
  }

  io::TestFolder folder_;
};

/// Dates of 40 rows, a day and three hours apart.
std::string dates() {
  std::string text = "when,y\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("2024-{:02}-{:02} {:02}:30,{}.5\n", 1 + i / 20, 1 + i % 20, 3 * (i % 8), i);
  return text;
}

TEST_F(ColumnFormsTest, DatesBecomeNumbers) {
  Dataset data = open(dates());
  EXPECT_THAT(data.encoding.input_names(),
              ElementsAre("'when'", "'when' (hour)", "'when' (weekday)", "'when' (month)"));
  EXPECT_THAT(data.notes, ElementsAre(HasSubstr("'when' holds dates")));
  // Monday, the first of January, is day 0.
  EXPECT_THAT(inputs(data.encoding, "when\n2024-01-03 12:00\n"), ElementsAre(2.5, 12, 3, 1));
  EXPECT_THAT(inputs(data.encoding, "when\n03.02.2024\n"), ElementsAre(33, 0, 6, 2));
  EXPECT_THAT(refused(data.encoding, "when\n20240103\n"), HasSubstr("should be a date"));
  EXPECT_THAT(refused(data.encoding, "when\nsoon\n"), HasSubstr("should be a date"));
  EXPECT_THAT(refused(data.encoding, "when\n2024-01-03 12:00Z\n"), HasSubstr("without zone"));
  // 03/02/2024 may be two days, and no training row told which.
  EXPECT_THAT(refused(data.encoding, "when\n03/02/2024\n"), HasSubstr("should be a date"));
  // What the summary says is what rows are.
  const RowBlock all = gather(*data.source);
  for (Index j = 0; j < data.summary.cols; ++j) {
    double mean = 0, square = 0;
    for (Index i = 0; i < all.rows(); ++i) {
      mean += all.dense(i, j) / 40;
      square += all.dense(i, j) * all.dense(i, j) / 40;
    }
    EXPECT_NEAR(data.summary.mean[j], mean, 1e-5);
    EXPECT_NEAR(data.summary.mean_square[j], square, 1e-3);
    EXPECT_NEAR(data.variance[j], square - mean * mean, 1e-3);
    for (Index i = 0; i < all.rows(); ++i)
      EXPECT_EQ(data.summary.sample.dense(i, j), all.dense(i, j));
  }
}

TEST_F(ColumnFormsTest, TheOrderOfDayAndMonthIsThatOfTheColumn) {
  const Dataset us = open("when,y\n01/02/2024,1.5\n01/31/2024,2.5\n03/05/2024,1\n");
  const Dataset eu = open("when,y\n01/02/2024,1.5\n31/01/2024,2.5\n03/05/2024,1\n");
  EXPECT_EQ(inputs(us.encoding, "when\n02/01/2024\n").back(), 2);
  EXPECT_EQ(inputs(eu.encoding, "when\n02/01/2024\n").back(), 1);
  EXPECT_THAT(refused(us.encoding, "when\n31/01/2024\n"), HasSubstr("month before day"));
  const std::string open_question = "when,y\n01/02/2024,1.5\n03/04/2024,2.5\n03/05/2024,1\n";
  EXPECT_THAT(error_of([&] { open(open_question); }), HasSubstr("dates = dmy"));
  EXPECT_EQ(
      inputs(open(open_question, {.dates = DateOrder::mdy}).encoding, "when\n02/01/2024\n").back(),
      2);
}

TEST_F(ColumnFormsTest, DatesOfSeveralKindsAreRefused) {
  const auto mixed = HasSubstr("of another kind");
  EXPECT_THAT(error_of([&] { open("w,y\n31/01/2024,1.5\n01/31/2024,2.5\n"); }), mixed);
  EXPECT_THAT(error_of([&] { open("w,y\n2024-01-31,1.5\n12:30,2.5\n"); }), mixed);
  EXPECT_THAT(error_of([&] { open("w,y\n2024-01-31T10:00,1.5\n2024-01-31T10:00Z,2.5\n"); }), mixed);
  EXPECT_THAT(error_of([&] { open("w,y\n2024-01-31,1.5\n2024-02-01,2\n45323,2.5\n"); }), mixed);
  EXPECT_THAT(
      error_of([&] { open("w,y\n31/01/2024,1.5\n01/02/2024,2.5\n", {.dates = DateOrder::mdy}); }),
      HasSubstr("do not fit dates = mdy"));
}

TEST_F(ColumnFormsTest, MissingDatesAreTheMeanOfEachPart) {
  const std::string text = "when,y\n2024-01-01,1.5\n2024-01-03,2.5\n,3\n2024-02-02,1\n";
  const Dataset mean = open(text, {.missing = Missing::mean});
  EXPECT_THAT(inputs(mean.encoding, "when\nNaT\n"),
              ElementsAre(testing::FloatEq(34.0F / 3), 3, testing::FloatEq(4.0F / 3)));
  const Dataset flagged = open(text, {.missing = Missing::indicator});
  EXPECT_EQ(flagged.encoding.input_names().back(), "'when' missing");
  EXPECT_EQ(inputs(flagged.encoding, "when\nNaT\n").back(), 1);
  EXPECT_EQ(inputs(flagged.encoding, "when\n2024-01-01\n").back(), 0);
}

TEST_F(ColumnFormsTest, DatesOfMemoryAreThoseOfFiles) {
  const Dataset file = open("when,x,y\n2024-01-01,1,1.5\n,2,2.5\n1969-12-31 12:00:00.5,3,0.5\n",
                            {.missing = Missing::indicator});
  constexpr std::int64_t kDay = 86400000000;
  const std::vector<std::int64_t> micros = {19723 * kDay, std::numeric_limits<std::int64_t>::min(),
                                            -kDay / 2 + 500000};
  const std::vector<double> x = {1, 2, 3}, y = {1.5, 2.5, 0.5};
  io::MemoryTable table;
  table.rows = 3;
  table.parts = {io::MomentArray{micros}, io::NumberArray{reinterpret_cast<const char*>(x.data()),
                                                          io::ElementType::f64, 1, 8, 8}};
  table.names = {"when", "x", "y"};
  table.targets = {y.data(), 3, 1};
  const Dataset memory =
      open_dataset(io::open_memory(table),
                   {.task = DataOptions::TaskChoice::regression, .missing = Missing::indicator},
                   "X", rng::Key{1});
  EXPECT_EQ(memory.encoding.to_json(), file.encoding.to_json());
  const RowBlock a = gather(*file.source), b = gather(*memory.source);
  for (Index i = 0; i < 3; ++i) EXPECT_TRUE(std::ranges::equal(a.dense.row(i), b.dense.row(i)));
  const Encoding numbers = open("when,x,y\n1,1,1.5\n2,3,2.5\n").encoding;
  EXPECT_THAT(error_of([&] {
                EncodedSource(io::open_memory(table), numbers, "X", io::Targets::ignore, 0);
              }),
              HasSubstr("'when' should be a finite number"));
}

TEST_F(ColumnFormsTest, AmountsAreNumbersOfOneUnit) {
  const Dataset data = open("p,y\n\"$1,200.50\",\"$2,000\"\n12,$7.5\n$3,($1)\n");
  EXPECT_EQ(data.summary.task, Task::regression);
  EXPECT_EQ(gather(*data.source).targets(2, 0), -1);
  EXPECT_THAT(inputs(data.encoding, "p\n\"$1,234\"\n"), ElementsAre(1234));
  EXPECT_THAT(inputs(data.encoding, "p\n5\n"), ElementsAre(5));
  EXPECT_THAT(refused(data.encoding, "p\n€5\n"), HasSubstr("should be a number in $, not '€5'"));
  const Encoding share = open("p,y\n10%,1.5\n20 %,2.5\n30%,1\n").encoding;
  EXPECT_THAT(inputs(share, "p\n25 %\n"), ElementsAre(25));
  EXPECT_THAT(refused(share, "p\n0.25\n"), HasSubstr("should be a number in %, not 0.25"));
  EXPECT_THAT(error_of([&] { open("p,y\n10%,1.5\n0.2,2.5\n30%,1\n"); }), HasSubstr("units"));
}

TEST_F(ColumnFormsTest, WordsOfMemoryThatAreDigitsStayWords) {
  const auto levels = [](std::vector<std::string> words, bool stay) {
    const std::vector<std::int32_t> codes = {0, 1, 2};
    const std::vector<double> y = {1.5, 2.5, 0.5};
    io::MemoryTable table;
    table.rows = 3;
    table.parts = {io::WordArray{std::move(words), codes, stay}};
    table.targets = {y.data(), 3, 1};
    const Dataset data = open_dataset(
        io::open_memory(table), {.task = DataOptions::TaskChoice::regression}, "X", rng::Key{1});
    return data.encoding.columns[0].levels.size();
  };
  EXPECT_EQ(levels({"1", "2.5", "3"}, false), 3);
  EXPECT_EQ(levels({"1", "$2.5", "3"}, false), 0);
  EXPECT_EQ(levels({"1", "$2.5", "3"}, true), 3);
  EXPECT_EQ(levels({"2024-01-31", "2024-02-01", "2024-02-03"}, true), 3);
}

TEST_F(ColumnFormsTest, DecimalCommasAreThoseOfTheModel) {
  const std::string text = "a;b;y\n1,5;1.200,5;0,5\n2;3;1,5\n-3,25;4,5;2,5\n";
  EXPECT_THAT(error_of([&] { open(text); }), HasSubstr("decimal = ,"));
  const Dataset data = open(text, {.decimal = ","});
  EXPECT_THAT(inputs(data.encoding, "a;b\n2,5;1.234\n"), ElementsAre(2.5, 1234));
  EXPECT_THAT(refused(data.encoding, "a;b\n2.5;1\n"), HasSubstr("not '2.5'"));
  EXPECT_THAT(inputs(data.encoding, "a;b\n2.5;1\n", {.decimal = "."}), ElementsAre(2.5, 1));
  EXPECT_EQ(gather(*data.source).targets(2, 0), 2.5);
  EXPECT_THAT(error_of([&] { open(text, {.decimal = ";"}); }), HasSubstr("a point or a comma"));
}

TEST_F(ColumnFormsTest, LabelsWithADecimalComma) {
  DataOptions options{.labels =
                          folder_.write("labels.txt", "\"1,5\"\n\"2,5\"\n\"1,5\"\n\"3,5\"\n")};
  EXPECT_THAT(error_of([&] { open("1;2\n2;4\n3;3\n4;5\n", options); }),
              HasSubstr("decimal = , reads decimal commas"));
  options.decimal = ",";
  folder_.write("labels.txt", "1,5\n2,5\n1,5\n3,5\n");
  EXPECT_EQ(gather(*open("1;2\n2;4\n3;3\n4;5\n", options).source).targets(1, 0), 2.5);
}

TEST_F(ColumnFormsTest, NumbersMayBeCodes) {
  const std::string text = "code,x,y\n10,1,0.5\n7,2,1.5\n10.0,3,2.5\n007,4,1\n";
  const Dataset data = open(text, {.categorical = "code"});
  EXPECT_THAT(data.encoding.columns[0].levels, ElementsAre("007", "7", "10"));
  EXPECT_THAT(inputs(data.encoding, "x,code\n5,10\n"), ElementsAre(0, 0, 1, 5));
  EXPECT_THAT(inputs(data.encoding, "x,code\n5,8\n"), ElementsAre(0, 0, 0, 5));
  EXPECT_THAT(error_of([&] { open(text, {.categorical = "y"}); }),
              HasSubstr("task = classification"));
  EXPECT_THAT(error_of([&] { open(text, {.drop = "x", .categorical = "x"}); }),
              HasSubstr("dropped"));
}

TEST_F(ColumnFormsTest, MissingCellsMayBeAnInput) {
  const Dataset data =
      open("a,b,c,y\n1,2,u,0.5\n,4,v,1.5\n3,6,,2.5\n5,8,u,1\n", {.missing = Missing::indicator});
  EXPECT_THAT(data.encoding.input_names(),
              ElementsAre("'a'", "'a' missing", "'b'", "'c'=u", "'c'=v", "'c' missing"));
  EXPECT_THAT(inputs(data.encoding, "a,b,c\n,,\n"), ElementsAre(3, 1, 5, 0, 0, 1));
  EXPECT_THAT(inputs(data.encoding, "a,b,c\n7,8,v\n"), ElementsAre(7, 0, 8, 0, 1, 0));
  EXPECT_EQ(data.summary.mean[1], 0.25);
  EXPECT_EQ(data.summary.sample.dense(1, 1), 1);
}

TEST_F(ColumnFormsTest, WordsAndNumbersMayMeanMissing) {
  const std::string text = "a,b,y\n1,x,0.5\n-999,unknown,1.5\n3,x,2.5\n-999.0,z,1\n";
  const Dataset data = open(text, {.missing = Missing::mean, .na = "-999,unknown"});
  EXPECT_THAT(inputs(data.encoding, "a,b\n-999,unknown\n"), ElementsAre(2, 0, 0));
  EXPECT_EQ(data.missing_cells, 3);
  EXPECT_EQ(open(text, {.missing = Missing::drop, .na = "-999"}).summary.rows, 2);
  EXPECT_THAT(error_of([&] { open(text, {.na = "1.5"}); }), HasSubstr("value of 'y' is missing"));
  // None is a word where somebody says so, and stays one in new rows.
  const std::string none = "b,y\nNone,0.5\nNA,1.5\nx,2.5\nNone,1\n";
  EXPECT_THAT(error_of([&] { open(none); }), HasSubstr("missing ('None')"));
  const Dataset words = open(none, {.na = "="});
  EXPECT_THAT(words.encoding.columns[0].levels, ElementsAre("NA", "None", "x"));
  EXPECT_THAT(inputs(words.encoding, "b\nNone\n"), ElementsAre(0, 1, 0));
}

TEST_F(ColumnFormsTest, WordsThatAnOlderModelLearnedStayWords) {
  const Encoding older = Encoding::from_json(
      R"({"kind":"table","inputs":2,"labelled":false,"missing":"error","task":"classification",
          "classes":["-","None"],"targets":[1],"roles":"ct","names":["a","y"],"levels":[["-","x"]]})");
  EXPECT_THAT(inputs(older, "a\n-\n"), ElementsAre(1, 0));
  const auto scored =
      open_for_model({folder_.write("new.csv", "a,y\nx,None\n")}, older, {}, io::Targets::require);
  EXPECT_EQ(gather(*scored).targets(0, 0), 1);
}

TEST_F(ColumnFormsTest, DamagedFormsAreRefused) {
  const auto good = nlohmann::json::parse(
      open(dates(), {.missing = Missing::indicator, .na = "x"}).encoding.to_json());
  const auto damaged = [&](const char* pointer, const nlohmann::json& value) {
    auto json = good;
    json[nlohmann::json::json_pointer(pointer)] = value;
    return error_of([&] { Encoding::from_json(json.dump()); });
  };
  EXPECT_EQ(damaged("/na", {"y"}), "");
  for (const auto& [pointer, value] :
       std::vector<std::pair<const char*, nlohmann::json>>{{"/moments/0/parts", "dd"},
                                                           {"/moments/0/parts", ""},
                                                           {"/moments/0/parts", "dhwx"},
                                                           {"/moments/0/order", "ymd"},
                                                           {"/moments/0/means", {1, 2}},
                                                           {"/moments/0/origin", "x"},
                                                           {"/moments/7", good["moments"]["0"]},
                                                           {"/moments/1", good["moments"]["0"]},
                                                           {"/moments/-1", good["moments"]["0"]},
                                                           {"/moments", nlohmann::json::object()},
                                                           {"/amounts", {{"0", "$"}}},
                                                           {"/amounts", {{"x", "$"}}},
                                                           {"/amounts", {{"1", 3}}},
                                                           {"/indicators", {0}},
                                                           {"/indicators", {1}},
                                                           {"/indicators", {-1}},
                                                           {"/decimal", "."},
                                                           {"/na", 7},
                                                           {"/roles", "nt"}})
    EXPECT_THAT(damaged(pointer, value), HasSubstr("damaged")) << pointer << value;
}

/// 600 rows whose target is the given number.
template <class Target>
std::string with_target(Target target) {
  std::string text = "a,y\n";
  for (int i = 0; i < 600; ++i) text += fmt::format("{},{}\n", i % 17, target(i));
  return text;
}

TEST_F(ColumnFormsTest, WholeNumbersAreClassesIfTheyLieLikeCodes) {
  const auto task = [&](const std::string& text) {
    const DataSummary summary = open(text).summary;
    return fmt::format("{}: {}", summary.task == Task::classification ? "classes" : "numbers",
                       summary.task_reason);
  };
  // Letters by their number, some more frequent than others; labels of ten; codes far apart.
  EXPECT_THAT(task(with_target([](int i) { return i % 26; })), HasSubstr("classes"));
  // Of the diagnoses 1 .. 16 some never occur, and the first does most often.
  EXPECT_THAT(task(with_target([](int i) {
                constexpr int kRows[] = {245, 44, 15, 15, 13, 25, 3, 2, 9, 50, 0, 0, 0, 4, 5, 22};
                int k = 0;
                for (i %= 452; i >= kRows[k]; ++k) i -= kRows[k];
                return k + 1;
              })),
              HasSubstr("classes"));
  EXPECT_THAT(task(with_target([](int i) { return i % 2 ? i % 24 : i % 5 * 5; })),
              HasSubstr("classes"));
  EXPECT_THAT(task(with_target([](int i) { return 1000 + i % 12 * i % 12 * 97; })),
              HasSubstr("task = regression"));
  EXPECT_THAT(task(with_target([](int i) { return i % 7 + i % 4; })), HasSubstr("classes"));
  // Sums of dice, counted from 3; ages; marks in steps of five.
  EXPECT_THAT(task(with_target([](int i) { return i % 6 + i / 6 % 6 + i / 36 % 6; })),
              HasSubstr("numbers: the target 'y' has 16 whole numbers whose frequencies rise"));
  EXPECT_THAT(task(with_target([](int i) { return 18 + i % 50; })),
              HasSubstr("that fill the range 18 .. 67; task = classification"));
  EXPECT_THAT(task(with_target([](int i) { return 5 * (i % 20); })), HasSubstr("numbers"));
}

TEST_F(ColumnFormsTest, OddLayoutsOfTables) {
  EXPECT_EQ(open("a,b,y,\n1,2,0.5,\n3,4,1.5,\n").encoding.columns.size(), 3);
  EXPECT_EQ(open("a,b,y\r\n1,2,0.5,,\r\n3,4,1.5,,\r\n").encoding.columns.size(), 3);
  // Without names the cell behind may be a column, which is missing in these rows.
  EXPECT_EQ(inputs(open("1,2,0.5\n3,,1.5\n", {.missing = Missing::mean}).encoding, "1,\n"),
            (std::vector<float>{1, 2}));
  const Dataset named = open("a y\nfirst 1 0.5\n\"the second\" 3 1.5\nthird 4 1\n");
  EXPECT_THAT(named.notes, ElementsAre(HasSubstr("as R writes it")));
  EXPECT_THAT(inputs(named.encoding, "a\nx,7\ny,8\n"), ElementsAre(7));
  std::string long_one = "a,y\n";
  for (int i = 0; i < 300; ++i) long_one += "r,1,0.5\n";
  EXPECT_THAT(error_of([&] { open(long_one + "r,2\n"); }),
              HasSubstr("2 cells, but the first row has 2 names, for all cells but the first"));
  // Rows of dates and amounts have no header, names above them are one, and dates may be names.
  EXPECT_THAT(open("2024-01-31,$1\n2024-02-01,$2\n2024-02-03,$1\n").encoding.columns[0].name, "");
  EXPECT_THAT(open("d,p\n2024-01-31,$1\n2024-02-01,2\n").encoding.columns[0].name, "d");
  EXPECT_THAT(open("2024-01-31,2024-02-01\n1,2.5\n2,3.5\n").encoding.columns[0].name, "2024-01-31");
}

}  // namespace
}  // namespace kerf::detail
