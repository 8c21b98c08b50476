// libsvm, npy, idx, compression, and labels from other files.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "kerf/io/arrays/idx.h"
#include "kerf/io/arrays/npy.h"
#include "kerf/io/arrays/npy_writer.h"
#include "kerf/io/dataset/test_files.h"
#include "kerf/io/text/libsvm.h"

namespace kerf::detail::io {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::vector<double>>;

using Formats = FileTest;

TEST_F(Formats, LibsvmReadsRowsLabelsAndComments) {
  const auto all =
      read("a", "# made by hand\n+1 1:0.5 3:-2e1 # note\n\n-1 qid:4 2:1\r\n1\n0.5  7:1e-3 \n");
  EXPECT_TRUE(reader_->schema().sparse);
  EXPECT_EQ(all.cells, (Rows{{1, 0.5, 3, -20}, {2, 1}, {}, {7, 1e-3f}}));
  EXPECT_THAT(all.labels, ElementsAre(1, -1, 1, 0.5));
  EXPECT_THAT(all.lines, ElementsAre(2, 4, 5, 6));
}

TEST_F(Formats, LibsvmMayBeginWithAMark) {
  for (const Index block : {1, 10}) {
    const auto all = read("a", "\xEF\xBB\xBF-1 1:0.5 3:2\n1 2:1\n", block);
    EXPECT_TRUE(reader_->schema().sparse);
    EXPECT_EQ(all.cells, (Rows{{1, 0.5, 3, 2}, {2, 1}}));
    EXPECT_THAT(all.labels, ElementsAre(-1, 1));
  }
}

TEST_F(Formats, TablesAreNoImagesForTheNameOfTheirFolder) {
  std::string text = "\ta\tb\n";
  for (int i = 0; i < 3000; ++i) text += std::to_string(i) + "\t1.5\t2\n";
  std::filesystem::create_directory(folder_.path("batch.bin"));
  EXPECT_EQ(read("batch.bin/t.tsv", text).cells.size(), 3000u);
  EXPECT_EQ(read("batch.bin/batch.tsv", text).cells.size(), 3000u);
}

TEST_F(Formats, LabelsInAFolderAreNoRows) {
  for (const char* name : {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte"}) {
    std::filesystem::create_directory(folder_.path("f"));
    folder_.write("f/train-images.idx3-ubyte", "x");
    folder_.write(std::string("f/") + name, "x");
    EXPECT_EQ(expand_directories({folder_.path("f")}).size(), 1u) << name;
  }
}

TEST_F(Formats, LibsvmNamesWhatIsWrong) {
  EXPECT_THAT(error("a", "1 1:2\n1 2:1 2:1\n"), HasSubstr(":2:7: indices must ascend"));
  EXPECT_THAT(error("a", "1 1:2\n1 2:x\n"),
              HasSubstr(":2:5: the value must be a finite number, not 'x'"));
  EXPECT_THAT(error("a", "1 1:2\nz 2:1\n"), HasSubstr(":2:1: a label"));
  EXPECT_THAT(error("a", "1 1:2\n1 99999999999:1\n"), HasSubstr(":2:3: the index is larger"));
  EXPECT_THAT(error("a", "1 1:2\n1 3:1e39\n"), HasSubstr("finite"));
  EXPECT_THAT(error("a", "1 1:2\n1 -3:1\n"), HasSubstr("index:value"));
}

/// An npy file; `data` are the elements' bytes.
std::string npy(const std::string& descr, const std::string& shape, std::string_view data,
                bool fortran = false, int version = 1) {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header.resize((header.size() + 12) / 64 * 64 + 64 - 12 - 1, ' ');
  header += '\n';
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k)
    text += static_cast<char>(header.size() >> (8 * k) & 255);
  return text + header + std::string(data);
}

template <class T>
std::string bytes_of(std::initializer_list<T> values, bool swap = false) {
  std::string bytes;
  for (const T value : values) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (swap) std::reverse(raw, raw + sizeof(T));
    bytes.append(raw, sizeof(T));
  }
  return bytes;
}

