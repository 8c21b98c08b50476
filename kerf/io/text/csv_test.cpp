// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kerf/core/random/random.h"
#include "kerf/io/dataset/test_files.h"
#include "kerf/io/text/csv_dialect.h"
#include "kerf/io/text/utf8.h"

namespace kerf::detail::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::vector<double>>;

class Csv : public ::testing::Test {
 protected:
  AllRows read(std::string_view text, const ReadOptions& options = {}) {
    reader_ = open_path(folder_.write("t.csv", text), options);
    return read_all(*reader_);
  }
  std::string error(std::string_view text, const ReadOptions& options = {}) {
    return error_of([&] { read(text, options); });
  }
  const std::vector<std::string>& names() const { return reader_->schema().names; }

  TestFolder folder_;
  std::unique_ptr<Reader> reader_;
};

TEST_F(Csv, ReadsPlainNumbers) {
  EXPECT_EQ(read("1,2.5,-3e2\n4,+5,.5\n").cells, (Rows{{1, 2.5, -300}, {4, 5, 0.5}}));
  EXPECT_TRUE(names().empty());
}

TEST_F(Csv, FindsTheDelimiter) {
  const Rows expected{{1, 2.5, 3}, {4, 5, 6}};
  EXPECT_EQ(read("1;2.5;3\n4;5;6\n").cells, expected);
  EXPECT_EQ(read("1\t2.5\t3\n4\t5\t6\n").cells, expected);
  EXPECT_EQ(read("1|2.5|3\n4|5|6\n").cells, expected);
  EXPECT_EQ(read("1 2.5 3\n4 5 6\n").cells, expected);
  EXPECT_EQ(read("   1  2.5 \t 3   \r\n 4 5 6").cells, expected);
  EXPECT_EQ(read("1, 2.5 ,3\n4,  5,\t6\n").cells, expected);
  EXPECT_EQ(read("7\n8\n").cells, (Rows{{7}, {8}}));
  EXPECT_EQ(read("1:2\n3:4\n", {.delimiter = ":"}).cells, (Rows{{1, 2}, {3, 4}}));
  EXPECT_THAT(error("1,2\n", {.delimiter = "12"}), HasSubstr("delimiter is auto"));
}

