// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kerf/api/error.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/io/dataset/test_files.h"

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
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_THAT(data.notes[0], HasSubstr("'007' and '7', equal numbers written differently"));
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

}  // namespace
}  // namespace kerf::detail::io