TEST_F(Formats, NpyReadsEveryElementType) {
  const Rows expected{{1, 2, 3}, {4, 5, 6}};
  const auto check = [&]<class T>(const std::string& type, T) {
    for (const bool big : {false, true}) {
      const auto data = bytes_of<T>({1, 2, 3, 4, 5, 6}, big);
      EXPECT_EQ(read("x.npy", npy((big ? ">" : "<") + type, "(2, 3)", data)).cells, expected)
          << type;
    }
  };
  check("f4", 1.0f);
  check("f8", 1.0);
  check("i1", std::int8_t{1});
  check("u1", std::uint8_t{1});
  check("i2", std::int16_t{1});
  check("u2", std::uint16_t{1});
  check("i4", std::int32_t{1});
  check("u4", std::uint32_t{1});
  check("i8", std::int64_t{1});
  check("u8", std::uint64_t{1});
  EXPECT_EQ(read("x.npy", npy("|b1", "(2,)", std::string("\0\1", 2))).cells, (Rows{{0}, {1}}));
  // 1, -2, the smallest half, 65504
  const auto halves = bytes_of<std::uint16_t>({0x3C00, 0xC000, 0x0001, 0x7BFF});
  EXPECT_EQ(read("x.npy", npy("<f2", "(4,)", halves)).cells,
            (Rows{{1}, {-2}, {std::ldexp(1.0, -24)}, {65504}}));
}

