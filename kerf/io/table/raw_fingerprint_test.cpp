// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/raw_fingerprint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "kerf/api/error.h"
#include "kerf/core/hash.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/io/dataset/test_files.h"

namespace kerf::detail {
namespace {

using testing::HasSubstr;

/// Replaces what a file holds, in place: whoever has it open reads the new text.
void rewrite(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string table(Index rows, Index changed = -1) {
  std::string text;
  for (Index i = 0; i < rows; ++i)
    text += fmt::format("{},{},{}\n", i % 7, i == changed ? 9 : 1, i % 11 + 0.5);
  return text;
}

std::string error_of_pass(EncodedSource& source) {
  try {
    read_all(source);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(HashBytes, EveryBitCounts) {
  std::vector<double> values(37, 1.0);
  const auto hash = [&] { return hash_values<double>(values); };
  const std::uint64_t before = hash();
  EXPECT_EQ(hash(), before);
  for (double& value : values) {
    value = std::nextafter(1.0, 2.0);
    EXPECT_NE(hash(), before);
    value = 1;
  }
  std::swap(values[3] = 2, values[20]);
  const std::uint64_t swapped = hash();
  std::swap(values[3], values[20]);
  EXPECT_NE(hash(), swapped);
  values.pop_back();
  EXPECT_NE(hash(), before);
}

TEST(RewrittenFile, IsNoticedInTheNextPass) {
  io::TestFolder folder;
  const std::string path = folder.write("t.csv", table(5000));
  auto data = open_dataset({path}, {}, rng::Key{1});
  EXPECT_EQ(error_of_pass(*data.source), "");
  EXPECT_EQ(error_of_pass(*data.source), "") << "as often as one likes";
  rewrite(path, table(5000, 4321));
  EXPECT_THAT(error_of_pass(*data.source), HasSubstr("changed while it was in use"));
  rewrite(path, table(5000));
  EXPECT_EQ(error_of_pass(*data.source), "");
  rewrite(path, table(4096));
  EXPECT_THAT(error_of_pass(*data.source), HasSubstr("changed while it was in use"));
  rewrite(path, table(5001));
  EXPECT_THAT(error_of_pass(*data.source), HasSubstr("changed while it was in use"));
}

TEST(RewrittenFile, IsNoticedInWordsAndSparseRowsToo) {
  io::TestFolder folder;
  for (const auto& [name, before, after] :
       {std::tuple("w.csv", "a,1.5\nb,2.5\na,3.5\n", "a,1.5\nb,2.5\nb,3.5\n"),
        std::tuple("s.svm", "1.5 1:2\n2.5 2:3\n", "1.5 1:2\n2.5 1:3\n")}) {
    const std::string path = folder.write(name, before);
    auto data = open_dataset({path}, {}, rng::Key{1});
    EXPECT_EQ(error_of_pass(*data.source), "");
    rewrite(path, after);
    EXPECT_THAT(error_of_pass(*data.source), HasSubstr("changed while it was in use")) << name;
  }
}

TEST(DataFingerprint, TellsPermutedInputsAndOtherColumnsApart) {
  io::TestFolder folder;
  const auto of = [&](const std::string& text, const DataOptions& options = {}) {
    return open_dataset({folder.write("t.csv", text)}, options, rng::Key{1}).summary.fingerprint;
  };
  const auto rows = of("1,2,0.5\n3,4,1.5\n5,6,0.5\n");
  EXPECT_EQ(of("1,2,0.5\n3,4,1.5\n5,6,0.5\n"), rows);
  EXPECT_NE(of("5,6,0.5\n3,4,1.5\n1,2,0.5\n"), rows) << "same column sums, same targets";
  EXPECT_NE(of("1,2,0.5\n3,4,1.5\n5,6,0.5\n", {.drop = "0"}), rows);
}

TEST(RowFingerprint, CoversTheInputs) {
  const auto of = [](std::vector<float> x) {
    const std::vector<double> y(2, 1.0);
    MemorySource source(MatrixView<const float>(x.data(), 2, 2),
                        MatrixView<const double>(y.data(), 2, 1));
    return summarise(source, Task::regression, {}, rng::Key{1}).fingerprint;
  };
  EXPECT_EQ(of({1, 2, 3, 4}), of({1, 2, 3, 4}));
  EXPECT_NE(of({1, 2, 3, 4}), of({3, 4, 1, 2})) << "same column sums, same targets";
}

}  // namespace
}  // namespace kerf::detail
