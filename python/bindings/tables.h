// Tables of numpy and pandas on their way to the library, which reads them as it reads files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arrays.h"

namespace kerf::python {

/// Where numbers, words, sparse rows or images lie, with targets and weights; keeps them alive.
class Table {
 public:
  /// A part is an array of two dimensions (numbers), one of four (images, channels last), (codes, words)
  /// or (values, columns, offsets, width) of sparse rows.
  Table(Index rows, const py::list& parts, std::vector<std::string> names, py::object targets,
        std::vector<std::string> classes, py::object weights);

  std::unique_ptr<io::Reader> open() const { return io::open_memory(view_); }
  /// What is lost of sparse rows in double when they become floats, in sentences.
  std::vector<std::string> lost_digits() const;

 private:
  void add_part(py::handle part);
  void add_column(const py::tuple& part);

  io::MemoryTable view_;
  py::list keep_;
};

/// A dataset that came from a table.
struct Data {
  std::shared_ptr<const Table> table;
  Dataset data;
  std::vector<std::string> warnings;
};

}  // namespace kerf::python
