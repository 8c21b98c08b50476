// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/arrays/npy_writer.h"

#include <vector>

#include "kerf/core/require.h"

namespace kerf::detail {
namespace {
/// Room for any shape, and a multiple of 64 as the format wants.
constexpr std::size_t kHeaderBytes = 128;

[[noreturn]] void fail_one_way(const std::string& path) {
  fail(ErrorKind::data,
       "cannot write {}: the header of npy says how many rows follow, which is known at the end; "
       "name a file",
       path);
}
}  // namespace

void NpyWriter::check(const std::string& path) {
  if (!AtomicFile::can_go_back(path)) fail_one_way(path);
  AtomicFile::check_writable(path);
}

NpyWriter::NpyWriter(const std::string& path, Index cols, Type type)
    : file_(path), cols_(cols), type_(type) {
  if (!file_.goes_back()) fail_one_way(path);
  file_.write(header().data(), kHeaderBytes);
}

std::string NpyWriter::header() const {
  std::string text("\x93NUMPY\x01\x00", 8);
  const std::size_t length = kHeaderBytes - 10;
  text += static_cast<char>(length & 255);
  text += static_cast<char>(length >> 8);
  text += fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                      type_ == Type::float32 ? "<f4" : "<f8", rows_, cols_);
  text.resize(kHeaderBytes - 1, ' ');
  return text + '\n';
}

template <class T>
void NpyWriter::append_rows(MatrixView<const T> rows) {
  KERF_REQUIRE(rows.cols == cols_, usage, "rows of {} columns do not fit an npy file of {}",
               rows.cols, cols_);
  const auto count = static_cast<std::size_t>(cols_);
  std::vector<float> single;
  std::vector<double> twice;
  for (Index i = 0; i < rows.rows; ++i) {
    const auto row = rows.row(i);
    if (type_ == Type::float32) {
      single.assign(row.begin(), row.end());
      file_.write(single.data(), count * sizeof(float));
    } else {
      twice.assign(row.begin(), row.end());
      file_.write(twice.data(), count * sizeof(double));
    }
  }
  rows_ += rows.rows;
}

void NpyWriter::append(MatrixView<const float> rows) { append_rows(rows); }
void NpyWriter::append(MatrixView<const double> rows) { append_rows(rows); }

void NpyWriter::commit() {
  file_.write_at(0, header().data(), kHeaderBytes);
  file_.commit();
}

}  // namespace kerf::detail
