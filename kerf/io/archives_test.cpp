// xz, zstd, npz, CIFAR, directories, and files damaged on purpose.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zstd.h>

#include <cstdlib>

#include "kerf/core/random/random.h"
#include "kerf/io/arrays/npy_writer.h"
#include "kerf/io/dataset/test_files.h"

namespace kerf::detail::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::vector<double>>;

std::string xz(std::string_view bytes) {
  std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
  std::size_t size = 0;
  lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr,
                          reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
                          reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  out.resize(size);
  return out;
}

std::string zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);  // as the program zstd does
  out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size()));
  return out;
}

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k)
    text += static_cast<char>(k < 8 ? value >> (8 * k) & 255 : 0);  // more: zeros
  return text;
}

/// A zip archive of named members, deflated or stored.
std::string zip(const std::vector<std::pair<std::string, std::string>>& members, bool deflated) {
  std::string archive, directory;
  for (const auto& [name, bytes] : members) {
    // A gzip member is a 10-byte header, the raw deflate stream and 8 bytes of trailer.
    const std::string packed = deflated ? gzip(bytes).substr(10, gzip(bytes).size() - 18) : bytes;
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    const std::string common = little(0, 2) + little(deflated ? 8 : 0, 2) + little(0, 4) +
                               little(checksum, 4) + little(packed.size(), 4) +
                               little(bytes.size(), 4) + little(name.size(), 2) + little(0, 2);
    directory += "PK\1\2" + little(20, 2) + little(20, 2) + common + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(archive.size(), 4) + name;
    archive += "PK\3\4" + little(20, 2) + common + name + packed;
  }
  return archive + directory + "PK\5\6" + little(0, 4) + little(members.size(), 2) +
         little(members.size(), 2) + little(directory.size(), 4) + little(archive.size(), 4) +
         little(0, 2);
}

class Archives : public FileTest {
 protected:
  std::string npy(std::vector<float> values, Index rows) {
    NpyWriter writer(folder_.path("tmp.npy"), static_cast<Index>(values.size()) / rows);
    writer.append(
        MatrixView<const float>(values.data(), rows, static_cast<Index>(values.size()) / rows));
    writer.commit();
    return read_file(folder_.path("tmp.npy"));
  }
};

TEST_F(Archives, EveryCompressionAndEveryCutGivesTheSameRows) {
  std::string text = "a,b\n";
  for (int i = 0; i < 100000; ++i)
    text += std::to_string(i) + "," + std::to_string(i * 7 % 1000) + "\n";
  const auto plain = read("t.csv", text);
  const std::string half = text.substr(0, text.size() / 2), rest = text.substr(text.size() / 2);
  for (const auto& packed : {gzip(text), xz(text), zstd(text), gzip(half) + gzip(rest),
                             xz(half) + xz(rest), zstd(half) + zstd(rest)})
    for (const Index rows : {1 << 20, 2048, 999}) {
      EXPECT_EQ(read("packed", packed, rows).cells, plain.cells);
      reader_->rewind();
      EXPECT_EQ(read_all(*reader_, rows).cells.size(), plain.cells.size());
    }
  for (const auto& packed : {xz(text), zstd(text)}) {
    EXPECT_THAT(error("packed", packed.substr(0, packed.size() - 1)), HasSubstr("cut short"));
    EXPECT_THAT(error("packed", packed.substr(0, packed.size() / 2)), HasSubstr("cut short"));
    std::string damaged = packed;
    for (std::size_t k = 0; k < 40; ++k) damaged[damaged.size() / 2 + k] ^= 0x55;
    EXPECT_THAT(error("packed", damaged), HasSubstr("damaged"));
  }
}

TEST_F(Archives, NpzHoldsRowsAndLabels) {
  for (const bool deflated : {false, true}) {
    const auto both =
        zip({{"y.npy", npy({0, 1, 0}, 3)}, {"X.npy", npy({1, 2, 3, 4, 5, 6}, 3)}}, deflated);
    const auto all = read("d.npz", both, 2);
    EXPECT_EQ(all.cells, (Rows{{1, 2}, {3, 4}, {5, 6}}));
    EXPECT_THAT(all.labels, ElementsAre(0, 1, 0));
    reader_->rewind();
    EXPECT_EQ(read_all(*reader_).cells, all.cells);
    EXPECT_EQ(read("d.npz", zip({{"any.npy", npy({7, 8}, 2)}}, deflated)).cells, (Rows{{7}, {8}}));
    EXPECT_THAT(error("d.npz", zip({{"p.npy", npy({1}, 1)}, {"q.npy", npy({1}, 1)}}, deflated)),
                HasSubstr("no array X"));
  }
  std::string damaged = zip({{"X.npy", npy({1, 2}, 2)}}, false);
  damaged[30 + 5 + 128] ^= 1;
  EXPECT_THAT(error_of([&] {
                auto reader = open_path(folder_.write("d.npz", damaged));
                RawBlock block;
                while (reader->next(block, 10)) {
                }
              }),
              HasSubstr("damaged"));
  EXPECT_THAT(error("d.zip", zip({{"table.csv", "1,2\n"}}, false)), HasSubstr("unpack"));
}

