// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kerf/api/error.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/io/dataset/test_files.h"
#include "kerf/io/memory/memory_reader.h"

namespace kerf::detail::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ExactNumber, IsTheSameForEveryWayToWriteANumberOnly) {
  for (const char* seven : {"7", "007", "7.0", "+7", "70e-1", "0.7E+1", "7."})
    EXPECT_EQ(exact_number(seven), exact_number("7")) << seven;
  for (const char* zero : {"0", "-0", "0.000", "0e99999999999", ".0"})
    EXPECT_EQ(exact_number(zero), "0") << zero;
  EXPECT_NE(exact_number("9007199254740992"), exact_number("9007199254740993"));
  EXPECT_NE(exact_number("7"), exact_number("-7"));
  EXPECT_NE(exact_number("7"), exact_number("70"));
  for (const char* word : {"", "-", "x", "7x", "1e", "0x10", "nan", ".", "1 2"})
    EXPECT_EQ(exact_number(word), "") << word;
}

TEST(ClassNames, TextFirstThenTheNumber) {
  const ClassNames names({"007", "7", "08", "1.50", "x"});
  EXPECT_EQ(names.find("007"), 0);
  EXPECT_EQ(names.find("7"), 1);
  EXPECT_EQ(names.find("7.0"), 1) << "the one without zeros in front";
  EXPECT_EQ(names.find("8"), 2) << "the only one";
  EXPECT_EQ(names.find("1.5"), 3);
  EXPECT_EQ(names.find("X"), -1);
  EXPECT_EQ(names.find("9"), -1);
  EXPECT_EQ(ClassNames({"07", "007"}).find("7"), -1) << "which one is meant?";
}

class ClassLabels : public testing::Test {
 protected:
  Dataset open(const std::string& text, const char* name = "t.csv") {
    return open_dataset({folder_.write(name, text)},
                        {.task = DataOptions::TaskChoice::classification}, rng::Key{1});
  }
  static std::vector<double> targets(RowSource& source) {
    const RowBlock all = read_all(source);
    return {all.targets.data(), all.targets.data() + all.rows()};
  }
  TestFolder folder_;
};

TEST_F(ClassLabels, WholeNumbersBeyondDoubleStayApart) {
  auto data = open("1,9007199254740992\n2,9007199254740993\n3,9007199254740992\n4,-1\n");
  EXPECT_THAT(data.summary.classes, ElementsAre("-1", "9007199254740992", "9007199254740993"));
  EXPECT_THAT(targets(*data.source), ElementsAre(1, 2, 1, 0));
  EXPECT_EQ(data.summary.sample.targets(1, 0), 2) << "the sample too";
  EXPECT_THAT(data.notes, IsEmpty());
}

TEST_F(ClassLabels, WholeNumbersBeyondDoubleOfLibsvmStayApart) {
  auto data = open("9007199254740992 1:1\n9007199254740993 1:2\n+1 1:3\n1.0 1:4\n", "t.svm");
  EXPECT_THAT(data.summary.classes, ElementsAre("1", "9007199254740992", "9007199254740993"));
  EXPECT_THAT(targets(*data.source), ElementsAre(1, 2, 0, 0));
}

TEST_F(ClassLabels, WholeNumbersBeyondDoubleOfArraysStayApart) {
  // int64, 3 x 2; labels 2^53, 2^53 + 1, -2^53 - 1.
  std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), }";
  header.resize(117, ' ');
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header + '\n';
  for (const std::int64_t value :
       {std::int64_t{5}, std::int64_t{1} << 53, std::int64_t{6}, (std::int64_t{1} << 53) + 1,
        std::int64_t{7}, -(std::int64_t{1} << 53) - 1})
    bytes.append(reinterpret_cast<const char*>(&value), 8);
  auto data = open(bytes, "t.npy");
  EXPECT_THAT(data.summary.classes,
              ElementsAre("-9007199254740993", "9007199254740992", "9007199254740993"));
  EXPECT_THAT(targets(*data.source), ElementsAre(1, 2, 0));
}