TEST_F(Csv, AFirstRowOfKnownNamesIsAHeaderWhateverItLooksLike) {
  const std::string years = "2018,2019,2020\n1,2,3\n4,5,6\n";
  EXPECT_EQ(read(years).cells.size(), 3u);
  EXPECT_TRUE(reader_->schema().guessed_header);
  const Rows expected{{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(read(years, {.known_names = {"2020", "2018"}}).cells, expected);
  EXPECT_THAT(names(), ElementsAre("2018", "2019", "2020"));
  EXPECT_EQ(read(years, {.known_names = {"2018", "2021"}}).cells.size(), 3u);  // not all of them
  EXPECT_EQ(read(years, {.header = ReadOptions::Header::no, .known_names = {"2018"}}).cells.size(),
            3u);
  EXPECT_FALSE(reader_->schema().guessed_header);
}

/// `rows` lines of three numbers, the middle one missing in every fifth.
std::string with_gaps(char delimiter, int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i) + delimiter + (i % 5 == 1 ? "" : "2.5") + delimiter + "7\n";
  return text;
}

TEST_F(Csv, MissingCellsDoNotHideTheDelimiter) {
  for (const char delimiter : {',', ';', '\t', '|'}) {
    const auto all = read(with_gaps(delimiter, 20));
    ASSERT_EQ(reader_->schema().columns, 3) << delimiter;
    EXPECT_EQ(all.cells[1], (std::vector<double>{1, -999, 7}));
  }
  // An index without a name, as pandas writes it.
  read("\ta\tb\n0\t1.5\t2\n1\t2.5\t3\n");
  EXPECT_THAT(names(), ElementsAre("", "a", "b"));
  // Blanks and tabs together are blanks.
  EXPECT_EQ(read("1 2\t3\n4 5\t6\n").cells, (Rows{{1, 2, 3}, {4, 5, 6}}));
}

TEST_F(Csv, DecimalCommasAreNoDelimiters) {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += std::to_string(i) + ",3;" + std::to_string(2 * i) + ",5;4,2\n";
  const auto all = read(text);
  EXPECT_EQ(reader_->schema().columns, 3);
  EXPECT_EQ(all.cells.size(), 30u);  // the first row is no header either
  EXPECT_EQ(all.odd[0], "0,0:0,3");
  read("a;b\n1,5;2,5\n2,5;3,5\n");
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(Csv, CommentsStandBeforeTheFirstRecord) {
  EXPECT_EQ(read("# a\n\n#b,c\n1,2\n3,4\n").cells, (Rows{{1, 2}, {3, 4}}));
  const auto all = read("a,b\n1,2\n#N/A,3\n");
  EXPECT_EQ(all.cells, (Rows{{1, 2}, {-999, 3}}));
  EXPECT_THAT(all.odd, ElementsAre("1,0:#N/A"));
  EXPECT_THAT(error("1,2\n# later\n"), HasSubstr("comments stand before the first row"));
}

TEST_F(Csv, FindsAHeader) {
  EXPECT_EQ(read("a,b c,\"d,e\"\n1,2,3\n").cells, (Rows{{1, 2, 3}}));
  EXPECT_THAT(names(), ElementsAre("a", "b c", "d,e"));
  read("0,1,target\n5.5,6,0\n");
  EXPECT_THAT(names(), ElementsAre("0", "1", "target"));
  read("colour,size\nred,big\nblue,small\nred,small\n");
  EXPECT_THAT(names(), ElementsAre("colour", "size"));
  EXPECT_EQ(read("red,big\nblue,small\nred,small\n").cells.size(), 3u);
  EXPECT_TRUE(names().empty());
  EXPECT_EQ(read("5.1,x3,1\n5,3,2\n").cells.size(), 2u);
  read("1,2\n3,4\n", {.header = ReadOptions::Header::yes});
  EXPECT_THAT(names(), ElementsAre("1", "2"));
  EXPECT_EQ(read("a,b\n3,4\n", {.header = ReadOptions::Header::no}).cells.size(), 2u);
}

TEST_F(Csv, UnderstandsQuotesAndLineEnds) {
  const auto all = read(
      "\xEF\xBB\xBF# comment, 1\r\nn,t\r\n1,\"a \"\"b\"\", c\"\r\n\r\n"
      "\"2\",\"two\r\nlines\"\r\n3,x");
  EXPECT_THAT(names(), ElementsAre("n", "t"));
  EXPECT_EQ(all.cells, (Rows{{1, -999}, {2, -999}, {3, -999}}));
  EXPECT_THAT(all.odd, ElementsAre("0,1:a \"b\", c", "1,1:two\r\nlines", "2,1:x"));
  EXPECT_THAT(all.lines, ElementsAre(3, 5, 7));
}

TEST_F(Csv, ReportsOddCellsWithTheirPlace) {
  reader_ = open_path(folder_.write("t.csv", "1,2\n3, inf\n1e400,\n"));
  RawBlock block;
  ASSERT_TRUE(reader_->next(block, 10));
  ASSERT_EQ(block.odd.size(), 3u);
  EXPECT_EQ(block.text(block.odd[0]), "inf");
  EXPECT_THAT(block.where(1, 1, block.odd[0].byte), HasSubstr("t.csv:2:4"));
  EXPECT_EQ(block.text(block.odd[1]), "1e400");
  EXPECT_EQ(block.text(block.odd[2]), "");
}

TEST_F(Csv, NamesRaggedRows) {
  EXPECT_THAT(error("1,2,3\n4,5\n"),
              HasSubstr("t.csv:2: this row has 2 cells, but the first row has 3"));
  EXPECT_THAT(error("1,2,3\n4,5,6\n4,5,6,7\n"), HasSubstr("t.csv:3: this row has 4 cells"));
  EXPECT_THAT(error("1 2 3\n4 5 6\n4 5 6 7 \n"), HasSubstr("t.csv:3: this row has 4 cells"));
  EXPECT_THAT(error("1,\"abc\n2,3\n"), HasSubstr("never ends"));
  EXPECT_THAT(error("1,\"abc\"d\n2,3\n"), HasSubstr("t.csv:1:8: text follows"));
}

TEST_F(Csv, SaysWhatIsWrongWithOtherFiles) {
  EXPECT_THAT(error(""), HasSubstr("is empty"));
  EXPECT_THAT(error("\n\n# only this\n"), HasSubstr("is empty"));
  EXPECT_THAT(error(std::string("1,2\n\0\1\2", 7)), HasSubstr("none of the formats"));
  EXPECT_THAT(error("\xFF\xFE"
                    "1\0"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(error("PAR1...."), HasSubstr("Parquet"));
  EXPECT_THAT(error("@RELATION iris\n@DATA\n1,2\n"), HasSubstr("ARFF"));
  EXPECT_THAT(error("\x89HDF\r\n"), HasSubstr("HDF5"));
  EXPECT_THAT(error("1,2\r3,4\r"), HasSubstr("CR alone"));
}

/// A random table of numbers, words, quoted cells with newlines, comments and blank lines.
std::string random_table(std::uint64_t seed, int rows) {
  const rng::Key key{seed};
  std::string text = "# note, with, commas\n#\na,b,c\n";
  for (int i = 0; i < rows; ++i) {
    const auto words = rng::bits(key, static_cast<std::uint64_t>(i));
    text += std::to_string(words[0]) + "." + std::to_string(words[1] % 1000) + ",";
    text += words[2] % 3 == 0 ? "\"x\n\"\"" + std::to_string(words[2]) + "\"" : "-1.5e3";
    text += words[3] % 5 == 0 ? ",\r\n" : ",7\n";
    if (words[3] % 11 == 0) text += " \n";
  }
  return text;
}

TEST_F(Csv, GivesTheRowsOfTheObviousSplitter) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string text = random_table(seed, 100);
    const auto all = read(text);
    const auto records = split_records(text, ',', true, 1000);
    ASSERT_EQ(all.cells.size(), records.size() - 1);
    for (std::size_t i = 0; i < all.cells.size(); ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        const auto number = parse_number(records[i + 1][j]);
        EXPECT_EQ(all.cells[i][j], number ? *number : -999);
      }
  }
}

TEST_F(Csv, DoesNotCareWhereBlocksOrWindowsAreCut) {
  // About 5 MB: several windows, with quoted newlines at their ends.
  const std::string text = random_table(3, 200000);
  const std::string path = folder_.write("t.csv", text);
  const std::string packed = folder_.write("t.csv.gz", gzip(text));
  const auto whole = read_all(*open_path(path), 100000);
  for (const Index rows : {1000, 777}) {
    const auto again = read_all(*open_path(rows == 777 ? packed : path), rows);
    EXPECT_EQ(again.cells, whole.cells);
    EXPECT_EQ(again.odd, whole.odd);
    EXPECT_EQ(again.lines, whole.lines);
  }
}

TEST_F(Csv, ReadsAgainAfterRewind) {
  const auto first = read("a,b\n1,2\n3,x\n5,6\n");
  reader_->rewind();
  const auto second = read_all(*reader_, 1);
  EXPECT_EQ(first.cells, second.cells);
  EXPECT_EQ(first.odd, second.odd);
}

TEST_F(Csv, ReadsVeryLongLines) {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 300000; ++j) text += (j > 0 ? "," : "") + std::to_string(i * 1000000 + j);
    text += '\n';
  }
  const auto all = read(text);
  ASSERT_EQ(all.cells.size(), 3u);
  EXPECT_EQ(all.cells[2][299999], 2299999);
}