/// The same archive with a directory of the form for more than 4 GB: its place in a record of its own
/// with a locator, the members' sizes and places in extra fields.
std::string zip64(const std::string& name, const std::string& bytes) {
  const auto checksum =
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  const std::string nowhere = little(0xFFFFFFFF, 4), fields = little(0, 8) + little(checksum, 4);
  const std::string sizes = little(bytes.size(), 8) + little(bytes.size(), 8);
  const std::string archive = "PK\3\4" + little(45, 2) + fields + nowhere + nowhere +
                              little(name.size(), 2) + little(20, 2) + name + little(1, 2) +
                              little(16, 2) + sizes + bytes;
  const std::string directory = "PK\1\2" + little(45, 2) + little(45, 2) + fields + nowhere +
                                nowhere + little(name.size(), 2) + little(28, 2) + little(0, 10) +
                                nowhere + name + little(1, 2) + little(24, 2) + sizes +
                                little(0, 8);
  const std::string record = "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) +
                             little(0, 8) + little(1, 8) + little(1, 8) +
                             little(directory.size(), 8) + little(archive.size(), 8);
  const std::string locator =
      "PK\6\7" + little(0, 4) + little(archive.size() + directory.size(), 8) + little(1, 4);
  return archive + directory + record + locator + "PK\5\6" + little(0, 4) + little(0xFFFF, 2) +
         little(0xFFFF, 2) + nowhere + nowhere + little(0, 2);
}

TEST_F(Archives, NpzBeyondFourGigabytesHasItsDirectoryElsewhere) {
  const std::string archive = zip64("X.npy", npy({1, 2, 3, 4}, 2));
  EXPECT_EQ(read("d.npz", archive).cells, (Rows{{1, 2}, {3, 4}}));
  const std::size_t record = archive.find("PK\6\6"), locator = archive.find("PK\6\7");
  for (const std::size_t at : {record, record + 47, record + 55, locator, locator + 15}) {
    std::string damaged = archive;
    damaged[at] = '\x7F';
    EXPECT_THAT(error("d.npz", damaged), HasSubstr("damaged")) << at - record;
  }
}

std::string cifar(int records, int label_bytes) {
  std::string bytes;
  for (int i = 0; i < records; ++i) {
    if (label_bytes == 2) bytes += static_cast<char>(i % 20);
    bytes += static_cast<char>(label_bytes == 2 ? 50 + i : i % 10);
    for (int c = 0; c < 3; ++c)
      for (int p = 0; p < 1024; ++p) bytes += static_cast<char>((p + 80 * c + i) & 255);
  }
  return bytes;
}

TEST_F(Archives, CifarRowsAreImagesWithInterleavedChannels) {
  for (const int label_bytes : {1, 2}) {
    const auto all = read("data_batch_1.bin", cifar(3, label_bytes), 2);
    EXPECT_EQ(reader_->schema().image, (ImageShape{32, 32, 3}));
    ASSERT_EQ(all.cells.size(), 3u);
    EXPECT_EQ(all.labels[2], label_bytes == 2 ? 52 : 2);
    for (int p = 0; p < 1024; ++p)
      for (int c = 0; c < 3; ++c) ASSERT_EQ(all.cells[1][3 * p + c], (p + 80 * c + 1) & 255);
  }
  EXPECT_EQ(read("no-name", zstd(cifar(12, 1))).cells.size(), 12u);
  EXPECT_THAT(error("test_batch.bin", cifar(3, 1) + "abcde"), HasSubstr("cut short"));
}

TEST_F(Archives, ADirectoryIsItsFiles) {
  std::filesystem::create_directory(folder_.path("d"));
  folder_.write("d/part2.csv", "5,6\n");
  folder_.write("d/part1.csv", "1,2\n3,4\n");
  EXPECT_EQ(read_all(*open_path(folder_.path("d"))).cells, (Rows{{1, 2}, {3, 4}, {5, 6}}));
  folder_.write("d/train.csv", "1,2\n");
  folder_.write("d/test.csv", "1,2\n");
  EXPECT_THAT(error_of([&] { open_path(folder_.path("d")); }), HasSubstr("both training and test"));
  std::filesystem::create_directory(folder_.path("e"));
  EXPECT_THAT(error_of([&] { open_path(folder_.path("e")); }), HasSubstr("has no files"));
}