TEST_F(ClassLabels, ZerosInFrontStayApartAndOtherSpellingsAreNamed) {
  auto zeros = open("1,007\n2,7\n3,007\n");
  EXPECT_THAT(zeros.summary.classes, ElementsAre("007", "7"));
  EXPECT_THAT(targets(*zeros.source), ElementsAre(0, 1, 0));
  ASSERT_EQ(zeros.notes.size(), 1u);
  EXPECT_THAT(zeros.notes[0], HasSubstr("'007' and '7'"));
  auto points = open("1,1\n2,1.0\n3,2\n");
  EXPECT_THAT(points.summary.classes, ElementsAre("1", "2"));
  EXPECT_THAT(targets(*points.source), ElementsAre(0, 0, 1));
  ASSERT_EQ(points.notes.size(), 1u);
  EXPECT_THAT(points.notes[0], HasSubstr("'1' and '1.0'"));
}

TEST_F(ClassLabels, OfOtherFilesMatchByTheirNumber) {
  const auto data = open("1,1\n2,2\n3,1\n");
  auto other = open_for_model({folder_.write("n.csv", "1,1.0\n2,2.00\n3,+1\n")}, data.encoding, {});
  EXPECT_THAT(targets(*other), ElementsAre(0, 1, 0));
  const auto codes = open("1,007\n2,012\n3,007\n");
  auto stripped = open_for_model({folder_.write("s.csv", "1,7\n2,12\n")}, codes.encoding, {});
  EXPECT_THAT(targets(*stripped), ElementsAre(0, 1)) << "as spreadsheets write them";
}

/// The inputs of all rows.
std::vector<std::vector<float>> inputs(RowSource& source) {
  const RowBlock all = read_all(source);
  std::vector<std::vector<float>> rows;
  for (Index i = 0; i < all.rows(); ++i)
    rows.emplace_back(all.dense.row(i).begin(), all.dense.row(i).end());
  return rows;
}

