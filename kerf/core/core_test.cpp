// Options, memory, threads, files, BLAS, samples: the small parts of core.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "kerf/api/error.h"
#include "kerf/core/options.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/core/system/atomic_file.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"
#include "kerf/core/system/temporary_files.h"
#include "kerf/linalg/blas.h"

static int umask_calls = 0;

/// In place of the C library's, which does the same but does not count.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umask_calls;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace kerf::detail {
namespace {

using ::testing::HasSubstr;

template <class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// ---- options ------------------------------------------------------------------------------------

struct SomeOptions {
  enum class Colour { red, blue };
  friend constexpr auto names_of(Colour) { return std::array{"red", "blue"}; }
  Index count = 3;
  double size = 0.1;
  std::optional<double> width;
  bool open = false;
  Colour colour = Colour::red;

  void describe(OptionVisitor& v) {
    v.integer("count", count, {1, 100}, "how many");
    v.real("size", size, {0, 10}, "how large");
    v.automatic("width", width, {0, 10}, "how wide");
    v.flag("open", open, "whether");
    v.choice("colour", colour, "which");
  }
};

TEST(Options, AreReadAndWrittenBack) {
  const Params params = {{"count", "1e1"},
                         {"size", "0.30000000000000004"},
                         {"width", "2"},
                         {"open", "true"},
                         {"colour", "blue"}};
  const auto options = read_options<SomeOptions>(params, "thing");
  EXPECT_EQ(options.count, 10);
  EXPECT_EQ(options.size, 0.30000000000000004);
  EXPECT_EQ(options.width, 2.0);
  EXPECT_EQ(options.colour, SomeOptions::Colour::blue);
  const Params written = write_options(options);
  EXPECT_EQ(write_options(read_options<SomeOptions>(written, "thing")), written);
  EXPECT_EQ(write_options(SomeOptions{}).at("width"), "auto");
}

TEST(Options, SayWhatIsWrong) {
  const auto message = [](const Params& params) {
    return message_of([&] { read_options<SomeOptions>(params, "thing"); });
  };
  EXPECT_THAT(message({{"colur", "red"}}), HasSubstr("did you mean 'colour'"));
  EXPECT_THAT(message({{"colour", "blu"}}), HasSubstr("did you mean 'blue'"));
  EXPECT_THAT(message({{"count", "0"}}), HasSubstr("between 1 and 100"));
  EXPECT_THAT(message({{"count", "1.5"}}), HasSubstr("whole number"));
  EXPECT_THAT(message({{"size", "1 2"}}), HasSubstr("wants a number"));
  EXPECT_THAT(message({{"size", "nan"}}), HasSubstr("wants a number"));
  EXPECT_THAT(message({{"size", "1e999"}}), HasSubstr("thing: size"));
  EXPECT_THAT(message({{"open", "maybe"}}), HasSubstr("true or false"));
}

// ---- memory -------------------------------------------------------------------------------------

TEST(Memory, SizesAreReadAndShown) {
  EXPECT_EQ(parse_bytes("8G"), Index{8} << 30);
  EXPECT_EQ(parse_bytes("1.5k"), 1536);
  EXPECT_EQ(parse_bytes("2MiB"), 2 << 20);
  EXPECT_EQ(parse_bytes("1000"), 1000);
  for (const char* bad : {"", "G", "8X", "-1G", "1e30", "8 G", "nan"})
    EXPECT_THROW(parse_bytes(bad), Error) << bad;
  EXPECT_EQ(human_bytes(1536), "1.5 KB");
  EXPECT_EQ(human_bytes(Index{200} << 20), "200 MB");
  EXPECT_EQ(human_bytes(12), "12 bytes");
}

TEST(Memory, MoreThanAllowedIsRefused) {
  EXPECT_NO_THROW(require_memory(100, 100, "this", "less"));
  EXPECT_THAT(
      message_of([] { require_memory(Index{3} << 30, Index{1} << 30, "this", "take less"); }),
      HasSubstr("this needs about 3.0 GB, but 1.0 GB is the limit given: take less"));
  EXPECT_GT(available_memory(), 1 << 20);
  EXPECT_GT(peak_memory(), 1 << 20);
  EXPECT_THROW(Matrix<double>(Index{1} << 40, Index{1} << 22), Error);
}

// ---- threads ------------------------------------------------------------------------------------

TEST(ParallelFor, CoversEverythingOnceInFixedPieces) {
  for (const int count : {1, 2, 5}) {
    const int before = threads();
    set_threads(count);
    std::vector<std::atomic<int>> seen(1003);
    parallel_for(1003, 10, [&](Index begin, Index end) {
      EXPECT_EQ(begin % 10, 0);
      for (Index i = begin; i < end; ++i) ++seen[i];
    });
    for (const auto& times : seen) ASSERT_EQ(times, 1);
    parallel_for(0, 10, [](Index, Index) { FAIL(); });
    set_threads(before);
  }
}

TEST(ParallelFor, DoesNotWaitForAJobOfAnotherThread) {
  // Two threads, each of which waits inside its job for something that the other does in its own.
  const int before = threads();
  set_threads(2);
  std::promise<void> first, second;
  std::thread other([&] {
    parallel_for(4, 1, [&](Index begin, Index) {
      if (begin > 0) return;
      first.set_value();
      second.get_future().wait();
    });
  });
  first.get_future().wait();
  std::atomic<int> done = 0;
  parallel_for(4, 1, [&](Index, Index) { ++done; });
  EXPECT_EQ(done, 4);
  second.set_value();
  other.join();
  set_threads(before);
}

TEST(ParallelFor, LimitOfOneThread) {
  const int all = threads();
  EXPECT_EQ(limit_threads(3), 0);
  EXPECT_EQ(threads(), 3);
  std::thread([&] { EXPECT_EQ(threads(), all); }).join();
  EXPECT_THROW(limit_threads(5000), Error);
  EXPECT_EQ(limit_threads(0), 3);
  EXPECT_EQ(threads(), all);
}

TEST(AtomicFile, TemporaryFilesAreRemovedInASignalHandler) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "temporary_files";
  std::filesystem::create_directories(folder);
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder),
                         std::filesystem::directory_iterator());
  };
  {
    AtomicFile whole((folder / "whole").string());
    whole.write("x", 1);
    whole.commit();
    EXPECT_TRUE(wrote_files());
    const AtomicFile half((folder / "half").string());
    EXPECT_EQ(files(), 2);
    remove_temporary_files();
    EXPECT_EQ(files(), 1);
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "whole"));
  std::filesystem::remove_all(folder);
}

