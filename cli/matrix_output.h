// Rows of numbers into a file: npy, or text where its name ends in .csv.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "kerf/inside.h"

namespace kerf::cli {

using namespace detail;

class MatrixOutput {
 public:
  /// Error (usage or data), before any work, for a name that promises another format or that cannot
  /// be written.
  static void check(const std::string& path);

  MatrixOutput(const std::string& path, Index cols, NpyWriter::Type type);

  void append(MatrixView<const float> rows);
  void append(MatrixView<const double> rows);
  /// The file appears.
  void commit();

 private:
  template <class T>
  void append_text(MatrixView<const T> rows);

  std::unique_ptr<NpyWriter> array_;
  std::unique_ptr<AtomicFile> text_;
};

}  // namespace kerf::cli