// A column that is words for the most part: numbers among them are words, by the rule of labels.
TEST_F(ClassLabels, NumbersAmongTheWordsOfAnInputStayApart) {
  auto data = open("a,1\n007,2\n7,1\nb,2\n7.0,1\nc,2\nd,1\n");
  EXPECT_THAT(data.encoding.columns[0].levels, ElementsAre("007", "7", "a", "b", "c", "d"));
  EXPECT_THAT(data.notes,
              ElementsAre(HasSubstr("'7' and '7.0', which are one number: taken for one word"),
                          HasSubstr("'007' and '7', equal numbers written differently")));
  const auto rows = inputs(*data.source);
  EXPECT_EQ(rows[1], (std::vector<float>{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(rows[2], (std::vector<float>{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(rows[4], rows[2]) << "7.0 is 7";
  auto other = open_for_model({folder_.write("n.csv", "7.00,1\n007,1\na,2\n")}, data.encoding, {});
  const auto new_rows = inputs(*other);
  EXPECT_EQ(new_rows[0], rows[2]);
  EXPECT_EQ(new_rows[1], rows[1]);
  EXPECT_EQ(new_rows[2], rows[0]);
}

TEST_F(ClassLabels, WordsThatADoubleWouldMergeStayApartInInputs) {
  auto data = open("a,1\n9007199254740992,2\n9007199254740993,1\nb,2\nc,1\nd,2\n");
  EXPECT_THAT(data.encoding.columns[0].levels,
              ElementsAre("9007199254740992", "9007199254740993", "a", "b", "c", "d"));
}

// 1 and 1.0 are one word, and the source that has both is told so: in files as in memory.
TEST_F(ClassLabels, WordsThatAreOneNumberAreOneWordInFilesAndInMemory) {
  auto data = open("a,1\n1,2\n1.0,1\nb,2\n+1,1\nc,2\n-0,2\nd,1\ne,2\n");
  EXPECT_THAT(data.encoding.columns[0].levels, ElementsAre("0", "1", "a", "b", "c", "d", "e"));
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_THAT(data.notes[0], HasSubstr("'1' and '1.0', which are one number: taken for one word"));
  const auto rows = inputs(*data.source);
  EXPECT_EQ(rows[1], rows[2]);

  const std::vector<std::int32_t> codes{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const Matrix<double> y = [] {
    Matrix<double> targets(9, 1);
    for (Index i = 0; i < 9; ++i)
      targets(i, 0) = i == 1 || i == 3 || i == 5 || i == 6 || i == 8 ? 1 : 0;
    return targets;
  }();
  MemoryTable table;
  table.rows = 9;
  table.parts.push_back(WordArray{{"a", "1", "1.0", "b", "+1", "c", "-0", "d", "e"}, codes});
  table.targets = y.view();
  table.classes = {"1", "2"};
  auto memory = open_dataset(open_memory(table), {}, "X", rng::Key{1});
  EXPECT_EQ(memory.encoding.columns[0].levels, data.encoding.columns[0].levels);
  ASSERT_EQ(memory.notes.size(), 1u);
  EXPECT_THAT(memory.notes[0], HasSubstr("'1' and '1.0', which are one number"));
  EXPECT_EQ(inputs(*memory.source), rows);
}

TEST(ClassNames, WordsAreKnownByTheirNumber) {
  for (const char* one : {"1", "1.0", "+1", "1.", "10e-1"}) EXPECT_EQ(word_name(one), "1") << one;
  EXPECT_EQ(word_name("-0.0"), "0");
  for (const char* large : {"9007199254740993", "9007199254740993.0", "+9007199254740993"})
    EXPECT_EQ(word_name(large), "9007199254740993") << large;
  EXPECT_EQ(word_name("1e20"), word_name("100000000000000000000"));
  for (const char* word : {"007", "1e400", "1e-400", "inf", "nan", "x1", "", " 1", "1_000"})
    EXPECT_EQ(word_name(word), word) << word;
}

// A column of numbers only: they are merged, for who means numbers wants that, but not in silence.
TEST_F(ClassLabels, CodesThatAreMergedInAColumnOfNumbersAreNamed) {
  const auto zeros = open("7,1\n12,2\n007,1\n08,2\n");
  ASSERT_EQ(zeros.notes.size(), 1u);
  EXPECT_THAT(zeros.notes[0], HasSubstr("column 0 has '7' and '007', equal numbers"));
  EXPECT_DOUBLE_EQ(zeros.summary.mean[0], 34.0 / 4)
      << "of all cells, with their texts listed or not";
  const auto large = open("5,9007199254740992,1\n6,9007199254740993,2\n7,9007199254740992,1\n");
  ASSERT_EQ(large.notes.size(), 1u);
  EXPECT_THAT(large.notes[0], HasSubstr("column 1 has '9007199254740992' and '9007199254740993', "
                                        "which are one number in double precision"));
}

TEST_F(ClassLabels, NumbersThatNothingMergesAreNotNamed) {
  const auto data = open(
      "01,1e20,9007199254740992,0.5,1\n02,2e20,9007199254740994,00.7,2\n12,3e20,9007199254740996,1,"
      "1\n"
      "02,3E20,9007199254740992.0,2,2\n");
  EXPECT_THAT(data.notes, IsEmpty());
}

TEST_F(ClassLabels, CodesOfSeveralFilesAndOfArraysAreNamed) {
  const auto both =
      open_dataset({folder_.write("a.csv", "7,1\n8,2\n"), folder_.write("b.csv", "007,1\n9,2\n")},
                   {}, rng::Key{1});
  ASSERT_EQ(both.notes.size(), 1u);
  EXPECT_THAT(both.notes[0], HasSubstr("'7' and '007'"));
  std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }";
  header.resize(117, ' ');
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header + '\n';
  const std::int64_t large = std::int64_t{1} << 53;
  for (const std::int64_t value : {large, std::int64_t{0}, large + 1, std::int64_t{1}})
    bytes.append(reinterpret_cast<const char*>(&value), 8);
  const auto array = open(bytes, "t.npy");
  ASSERT_EQ(array.notes.size(), 1u);
  EXPECT_THAT(array.notes[0], HasSubstr("column 0 has '9007199254740992' and '9007199254740993'"));
}

}  // namespace
}  // namespace kerf::detail::io