TEST(ParallelFor, PassesExceptionsOnAndWorksInside) {
  EXPECT_THROW(parallel_for(100, 1,
                            [](Index begin, Index) {
                              if (begin == 37) throw Error(ErrorKind::data, "x");
                            }),
               Error);
  std::atomic<Index> sum = 0;
  parallel_for(10, 1, [&](Index i, Index) {
    parallel_for(10, 1, [&](Index j, Index) { sum += 10 * i + j; });
  });
  EXPECT_EQ(sum, 99 * 100 / 2);
  EXPECT_THROW(set_threads(0), Error);
}

// ---- files --------------------------------------------------------------------------------------

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  const std::string folder_ =
      (std::filesystem::temp_directory_path() / ("kerf_atomic_" + std::to_string(::getpid())))
          .string();
};

TEST_F(AtomicFileTest, AppearsWholeOrNotAtAll) {
  const std::string path = folder_ + "/out";
  {
    AtomicFile file(path);
    file.write("half", 4);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(files(), 0u);
  AtomicFile file(path);
  const std::string large(3 << 20, 'x');
  file.write(large.data(), large.size());
  file.write_at(1, "y", 1);
  file.commit();
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(std::filesystem::file_size(path), large.size());
  std::ifstream in(path);
  EXPECT_EQ(std::string({static_cast<char>(in.get()), static_cast<char>(in.get())}), "xy");
}

TEST_F(AtomicFileTest, SaysWhyItCannotBeWritten) {
  EXPECT_THAT(message_of([&] { AtomicFile file(folder_ + "/no/out"); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { AtomicFile file(folder_); }), HasSubstr("directory"));
  EXPECT_THROW(AtomicFile(""), Error);
  std::filesystem::create_symlink("round", folder_ + "/round");
  EXPECT_THAT(message_of([&] { AtomicFile file(folder_ + "/round"); }), HasSubstr("lead nowhere"));
}

// The umask is the whole process's: to set it for a moment is to set it for files of other threads.
TEST_F(AtomicFileTest, NeverTouchesTheUmask) {
  const mode_t before = ::umask(027);
  const int calls = umask_calls;
  for (const char* name : {"/new", "/new"}) {
    AtomicFile file(folder_ + name);
    file.commit();
  }
  EXPECT_EQ(umask_calls, calls);
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat((folder_ + "/new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(AtomicFileTest, KnowsOneFileByItsNames) {
  std::ofstream(folder_ + "/a") << "a";
  std::filesystem::create_symlink("b", folder_ + "/link");  // to nothing, so far
  EXPECT_TRUE(AtomicFile::same(folder_ + "/a", folder_ + "/./a"));
  EXPECT_TRUE(AtomicFile::same(folder_ + "/b", folder_ + "/link"));
  EXPECT_TRUE(AtomicFile::same(folder_ + "/b", folder_ + "/c/../b"));
  EXPECT_FALSE(AtomicFile::same(folder_ + "/a", folder_ + "/b"));
  EXPECT_FALSE(AtomicFile::same("/dev/null", "/dev/null"));
  EXPECT_FALSE(AtomicFile::same("/dev/stdout", "/dev/stdout"));
}

TEST_F(AtomicFileTest, LinksStayAndTheirFilesAreReplaced) {
  std::filesystem::create_directory(folder_ + "/there");
  std::filesystem::create_symlink("there/file", folder_ + "/link");
  std::filesystem::create_symlink("link", folder_ + "/chain");
  for (const char* text : {"one", "two"}) {  // nothing stands there at first
    AtomicFile::check_writable(folder_ + "/chain");
    AtomicFile file(folder_ + "/chain");
    file.write(text, 3);
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/chain"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/link"));
    std::ifstream in(folder_ + "/there/file");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
  }
  EXPECT_EQ(files(), 3u);
}

TEST_F(AtomicFileTest, PipesStayAndAreWrittenTo) {
  const std::string path = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  AtomicFile::check_writable(path);  // with nobody at the other end
  std::string seen;
  std::thread reader([&] {
    std::ifstream in(path);
    seen.assign(std::istreambuf_iterator<char>(in), {});
  });
  {
    AtomicFile file(path);
    EXPECT_FALSE(file.goes_back());
    file.write("rows", 4);
    file.commit();
  }
  reader.join();
  EXPECT_EQ(seen, "rows");
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, ADescriptorGoesOnWhereItIs) {
  const std::string path = folder_ + "/log";
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ASSERT_GE(log, 0);
  ASSERT_EQ(::write(log, "old ", 4), 4);
  AtomicFile file("/dev/fd/" + std::to_string(log));
  file.write("new", 3);
  file.commit();
  ::close(log);
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "old new");
}

// ---- BLAS ---------------------------------------------------------------------------------------

TEST(Blas, EigenvectorsAreRowsAndOrthonormalRowsAreHaarByConvention) {
  Matrix<double> a(2, 2);
  a(0, 0) = 2, a(0, 1) = 1, a(1, 0) = 1, a(1, 1) = 2;
  std::vector<double> values(2);
  blas::symmetric_eigen(a.view(), values);
  EXPECT_NEAR(values[0], 1, 1e-14);
  EXPECT_NEAR(values[1], 3, 1e-14);
  EXPECT_NEAR(a(0, 0), -a(0, 1), 1e-14);
  EXPECT_NEAR(a(1, 0), a(1, 1), 1e-14);
  Matrix<double> q(3, 5), g(3, 5);
  rng::fill_normal(rng::Key{1}, 0, std::span(g.data(), 15));
  std::copy_n(g.data(), 15, q.data());
  blas::orthonormalise_rows(q.view());
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j <= i; ++j) {
      double dot = 0, with_g = 0;
      for (Index k = 0; k < 5; ++k) dot += q(i, k) * q(j, k), with_g += q(i, k) * g(i, k);
      EXPECT_NEAR(dot, i == j ? 1 : 0, 1e-14);
      EXPECT_GT(with_g, 0);  // the diagonal of R is positive
    }
}