TEST_F(Csv, KeepsSpellingWhenAsked) {
  reader_ = open_path(folder_.write("t.csv", "1,01.0\n2,\"2\"\n3,x\n"));
  reader_->keep_spelling(1);
  RawBlock block;
  reader_->next(block, 10);
  EXPECT_THAT(block.spelling, ElementsAre("01.0", "2", "x"));
}

TEST_F(Csv, PlacesBehindACellOfSeveralLines) {
  EXPECT_THAT(error("a,b,c\n1,\"x\ny\",3\n4,\"x\ny\"\n"),
              HasSubstr("t.csv:4: this row has 2 cells, but the first row has 3"));
  EXPECT_THAT(error("1,2\n3,\"abc\nd\n"), HasSubstr("t.csv:2:3: a quoted cell begins here"));
  EXPECT_THAT(error("1,2\n3,\"a\nbc\"d\n"), HasSubstr("t.csv:3:4: text follows"));
}

TEST_F(Csv, GivesTextAsUtf8) {
  for (const char* good : {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    EXPECT_TRUE(is_utf8(good));
    EXPECT_EQ(to_utf8(good), good);
  }
  // Cut, not the shortest form, a surrogate, beyond the last character, a lone middle byte.
  for (const char* bad : {"\xC3", "\xE2\x82", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80", "a\xE9z"}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_TRUE(is_utf8(to_utf8(bad)));
  }
  const auto all = read("\xE9,b\n\xE9,1\n\"\xE8\",2\n\xC3\xA9,3\n");
  EXPECT_THAT(names(), ElementsAre("\xC3\xA9", "b"));
  EXPECT_THAT(all.odd, ElementsAre("0,0:\xC3\xA9", "1,0:\xC3\xA8", "2,0:\xC3\xA9"));
}

}  // namespace
}  // namespace kerf::detail::io