TEST_F(Formats, NpyReadsFortranOrderVersionsAndBlocks) {
  const Rows expected{{1, 2}, {3, 4}, {5, 6}};
  const auto by_columns = bytes_of<double>({1, 3, 5, 2, 4, 6});
  EXPECT_EQ(read("x.npy", npy("<f8", "(3, 2)", by_columns, true), 2).cells, expected);
  const auto by_rows = bytes_of<double>({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(read("x.npy", npy("<f8", "(3, 2)", by_rows, false, 2), 2).cells, expected);
  EXPECT_EQ(read("x.npy", npy("<f8", "(3L, 2L)", by_rows, false, 3), 1).cells, expected);
  reader_->rewind();
  EXPECT_EQ(read_all(*reader_).cells, expected);
  EXPECT_THAT(error("x.npy.gz", gzip(npy("<f8", "(3, 2)", by_columns, true))),
              HasSubstr("Fortran"));
}

TEST_F(Formats, NpyImagesAndOddValues) {
  read("x.npy", npy("|u1", "(2, 2, 3)", std::string(12, 'a')));
  EXPECT_EQ(reader_->schema().image, (ImageShape{2, 3, 1}));
  EXPECT_TRUE(reader_->schema().bytes);
  read("x.npy", npy("<f4", "(1, 2, 2, 3)", std::string(48, '\0')));
  EXPECT_EQ(reader_->schema().image, (ImageShape{2, 2, 3}));
  EXPECT_FALSE(reader_->schema().bytes);
  const auto odd = bytes_of<double>({1, NAN, INFINITY, 2});
  EXPECT_THAT(read("x.npy", npy("<f8", "(2, 2)", odd)).odd, ElementsAre("0,1:nan", "1,0:inf"));
}

TEST_F(Formats, NpyRefusesWhatCannotBeMeant) {
  EXPECT_THAT(error("x.npy", npy("<f8", "(3, 2)", "12345678")), HasSubstr("cut short"));
  EXPECT_THAT(error("x.npy.gz", gzip(npy("<f8", "(3, 2)", "12345678"))), HasSubstr("cut short"));
  EXPECT_THAT(error("x.npy.gz", gzip(npy("<f8", "(100000000, 100000)", ""))),
              HasSubstr("cut short"));
  EXPECT_THAT(error("x.npy", npy("<f8", "(9000000000000000000, 9)", "")),
              HasSubstr("no file can hold"));
  EXPECT_THAT(error("x.npy", npy("<f8", "(2, 9000000000000000000)", "")),
              HasSubstr("not possible"));
  EXPECT_THAT(error("x.npy", npy("<f8", "(99999999999999999999, 2)", "")), HasSubstr("no size"));
  EXPECT_THAT(error("x.npy", npy("<f8", "(2, 0)", "")), HasSubstr("not possible"));
  EXPECT_THAT(error("x.npy", npy("<f8", "(0, 100000000)", "")), HasSubstr("no rows"));
  EXPECT_THAT(error("x.npy.gz", gzip(npy("<f8", "(1, 1073741824)", ""))),
              AnyOf(HasSubstr("cut short"), HasSubstr("a row of 1073741824 columns")));
  EXPECT_THAT(error("x.npy", npy("|O", "(2, 2)", "")), HasSubstr("not numbers"));
  EXPECT_THAT(error("x.npy", npy("<c16", "(2, 2)", "")), HasSubstr("not numbers"));
  EXPECT_THAT(error("x.npy", npy("<f8", "()", "")), HasSubstr("0 dimensions"));
  EXPECT_THAT(error("x.npy", "\x93NUMPY\x01"), HasSubstr("npy"));
}

TEST_F(Formats, NpyWriterIsReadBack) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  for (const auto type : {NpyWriter::Type::float32, NpyWriter::Type::float64}) {
    NpyWriter writer(folder_.path("w.npy"), 2, type);
    writer.append(MatrixView<const float>(values.data(), 1, 2));
    writer.append(MatrixView<const float>(values.data() + 2, 2, 2));
    writer.commit();
    EXPECT_EQ(read_all(*open_path(folder_.path("w.npy"))).cells, (Rows{{1, 2}, {3, 4}, {5, 6}}));
    EXPECT_EQ(writer.rows(), 3);
  }
  { NpyWriter abandoned(folder_.path("never.npy"), 2); }
  EXPECT_FALSE(std::filesystem::exists(folder_.path("never.npy")));
}

std::string idx(int type, std::vector<std::uint32_t> shape, std::string_view data) {
  std::string text(2, '\0');
  text += static_cast<char>(type);
  text += static_cast<char>(shape.size());
  for (const std::uint32_t size : shape)
    for (int k = 3; k >= 0; --k) text += static_cast<char>(size >> (8 * k) & 255);
  return text + std::string(data);
}

TEST_F(Formats, IdxFindsItsLabels) {
  folder_.write("train-labels-idx1-ubyte.gz", gzip(idx(8, {3}, "\x01\x02\x01")));
  const auto all = read("train-images-idx3-ubyte", idx(8, {3, 1, 2}, "abcdef"), 2);
  EXPECT_TRUE(reader_->schema().labelled);
  EXPECT_EQ(reader_->schema().image, (ImageShape{1, 2, 1}));
  EXPECT_EQ(all.cells, (Rows{{97, 98}, {99, 100}, {101, 102}}));
  EXPECT_THAT(all.labels, ElementsAre(1, 2, 1));
  folder_.write("train-labels-idx1-ubyte.gz", gzip(idx(8, {2}, "\x01\x02")));
  EXPECT_THAT(error("train-images-idx3-ubyte", idx(8, {3, 1, 2}, "abcdef")), HasSubstr("2 labels"));
  folder_.write("train-labels-idx1-ubyte.gz", gzip(idx(8, {4}, "\x01\x02\x03\x04")));
  EXPECT_THAT(error("train-images-idx3-ubyte", idx(8, {3, 1, 2}, "abcdef")),
              HasSubstr("more labels"));
}

TEST_F(Formats, IdxReadsOtherTypesAndRefusesWrongSizes) {
  EXPECT_EQ(read("x", idx(0x0D, {1, 2}, bytes_of<float>({1.5f, -2}, true))).cells,
            (Rows{{1.5, -2}}));
  EXPECT_EQ(read("x", idx(0x0B, {2}, bytes_of<std::int16_t>({-3, 4}, true))).cells,
            (Rows{{-3}, {4}}));
  EXPECT_THAT(error("x", idx(8, {3, 1, 2}, "abcde")), HasSubstr("cut short"));
  EXPECT_THAT(error("x.gz", gzip(idx(8, {3, 1, 2}, "abcde"))), HasSubstr("cut short"));
  EXPECT_THAT(error("x.gz", gzip(idx(8, {4000000, 30000, 30000}, "abcde"))),
              AnyOf(HasSubstr("cut short"), HasSubstr("a row of 900000000 columns")));
  EXPECT_THAT(error("x", idx(8, {1, 4000000000, 4000000000}, "abcde")), HasSubstr("not possible"));
}

TEST_F(Formats, GzipMembersTruncationAndDamage) {
  std::string text;
  for (int i = 0; i < 50000; ++i)
    text += std::to_string(i) + "," + std::to_string(i * 7 % 1000) + "\n";
  const auto plain = read("t.csv", text);
  const std::string half = text.substr(0, text.size() / 2), rest = text.substr(text.size() / 2);
  EXPECT_EQ(read("t.csv.gz", gzip(half) + gzip(rest)).cells, plain.cells);
  EXPECT_EQ(read("named-otherwise", gzip(half) + gzip(rest) + std::string(512, '\0')).cells,
            plain.cells);
  EXPECT_THAT(error("t.csv.gz", gzip(text) + "garbage"), HasSubstr("damaged"));
  std::string packed = gzip(text);
  EXPECT_THAT(error("t.csv.gz", packed.substr(0, packed.size() - 1)), HasSubstr("cut short"));
  EXPECT_THAT(error("t.csv.gz", packed.substr(0, packed.size() / 2)), HasSubstr("cut short"));
  packed[packed.size() - 6] ^= 1;  // the checksum
  EXPECT_THAT(error("t.csv.gz", packed), HasSubstr("damaged"));
  EXPECT_THAT(error_of([&] { open_path(folder_.path("absent.csv")); }), HasSubstr("cannot open"));
}

TEST_F(Formats, SeveralFilesAreOneSource) {
  const auto a = folder_.write("a.csv", "x,y\n1,2\n3,4\n"),
             b = folder_.write("b.csv", "x,y\n5,6\n");
  const auto reader = open_source({a, b}, {}, "", true);
  const Rows expected{{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(read_all(*reader).cells, expected);
  reader->rewind();
  EXPECT_EQ(read_all(*reader, 1).cells, expected);
  const auto c = folder_.write("c.csv", "x,y,z\n5,6,7\n");
  EXPECT_THAT(error_of([&] {
                read_all(*open_source({a, c}, {}, "", true));
              }),
              HasSubstr("3 columns"));
}

TEST_F(Formats, LabelsMayBeWordsInAnotherFile) {
  const auto rows = folder_.write("x.npy", npy("<f8", "(2, 1)", bytes_of<double>({1, 2})));
  const auto labels = folder_.write("y.csv", "label\ncat\ndog\n");
  const auto all = read_all(*open_source({rows}, {}, labels, true));
  EXPECT_THAT(all.odd, ElementsAre("0,-1:cat", "1,-1:dog"));
}

/// A pipe that holds `bytes`, by the name that a shell gives to <(command).
class Pipe {
 public:
  explicit Pipe(std::string_view bytes) {
    EXPECT_EQ(::pipe(ends_), 0);
    EXPECT_EQ(::write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(ends_[1]);
  }
  ~Pipe() { ::close(ends_[0]); }
  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2] = {};
};

TEST_F(Formats, PipesAreReadTwice) {
  const Pipe pipe(gzip("1,2\n3,4\n"));
  const auto reader = open_source({pipe.path()}, {}, "", true);
  for (int pass = 0; pass < 2; ++pass, reader->rewind())
    EXPECT_EQ(read_all(*reader).cells, (Rows{{1, 2}, {3, 4}}));
}

TEST_F(Formats, PipesInAChainAreReadTwice) {
  const Pipe first("1,2\n3,4\n"), second("5,6\n"), labels("7\n8\n9\n");
  const auto reader = open_source({first.path(), second.path()}, {}, labels.path(), true);
  for (int pass = 0; pass < 2; ++pass) {
    const auto all = read_all(*reader);
    EXPECT_EQ(all.cells, (Rows{{1, 2}, {3, 4}, {5, 6}}));
    EXPECT_THAT(all.labels, ElementsAre(7, 8, 9));
    reader->rewind();
  }
}

TEST_F(Formats, RewindBeforeTheFirstReadIsNoReading) {
  for (const char* text : {"1,2\n3,4\n", "1 1:2\n2 2:1\n"}) {
    const Pipe pipe(text);
    const auto reader = open_source({pipe.path()}, {}, "", false);
    EXPECT_EQ(error_of([&] { reader->rewind(); }), "");
    EXPECT_EQ(read_all(*reader).cells.size(), 2u);
    EXPECT_THAT(error_of([&] { reader->rewind(); }), HasSubstr("only once"));
  }
}

TEST_F(Formats, RewindAfterAFailureInTheFirstBlock) {
  // Rows so long that no buffer has read the second one before the file is cut.
  constexpr std::size_t kColumns = 1 << 20;
  const std::string head("\0\0\x08\x02\0\0\0\x02\0\x10\0\0", 12);
  const std::string a(kColumns, 'a'), b(kColumns, 'b');
  const std::string path = folder_.write("a", head + a + b);
  const auto reader = open_path(path);
  std::filesystem::resize_file(path, head.size() + a.size());
  EXPECT_THAT(error_of([&] { read_all(*reader); }), HasSubstr("cut short"));
  std::ofstream(path, std::ios::binary | std::ios::app) << b;
  reader->rewind();
  EXPECT_EQ(read_all(*reader).cells,
            (Rows{Rows::value_type(kColumns, 'a'), Rows::value_type(kColumns, 'b')}));
}

TEST_F(Formats, LibsvmIndicesOfAnyLength) {
  for (const std::size_t digits : {10u, 19u, 20u, 60u})
    EXPECT_THAT(error("a", "1 1:2\n1 " + std::string(digits, '9') + ":1\n"),
                HasSubstr(":2:3: the index is larger"));
}

}  // namespace
}  // namespace kerf::detail::io