// ---- samples ------------------------------------------------------------------------------------

TEST(Summary, EqualsTheObviousNumbersForAnyBlocks) {
  Matrix<float> x(2500, 3);
  Matrix<double> y(2500, 1);
  for (Index i = 0; i < 2500; ++i) {
    for (Index j = 0; j < 3; ++j)
      x(i, j) = static_cast<float>(1000.0 * static_cast<double>(j) +
                                   rng::normal(rng::Key{1}, static_cast<std::uint64_t>(3 * i + j)));
    y(i, 0) = static_cast<double>(i % 2);
  }
  std::vector<float> sample;
  for (const Index block : {2500, 7}) {
    MemorySource source(x.view(), y.view(), block);
    const DataSummary s = summarise(source, Task::classification, {"a", "b"}, rng::Key{4});
    EXPECT_EQ(s.rows, 2500);
    EXPECT_EQ(s.class_rows, (std::vector<double>{1250, 1250}));
    for (Index j = 0; j < 3; ++j) {
      double mean = 0, square = 0;
      for (Index i = 0; i < 2500; ++i)
        mean += x(i, j) / 2500.0, square += double{x(i, j)} * x(i, j) / 2500;
      EXPECT_NEAR(s.mean[j], mean, 1e-9 * (1 + mean));
      EXPECT_NEAR(s.mean_square[j], square, 1e-9 * square);
    }
    ASSERT_EQ(s.sample.rows(), kSampleRows);
    const std::vector<float> rows(s.sample.dense.data(), s.sample.dense.data() + 3 * kSampleRows);
    if (!sample.empty()) {
      EXPECT_EQ(rows, sample);
    }
    sample = rows;
  }
}

}  // namespace
}  // namespace kerf::detail
