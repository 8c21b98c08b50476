// Which column is the target of new rows, what is said about columns of words, numbers of rows.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kerf/core/rows/row_filter.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/io/dataset/test_files.h"
#include "kerf/io/text/number.h"

namespace kerf::detail {
namespace {

using io::error_of;
using io::gather;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ColumnChoiceTest : public ::testing::Test {
 protected:
  Dataset open(std::string_view text, const DataOptions& options = {}) {
    return open_dataset({folder_.write("t.csv", text)}, options, rng::Key{1});
  }
  /// The first of the new rows: its inputs, then its target.
  std::vector<double> first_row(const Encoding& encoding, std::string_view text,
                                const std::string& target) {
    const auto source = open_for_model({folder_.write("new.csv", text)}, encoding, {},
                                       io::Targets::require, target);
    const RowBlock block = gather(*source);
    std::vector<double> values(block.dense.row(0).begin(), block.dense.row(0).end());
    values.push_back(block.targets(0, 0));
    return values;
  }

  io::TestFolder folder_;
};

TEST_F(ColumnChoiceTest, TheTargetOfNewRowsMayStandElsewhere) {
  const Encoding bare = open("1,2,0.5\n3,4,1.5\n5,7,2.5\n").encoding;
  EXPECT_THAT(first_row(bare, "9.5,10,20\n", "first"), ElementsAre(10, 20, 9.5));
  EXPECT_THAT(first_row(bare, "10,9.5,20\n", "1"), ElementsAre(10, 20, 9.5));
  EXPECT_THAT(first_row(bare, "10,20,9.5\n", "last"), ElementsAre(10, 20, 9.5));
  EXPECT_THAT(error_of([&] { first_row(bare, "1,2,3\n", "3"); }), HasSubstr("3 columns"));
}

TEST_F(ColumnChoiceTest, TheTargetOfNewRowsMayHaveAnotherName) {
  const Encoding named = open("a,b,c,y\n1,2,1,0.5\n3,4,2,1.5\n5,7,1,2.5\n", {.drop = "c"}).encoding;
  EXPECT_THAT(first_row(named, "z,b,a\n9.5,20,10\n", "z"), ElementsAre(10, 20, 9.5));
  EXPECT_THAT(first_row(named, "z,b,a\n9.5,20,10\n", "0"), ElementsAre(10, 20, 9.5));
  EXPECT_THAT(first_row(named, "c,b,a\n9.5,20,10\n", "c"), ElementsAre(10, 20, 9.5));
  EXPECT_THAT(error_of([&] { first_row(named, "y,b,a\n1,2,3\n", "b"); }), HasSubstr("an input"));
  const Encoding several = open("1,2,0.5\n3,4,1.5\n5,7,2.5\n", {.target = "1,2"}).encoding;
  EXPECT_THAT(error_of([&] { first_row(several, "1,2,3\n", "0"); }), HasSubstr("target = 0"));
}

TEST(DecimalComma, IsANumberButForItsComma) {
  for (const char* yes : {"3,5", "-0,25", "1,5e-3", ",5"})
    EXPECT_TRUE(io::has_decimal_comma(yes)) << yes;
  for (const char* no : {"3.5", "3,", "1,000,000", "a,b", "3,5 kg", "", ",", "1.000,5"})
    EXPECT_FALSE(io::has_decimal_comma(no)) << no;
}

TEST_F(ColumnChoiceTest, SaysWhereNumbersHaveADecimalComma) {
  const auto hint = HasSubstr("has a decimal comma; decimal = , reads it");
  EXPECT_THAT(error_of([&] { open("1,5;1;0.5\n2,5;2;1.5\n1,5;3;2.5\n2,5;1;1\n"); }), hint);
  EXPECT_THAT(error_of([&] { open("a;b\n1;1,5\n2;2,5\n3;1,5\n4;2,5\n", {.delimiter = ";"}); }),
              hint);
  EXPECT_THAT(error_of([&] { open("1;2;0.5\n2;3;1.5\n3;4,5;2.5\n"); }), hint);
  EXPECT_THAT(error_of([&] {
                open("a;b\n1;0,5\n2;1,5\n",
                     {.task = DataOptions::TaskChoice::regression, .delimiter = ";"});
              }),
              hint);
}

TEST_F(ColumnChoiceTest, SaysWhereAlmostEveryRowHasAWordOfItsOwn) {
  std::string own, shared;
  for (int i = 0; i < 30; ++i) {
    const std::string tail = "," + std::to_string(i * 0.5 + 0.25) + "\n";
    own += "name" + std::to_string(i) + tail;
    shared += "name" + std::to_string(i % 5) + tail;
  }
  EXPECT_THAT(open(own).notes, ElementsAre(HasSubstr("30 different words in 30 rows")));
  EXPECT_THAT(open(shared).notes, IsEmpty());
}

TEST(RowNumbers, AreThoseOfTheFile) {
  const io::TestFolder folder;
  std::string text = "a,y\n";
  for (int i = 0; i < 5000; ++i)
    text += (i % 1000 == 7 ? "" : std::to_string(i)) + "," + std::to_string(0.5 * i) + "\n";
  auto data = open_dataset({folder.write("t.csv", text)}, {.missing = Missing::drop}, rng::Key{1});
  const auto check = [](RowSource& source, Index rows) {
    const RowBlock all = kerf::detail::read_all(source);
    ASSERT_EQ(all.rows(), rows);
    for (Index i = 0; i < rows; ++i)
      ASSERT_EQ(static_cast<float>(all.number_of(i)), all.dense(i, 0));
    RowBlock block;
    Index seen = 0;
    for (source.rewind(); source.next(block); seen += block.rows()) {
      ASSERT_EQ(block.first_row, seen);
      for (Index i = 0; i < block.rows(); ++i)
        ASSERT_EQ(static_cast<float>(block.number_of(i)), block.dense(i, 0));
    }
  };
  check(*data.source, 4995);
  HoldoutSource held_out(*data.source, 0.25, rng::Key{3}, true);
  check(held_out, kerf::detail::read_all(held_out).rows());
  EXPECT_TRUE(data.summary.sample.numbers.empty());
}

}  // namespace
}  // namespace kerf::detail