/// Change number `k` of `bytes`: cut, flip, overwrite, insert, repeat.
std::string mutated(std::string bytes, std::uint64_t k) {
  const rng::Key key{k};
  const std::size_t at = rng::below(key, 0, bytes.size());
  const std::size_t head = rng::below(key, 1, std::min<std::size_t>(bytes.size(), 200));
  const auto any = static_cast<char>(rng::below(key, 2, 256));
  switch (k % 6) {
    case 0:
      return bytes.substr(0, at);
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << (k / 6 % 8));
      return bytes;
    case 2:
      bytes[head] = any;  // headers are where sizes stand
      return bytes;
    case 3:
      return bytes.insert(at, 1 + k % 5, any);
    case 4:
      return bytes.insert(head, bytes.substr(at, 50));
    default:
      return bytes.erase(head, 1 + k % 9);
  }
}

TEST_F(Archives, DamagedFilesGiveAnErrorOrRows) {
  std::string table = "g,x,y\n", sparse;
  for (int i = 0; i < 60; ++i) {
    table += std::string(i % 2 ? "\"u\"\"v\"" : "w") + "," + std::to_string(i * 0.37) + "," +
             std::to_string(i % 3) + "\n";
    sparse += std::to_string(i % 2) + " 1:" + std::to_string(i) + " 7:0.5\n";
  }
  std::vector<float> values(120);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  const std::string array = npy(values, 40);
  std::string images("\0\0\x08\x03\0\0\0\x0a\0\0\0\x02\0\0\0\x02", 16);
  images += std::string(40, 'p');
  const std::vector<std::pair<std::string, std::string>> files = {
      {"t.csv", table},
      {"t.svm", sparse},
      {"t.npy", array},
      {"t.idx", images},
      {"t.npz", zip({{"X.npy", array}, {"y.npy", npy(std::vector<float>(40, 1), 40)}}, true)},
      {"s.npz", zip({{"X.npy", array}}, false)},
      {"t.bin", cifar(10, 1)},
      {"t.gz", gzip(table)},
      {"t.xz", xz(table)},
      {"t.zst", zstd(table)}};
  for (const auto& [name, bytes] : files) {
    const std::string target = name == "t.idx" ? "none" : "last";
    int refused = 0;
    for (std::uint64_t k = 0; k < 60; ++k) {
      const auto path = folder_.write(name, mutated(bytes, k));
      const std::string message = error_of([&] {
        auto data = open_dataset({path}, {.target = target}, rng::Key{1});
        gather(*data.source);
      });
      refused += !message.empty();
    }
    EXPECT_GT(refused, 5) << name;
  }
}

TEST_F(Archives, ReadingAheadKeepsErrorsInTheirPlace) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + "," + std::to_string(i * 0.5) + "\n";
  auto data = open_dataset({folder_.write("t.csv", text)}, {}, rng::Key{1});
  text += "1,2,3\n";
  auto rows = open_for_model({folder_.write("t.csv", text)}, data.encoding, {});
  RowBlock block;
  EXPECT_TRUE(rows->next(block));
  EXPECT_TRUE(rows->next(block));
  EXPECT_THAT(error_of([&] { rows->next(block); }), HasSubstr(":5001: this row has 3 cells"));
  rows->rewind();
  EXPECT_TRUE(rows->next(block));
  EXPECT_EQ(block.first_row, 0);
}

std::string shared_data() {
  const char* folder = std::getenv("KERF_SHARED");
  return folder != nullptr ? folder : KERF_SOURCE_DIR "/../shared";
}

TEST(SharedData, EverySetLoadsSlow) {
  const std::filesystem::path root = std::filesystem::path(shared_data()) / "data";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << root << " is not there";
  int sets = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    const bool table = name.ends_with(".csv.gz") && name.find("mask") == std::string::npos;
    const bool other = name.starts_with("a9a") || name.find("-images-idx3") != std::string::npos ||
                       name == "test_batch.bin.xz";
    if (!table && !other) continue;
    SCOPED_TRACE(name);
    DataOptions options{.missing = Missing::mean};
    if (name ==
        "flights.csv.gz")  // as people have tables: a word for every aircraft, times, no target
      options = {.target = "arr_delay", .drop = "tailnum,time_hour", .missing = Missing::drop};
    const DataSummary summary = open_dataset({entry.path().string()}, options, rng::Key{1}).summary;
    EXPECT_GT(summary.rows, 0);
    // The moves to a mate are whole numbers in order: classes only if somebody says so.
    if (entry.path().parent_path().filename() == "uci_fd" && name != "chess-krvk.csv.gz") {
      EXPECT_EQ(summary.task, Task::classification) << summary.task_reason;
    }
    if (name == "a9a.gz") {
      EXPECT_EQ(summary.rows, 32561);
      EXPECT_EQ(summary.cols, 123);
      EXPECT_THAT(summary.classes, ElementsAre("-1", "1"));
    }
    if (name == "t10k-images-idx3-ubyte.gz") {
      EXPECT_EQ(summary.rows, 10000);
      EXPECT_EQ(summary.classes.size(), 10u);
    }
    if (name == "test_batch.bin.xz") {
      EXPECT_EQ(summary.rows, 10000);
    }
    ++sets;
  }
  EXPECT_GE(sets, 120);
}

}  // namespace
}  // namespace kerf::detail::io
