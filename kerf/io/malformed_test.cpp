// Fifty files with one fault each, for every format: the message says where the fault is.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kerf/core/random/random.h"
#include "kerf/io/arrays/npy_writer.h"
#include "kerf/io/dataset/test_files.h"

namespace kerf::detail::io {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kFiles = 50;

class Malformed : public ::testing::Test {
 protected:
  /// What a fit says of this file.
  std::string complaint(const std::string& name, std::string_view bytes,
                        const std::string& target = "last") {
    path_ = folder_.write(name, bytes);
    return error_of([&] {
      auto data = open_dataset({path_}, {.target = target}, rng::Key{1});
      gather(*data.source);
    });
  }
  std::string place(std::size_t line, std::size_t column) const {
    return path_ + ":" + std::to_string(line) + ":" + std::to_string(column);
  }

  TestFolder folder_;
  std::string path_;
};

/// Lines of cells, one of them replaced; where that cell begins (both from 1).
struct Faulty {
  std::string text;
  std::size_t line = 0, column = 0;
};

template <class Cell>
Faulty with_fault(std::uint64_t file, std::size_t lines, std::size_t cells, const char* between,
                  std::string_view fault, std::size_t first_cell, Cell cell) {
  const rng::Key key{file};
  const std::size_t bad_line = rng::below(key, 0, lines);
  const std::size_t bad_cell = first_cell + rng::below(key, 1, cells - first_cell);
  Faulty faulty;
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t begin = faulty.text.size();
    for (std::size_t j = 0; j < cells; ++j) {
      if (j > 0) faulty.text += between;
      const bool bad = i == bad_line && j == bad_cell;
      if (bad) faulty.line = i + 1, faulty.column = faulty.text.size() - begin + 1;
      faulty.text += bad ? std::string(fault) : cell(i, j);
    }
    faulty.text += '\n';
  }
  return faulty;
}

TEST_F(Malformed, TablesNameLineAndColumn) {
  const char* faults[] = {"inf", "nan", "", "?", "1e400", "NA", "-inf", "NaN"};
  for (int file = 0; file < kFiles; ++file) {
    const auto faulty = with_fault(file, 300, 6, ",", faults[file % 8], 0, [](auto i, auto j) {
      return std::to_string(0.25 * static_cast<double>(i * 7 + j) + 0.125);
    });
    const std::string message = complaint("t.csv", faulty.text);
    EXPECT_THAT(message, HasSubstr(place(faulty.line, faulty.column))) << faults[file % 8];
  }
}

TEST_F(Malformed, RaggedTablesNameTheLine) {
  for (int file = 0; file < kFiles; ++file) {
    const auto faulty =
        with_fault(file, 300, 6, ";", file % 2 ? "1;2" : "3\n4", 0,
                   [](auto i, auto j) { return std::to_string(0.5 + static_cast<double>(i + j)); });
    const std::string message = complaint("t.csv", faulty.text);
    // A first row that is cut short makes the second the odd one; so does a cut behind all cells.
    const auto at = [&](std::size_t line) { return path_ + ":" + std::to_string(line) + ":"; };
    EXPECT_THAT(message, AnyOf(StartsWith(at(faulty.line)), StartsWith(at(faulty.line + 1))));
    EXPECT_THAT(message, HasSubstr("cells"));
  }
}

TEST_F(Malformed, SparseFilesNameLineAndColumn) {
  const char* faults[] = {"3", "x:1", "2:", "2:one", "-1:2", "99999999999:1", "2:1e39", "0x3:1"};
  for (int file = 0; file < kFiles; ++file) {
    auto cell = [](std::size_t i, std::size_t j) {
      return j == 0 ? std::to_string(i % 2) : std::to_string(10 * j) + ":0.5";
    };
    const std::string_view fault = faults[file % 8];
    const auto faulty = with_fault(file, 300, 5, " ", fault, 1, cell);
    const std::string message = complaint("t.svm", faulty.text);
    // Where the entry begins, or its value if that alone is wrong.
    EXPECT_THAT(message, AnyOf(StartsWith(place(faulty.line, faulty.column)),
                               StartsWith(place(faulty.line, faulty.column + 2))))
        << fault;
  }
}

TEST_F(Malformed, ANegativeIndexInTheFirstLineMakesNoTable) {
  const std::string message = complaint("t.svm", "1 -1:2 3:4\n0 1:3\n1 2:1\n");
  EXPECT_THAT(message, StartsWith(place(1, 3)));
  EXPECT_THAT(message, HasSubstr("negative"));
}

/// Every file that is cut short is refused by name, wherever the cut is.
TEST_F(Malformed, CutArraysAndArchivesAreNamed) {
  std::string images("\0\0\x08\x03\0\0\0\x32\0\0\0\x04\0\0\0\x04", 16);
  images += std::string(50 * 16, 'p');
  Matrix<float> rows(40, 3);
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index j = 0; j < rows.cols(); ++j) rows(i, j) = static_cast<float>(i + 0.5 * j);
  NpyWriter writer(folder_.path("whole.npy"), 3);
  writer.append(rows.view());
  writer.commit();
  const std::string array = read_file(folder_.path("whole.npy"));
  const std::string cifar(3073 * 5, '\3');
  std::string table;
  for (int i = 0; i < 400; ++i) table += std::to_string(i) + "," + std::to_string(i * 0.3) + "\n";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"t.npy", array}, {"t.idx", images}, {"t.bin", cifar}, {"t.csv.gz", gzip(table)}};
  for (const auto& [name, bytes] : files)
    for (int file = 0; file < kFiles; ++file) {
      std::size_t cut = 1 + bytes.size() * static_cast<std::size_t>(file) / (kFiles + 1);
      if (name == "t.bin" && cut % 3073 == 0) ++cut;  // whole records are a whole file
      const std::string message = complaint(name, bytes.substr(0, cut), "none");
      EXPECT_THAT(message, HasSubstr(folder_.path(name))) << name << " cut at " << cut;
    }
}

}  // namespace
}  // namespace kerf::detail::io
