// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/registry.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/io/arrays/cifar.h"
#include "kerf/io/arrays/idx.h"
#include "kerf/io/arrays/npy.h"
#include "kerf/io/arrays/npz.h"
#include "kerf/io/combine.h"
#include "kerf/io/text/csv.h"
#include "kerf/io/text/libsvm.h"

namespace kerf::detail::io {
namespace {

constexpr std::size_t kHeadBytes = 1 << 16;

bool is_npy(std::string_view head, const std::string&) { return looks_like_npy(head); }
bool is_idx(std::string_view head, const std::string&) { return looks_like_idx(head); }
bool is_npz(std::string_view head, const std::string&) { return looks_like_npz(head); }
bool is_libsvm(std::string_view head, const std::string&) { return looks_like_libsvm(head); }

/// Text is what has no zero bytes (UTF-16 has them, but it says so in its first two bytes).
bool is_text(std::string_view head, const std::string&) {
  return head.find('\0') == std::string_view::npos || head.starts_with("\xFF\xFE") ||
         head.starts_with("\xFE\xFF");
}

// One line per format; the first that matches reads the file.
constexpr Format kFormats[] = {
    {"npy", "NumPy array: 1-d and 2-d tables, 3-d and 4-d images", is_npy, open_npy},
    {"idx", "images and labels as MNIST has them", is_idx, open_idx},
    {"npz", "NumPy archive with the arrays X and y", is_npz, open_npz},
    {"cifar", "CIFAR-10 and CIFAR-100 binary files", looks_like_cifar, open_cifar},
    {"libsvm", "sparse rows of text: label index:value ...", is_libsvm, open_libsvm},
    {"csv", "tables of text: CSV, TSV, blanks", is_text, open_csv},
};

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

/// Labels belong to the images beside them; they are no rows of their own.
bool is_labels(const std::string& lower_name) {
  const std::size_t at = lower_name.find("labels");
  return at != std::string::npos && lower_name.find("idx1", at) != std::string::npos;
}

/// Columns of a table have names and an encoding each; pixels have their sums and places only.
void require_room(const Schema& schema, Index memory_limit, const std::string& name) {
  constexpr Index kBytesOfPixel = 256;
  if (!schema.image.present()) return require_columns(schema.columns, memory_limit, name);
  require_memory(schema.columns * kBytesOfPixel, memory_limit,
                 fmt::format("{}: a row of {} columns", name, schema.columns),
                 "raise " + spell("memory"));
}

/// Formats that kerf does not read but many have: what to do about them.
void refuse_foreign(std::string_view head, const std::string& name) {
  const std::string file = lower_case(name);
  const auto refuse = [&](const char* what, const char* how) {
    fail(ErrorKind::data, "{} is {}, which kerf does not read: {}", name, what, how);
  };
  if (head.starts_with("PAR1"))
    refuse("a Parquet file", "write it as CSV or npy (pandas.read_parquet(...).to_csv(...))");
  if (head.starts_with("\x89HDF"))
    refuse("an HDF5 file", "write its array as npy (h5py, then numpy.save)");
  if (head.starts_with("PK") && (file.ends_with(".xlsx") || file.ends_with(".ods")))
    refuse("a spreadsheet", "save it as CSV");
  if (head.starts_with("PK\3\4") && !looks_like_npz(head))
    refuse("a zip archive", "unpack it first");
  if (head.starts_with("\xD0\xCF\x11\xE0")) refuse("an old Excel file", "save it as CSV");
  if (head.starts_with("ARROW1"))
    refuse("an Arrow file", "write it as CSV or npy (pandas.read_feather(...).to_csv(...))");
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  const bool arff = first != std::string_view::npos &&
                    lower_case(std::string(head.substr(first, 9))) == "@relation";
  if (arff || file.ends_with(".arff"))
    refuse("an ARFF file", "write it as CSV (scipy.io.arff.loadarff, or Weka's CSVSaver)");
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

std::unique_ptr<Reader> open_reader(std::shared_ptr<File> file, const std::string& path,
                                    const ReadOptions& options, bool find_labels) {
  InputStream input(std::move(file));
  const std::string name = input.name();
  const std::string_view head = input.peek(kHeadBytes);
  KERF_REQUIRE(!head.empty(), data, "{} is empty", name);
  refuse_foreign(head, name);
  for (const Format& format : kFormats) {
    if (!format.matches(head, path)) continue;
    auto reader = format.open(std::move(input), options);
    require_room(reader->schema(), options.memory_limit, name);
    if (find_labels && reader->schema().image.present() && !reader->schema().labelled) {
      const std::string labels = labels_sibling(path);
      if (!labels.empty())
        return with_labels(std::move(reader),
                           open_reader(File::open(labels), labels, options, false), name, labels);
    }
    return reader;
  }
  std::string known;
  for (const Format& format : kFormats)
    known += (known.empty() ? "" : ", ") + std::string(format.name);
  fail(ErrorKind::data, "{} is in none of the formats that kerf reads ({})", name, known);
}

std::vector<std::string> expand_directories(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    std::string training, testing;
    std::filesystem::directory_iterator at(path, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
      const std::string name = at->path().filename().string(), lower = lower_case(name);
      std::error_code gone;
      if (!at->is_regular_file(gone) || name.starts_with('.') || is_labels(lower)) continue;
      found.push_back(at->path().string());
      if (lower.starts_with("train") || lower.starts_with("data_batch")) training = name;
      if (lower.starts_with("test") || lower.starts_with("t10k")) testing = name;
    }
    KERF_REQUIRE(!error, data, "cannot read the directory {}: {}", path, error.message());
    KERF_REQUIRE(!found.empty(), data, "the directory {} has no files", path);
    KERF_REQUIRE(training.empty() || testing.empty(), usage,
                 "the directory {} holds both training and test files ({}, {}); name the files",
                 path, training, testing);
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::unique_ptr<Reader> open_source(const std::vector<std::string>& given,
                                    const ReadOptions& options, const std::string& labels,
                                    bool rewindable) {
  const std::vector<std::string> paths = expand_directories(given);
  KERF_REQUIRE(!paths.empty(), usage, "no data file is given");
  KERF_REQUIRE(std::ranges::count(paths, "-") + (labels == "-" ? 1 : 0) <= 1, usage,
               "standard input (-) can be given once only");
  // A pipe (-, /dev/fd/63, a FIFO) gives its bytes once, however often the chain comes back to it.
  auto pipes = std::make_shared<std::map<std::string, std::shared_ptr<File>>>();
  const auto open_file = [=](const std::string& path) {
    if (const auto known = pipes->find(path); known != pipes->end()) return known->second;
    auto file = rewindable ? File::open_rewindable(path) : File::open(path);
    std::error_code error;
    if (path == "-" || !std::filesystem::is_regular_file(path, error)) pipes->emplace(path, file);
    return file;
  };
  const bool find_labels = labels.empty();
  const auto open = [=](std::size_t k) {
    return open_reader(open_file(paths[k]), paths[k], options, find_labels);
  };
  auto reader = paths.size() == 1 ? open(0) : chain(paths, open);
  if (labels.empty()) return reader;
  return with_labels(std::move(reader), open_reader(open_file(labels), labels, options, false),
                     paths.size() == 1 ? paths[0] : "the data", labels);
}

}  // namespace kerf::detail::io
