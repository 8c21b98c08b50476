// Files for the tests of io: written to a folder that goes away with its object.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kerf/api/error.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/io/registry.h"

namespace kerf::detail::io {

class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kerf-io.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One gzip member.
inline std::string gzip(std::string_view bytes) {
  z_stream zlib{};
  deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&zlib, bytes.size()) + 64, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  zlib.avail_in = static_cast<uInt>(bytes.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  deflate(&zlib, Z_FINISH);
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}

/// All rows of a reader, read in blocks of `block_rows`.
struct AllRows {
  std::vector<std::vector<double>> cells;
  std::vector<double> labels;
  std::vector<std::string> odd;  // "row,column:text"
  std::vector<Index> lines;
};

inline AllRows read_all(Reader& reader, Index block_rows = 2048) {
  AllRows all;
  RawBlock block;
  while (reader.next(block, block_rows)) {
    for (Index i = 0; i < block.rows; ++i) {
      auto& row = all.cells.emplace_back();
      if (block.sparse.rows() > 0) {
        const SparseRow entries = block.sparse.view().row(i);
        for (std::size_t k = 0; k < entries.values.size(); ++k) {
          row.push_back(entries.columns[k]);
          row.push_back(entries.values[k]);
        }
      } else if (reader.schema().bytes) {
        row.assign(block.pixels.row(i).begin(), block.pixels.row(i).end());
      } else {
        // NaN is not equal to itself; odd cells are compared by their text.
        for (const double cell : block.cells.row(i)) row.push_back(cell == cell ? cell : -999);
      }
    }
    all.labels.insert(all.labels.end(), block.labels.begin(), block.labels.end());
    all.lines.insert(all.lines.end(), block.lines.begin(), block.lines.end());
    for (const OddCell& cell : block.odd)
      all.odd.push_back(std::to_string(block.first_row + cell.row) + "," +
                        std::to_string(cell.column) + ":" + std::string(block.text(cell)));
  }
  return all;
}

inline std::unique_ptr<Reader> open_path(const std::string& path, const ReadOptions& options = {}) {
  return open_source({path}, options, "", true);
}

/// The message of the Error that `action` throws; "" if it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// All rows of a source put together.
inline RowBlock gather(RowSource& source) {
  RowBlock all, block;
  std::vector<float> dense;
  std::vector<double> targets;
  Index rows = 0, target_cols = 0;
  all.sparse.cols = source.cols();
  while (source.next(block)) {
    all.is_sparse = block.is_sparse;
    if (block.is_sparse) {
      for (Index i = 0; i < block.rows(); ++i) {
        all.sparse.push_row(block.sparse.view().row(i));
      }
    } else {
      dense.insert(dense.end(), block.dense.data(),
                   block.dense.data() + block.rows() * source.cols());
    }
    target_cols = block.targets.cols();
    targets.insert(targets.end(), block.targets.data(),
                   block.targets.data() + block.rows() * target_cols);
    all.weights.insert(all.weights.end(), block.weights.begin(), block.weights.end());
    rows += block.rows();
    all.image = block.image;
  }
  if (!all.is_sparse) {
    all.dense.resize(rows, source.cols());
    std::copy(dense.begin(), dense.end(), all.dense.data());
  }
  all.targets.resize(rows, target_cols);
  std::copy(targets.begin(), targets.end(), all.targets.data());
  return all;
}

/// Tests of what stands in files.
class FileTest : public ::testing::Test {
 protected:
  AllRows read(const std::string& name, std::string_view bytes, Index block_rows = 2048) {
    reader_ = open_path(folder_.write(name, bytes));
    return read_all(*reader_, block_rows);
  }
  std::string error(const std::string& name, std::string_view bytes) {
    return error_of([&] { read(name, bytes); });
  }

  TestFolder folder_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace kerf::detail::io
