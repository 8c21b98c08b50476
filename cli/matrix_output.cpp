// SPDX-License-Identifier: Apache-2.0
#include "cli/matrix_output.h"

#include <fmt/format.h>

#include <filesystem>

namespace kerf::cli {
namespace {

bool is_csv(const std::string& path) { return path.ends_with(".csv"); }

}  // namespace

void MatrixOutput::check(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (!ending.empty() && ending != ".npy" && ending != ".csv")
    throw Error(ErrorKind::usage, fmt::format("-o {}: matrices are written as .npy or .csv", path));
  if (is_csv(path))
    AtomicFile::check_writable(path);
  else
    NpyWriter::check(path);
}

MatrixOutput::MatrixOutput(const std::string& path, Index cols, NpyWriter::Type type) {
  if (is_csv(path))
    text_ = std::make_unique<AtomicFile>(path);
  else
    array_ = std::make_unique<NpyWriter>(path, cols, type);
}

template <class T>
void MatrixOutput::append_text(MatrixView<const T> rows) {
  fmt::memory_buffer line;
  for (Index i = 0; i < rows.rows; ++i) {
    line.clear();
    fmt::format_to(std::back_inserter(line), "{}\n", fmt::join(rows.row(i), ","));
    text_->write(line.data(), line.size());
  }
}

void MatrixOutput::append(MatrixView<const float> rows) {
  if (array_) return array_->append(rows);
  append_text(rows);
}

void MatrixOutput::append(MatrixView<const double> rows) {
  if (array_) return array_->append(rows);
  append_text(rows);
}

void MatrixOutput::commit() {
  if (array_) return array_->commit();
  text_->commit();
}

}  // namespace kerf::cli
