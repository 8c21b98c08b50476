// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/memory/memory_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kerf/core/options.h"
#include "kerf/io/dataset/test_files.h"

namespace kerf::detail::io {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const char* bytes_of(const auto& values) { return reinterpret_cast<const char*>(values.data()); }

NumberArray column_of(const std::vector<double>& values) {
  return {bytes_of(values), ElementType::f64, 1, 8, 8};
}

void expect_same(const RowBlock& a, const RowBlock& b) {
  ASSERT_EQ(a.rows(), b.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    EXPECT_TRUE(std::ranges::equal(a.dense.row(i), b.dense.row(i))) << i;
    EXPECT_TRUE(std::ranges::equal(a.targets.row(i), b.targets.row(i))) << i;
  }
}

/// Three columns, one of them far from zero and one of words, and a target; in memory and as a CSV file.
struct Example {
  Example() {
    for (int i = 0; i < 5000; ++i) {
      far.push_back(1.7e9 + 0.25 * (i % 7));
      size.push_back(i % 11 == 3 ? kNaN : 0.1 * (i % 13));
      codes.push_back(i % 5 == 4 ? -1 : i % 3);
      target.push_back(0.5 * (i % 9) + 0.01);
    }
  }
  MemoryTable table() const {
    MemoryTable table;
    table.rows = std::ssize(far);
    table.parts = {column_of(far), column_of(size), WordArray{{"red", "b10", "b9"}, codes}};
    table.names = {"far", "size", "word", "price"};
    table.targets = {target.data(), table.rows, 1};
    return table;
  }
  std::string csv() const {
    std::string text = "far,size,word,price\n";
    for (std::size_t i = 0; i < far.size(); ++i)
      text +=
          fmt::format("{},{},{},{}\n", far[i], std::isnan(size[i]) ? "" : format_number(size[i]),
                      codes[i] < 0 ? "" : std::array{"red", "b10", "b9"}[codes[i]], target[i]);
    return text;
  }
  std::vector<double> far, size, target;
  std::vector<std::int32_t> codes;
};

TEST(MemoryReader, GivesTheDatasetOfAFileOfTheSameNumbers) {
  const Example example;
  const TestFolder folder;
  const DataOptions options{.task = DataOptions::TaskChoice::regression, .missing = Missing::mean};
  const rng::Key key{7};
  Dataset file = open_dataset({folder.write("t.csv", example.csv())}, options, key);
  Dataset memory = open_dataset(open_memory(example.table()), options, "X", key);
  for (Dataset* data : {&file, &memory}) data->centre_large_columns();
  EXPECT_EQ(memory.encoding.to_json(), file.encoding.to_json());
  EXPECT_EQ(memory.encoding.columns[2].levels, (std::vector<std::string>{"b10", "b9", "red"}));
  EXPECT_EQ(memory.summary.mean, file.summary.mean);
  EXPECT_EQ(memory.summary.mean_square, file.summary.mean_square);
  EXPECT_EQ(memory.variance, file.variance);
  EXPECT_EQ(memory.missing_cells, file.missing_cells);
  expect_same(memory.summary.sample, file.summary.sample);
  expect_same(gather(*memory.source), gather(*file.source));
  EXPECT_TRUE(memory.check_precision().empty());
}

TEST(MemoryReader, ReadsArraysOfAnyTypeAndOrder) {
  const std::vector<float> by_columns = {1, 2, 3, 4, 5, 6};  // 3 rows of 2
  const std::vector<std::uint8_t> backwards = {7, 8, 9};
  MemoryTable table;
  table.rows = 3;
  table.parts = {NumberArray{bytes_of(by_columns), ElementType::f32, 2, 4, 12},
                 NumberArray{bytes_of(backwards) + 2, ElementType::u8, 1, -1, 1}};
  const AllRows rows = read_all(*open_memory(table), 2);
  EXPECT_EQ(rows.cells, (std::vector<std::vector<double>>{{1, 4, 9}, {2, 5, 8}, {3, 6, 7}}));
}

TEST(MemoryReader, ClassesAreThoseThatAreNamedAndWordsAreWords) {
  const std::vector<std::int32_t> codes = {0, 1, 0, 1};
  const std::vector<double> numbers = {2, 0, 2, 0}, weights = {1, 2, 3, 4};
  MemoryTable table;
  table.rows = 4;
  table.parts = {WordArray{{"?", "1"}, codes}};
  table.targets = {numbers.data(), 4, 1};
  table.classes = {"x", "9", "10"};
  table.weights = weights;
  Dataset data = open_dataset(open_memory(table), {}, "X", rng::Key{1});
  EXPECT_EQ(data.encoding.classes, (std::vector<std::string>{"9", "10", "x"}));
  EXPECT_EQ(data.summary.class_rows, (std::vector<double>{0, 4, 6}));
  EXPECT_EQ(data.encoding.columns[0].levels, (std::vector<std::string>{"1", "?"}));
  const RowBlock rows = gather(*data.source);
  EXPECT_EQ(rows.weights, weights);
  EXPECT_EQ(rows.targets(0, 0), 1);  // "10"
  EXPECT_EQ(rows.targets(1, 0), 2);  // "x"
  table.classes[2] = "11";
  EncodedSource other(open_memory(table), data.encoding, "X", Targets::require, 0);
  RowBlock block;
  EXPECT_NE(error_of([&] { other.next(block); }).find("'11' is none of the training classes"),
            std::string::npos);
}

TEST(MemoryReader, SparseRowsKeepTheirWidthAndSeveralTargets) {
  const std::vector<double> values = {1, 2, 3}, targets = {1, -1, 2, -2, 3, -3};
  const std::vector<std::int32_t> columns = {0, 2, 1};
  std::vector<std::int64_t> offsets = {0, 2, 2, 3};
  MemoryTable table;
  table.rows = 3;
  table.sparse = SparseArray{bytes_of(values),
                             ElementType::f64,
                             bytes_of(columns),
                             bytes_of(offsets),
                             ElementType::i32,
                             ElementType::i64,
                             3,
                             5};
  table.targets = {targets.data(), 3, 2};
  Dataset data = open_dataset(open_memory(table), {}, "X", rng::Key{1});
  EXPECT_EQ(data.encoding.inputs, 5);
  EXPECT_EQ(data.encoding.first_index, 1);
  const RowBlock rows = gather(*data.source);
  EXPECT_EQ(rows.sparse.columns, columns);
  EXPECT_EQ(rows.targets(2, 1), -3);
  offsets[1] = 4;
  EXPECT_NE(error_of([&] { open_memory(table); }).find("do not fit"), std::string::npos);
}

TEST(MemoryReader, ImagesComeChannelsLastWhateverTheirOrder) {
  std::vector<std::uint8_t> first(2 * 3 * 2 * 2);  // images, channels, height, width
  for (std::size_t k = 0; k < first.size(); ++k) first[k] = static_cast<std::uint8_t>(k);
  MemoryTable table;
  table.rows = 2;
  table.images = ImageArray{bytes_of(first), ElementType::u8, {2, 2, 3}, 12, 2, 1, 4};
  DataOptions options;
  options.target = "none";
  Dataset data = open_dataset(open_memory(table), options, "X", rng::Key{1});
  EXPECT_TRUE(data.encoding.is_bytes);
  const RowBlock rows = gather(*data.source);
  EXPECT_EQ(rows.image, (ImageShape{2, 2, 3}));
  EXPECT_EQ(std::vector<float>(rows.dense.row(1).begin(), rows.dense.row(1).end()),
            (std::vector<float>{12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23}));
}

}  // namespace
}  // namespace kerf::detail::io
