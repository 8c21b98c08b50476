// Writes a 2-d npy file block by block; it appears whole, at commit(), or not at all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/system/atomic_file.h"
#include "kerf/core/view.h"

namespace kerf::detail {

class NpyWriter {
 public:
  enum class Type { float32, float64 };

  /// Error (data), before any work, if `path` cannot be written, or is a pipe or standard output:
  /// the header is written last.
  static void check(const std::string& path);

  /// Rows of `cols` numbers; how many rows is known at the end.
  NpyWriter(const std::string& path, Index cols, Type type = Type::float32);

  void append(MatrixView<const float> rows);
  void append(MatrixView<const double> rows);
  Index rows() const { return rows_; }
  /// Writes the number of rows into the header and gives the file its name.
  void commit();

 private:
  template <class T>
  void append_rows(MatrixView<const T> rows);
  std::string header() const;

  AtomicFile file_;
  Index cols_, rows_ = 0;
  Type type_;
};

}  // namespace kerf::detail
