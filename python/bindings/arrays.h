// What comes from numpy and goes to numpy.  Nothing is copied: views into numpy's memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <memory>
#include <optional>

#include "kerf/inside.h"

namespace kerf::python {

using namespace detail;

namespace py = pybind11;

/// Rows in numpy's memory, kept alive.
struct Rows {
  RowsView view;
  py::object keep;
  std::shared_ptr<const Matrix<float>> rounded = nullptr;  ///< of rows in double
};

/// A float32 array of two dimensions in C order (a row's numbers side by side), or a tuple (values
/// float32, columns int32, offsets int64, number of columns) of sparse rows.  A float64 array comes
/// with its rounded values: exact kernels in double take it as it is.  Checks shapes, types and that
/// offsets and columns stay inside; not yet that the values are finite.
Rows take_rows(py::handle object);

/// Error (data) that names the first row with a number that is not finite.  Needs no GIL.
void require_finite(const RowsView& rows);

/// A warning at the user's line (kerf._base); throws where warnings are errors.
void warn_user(const std::string& words);

/// float64, two dimensions, C order; None: nothing.
MatrixView<const double> take_targets(py::handle object);
/// float64, one dimension; None: empty.
std::span<const double> take_weights(py::handle object);

/// An empty array of that shape.
template <class T>
py::array_t<T> new_array(Index rows, Index cols) {
  return py::array_t<T>({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(cols)});
}
template <class T>
MatrixView<T> view_of(py::array_t<T>& array) {
  return {array.mutable_data(), static_cast<Index>(array.shape(0)),
          static_cast<Index>(array.shape(1))};
}
template <class T>
py::array_t<T> copy_of(MatrixView<const T> matrix) {
  auto array = new_array<T>(matrix.rows, matrix.cols);
  for (Index i = 0; i < matrix.rows; ++i)
    std::copy_n(matrix.row(i).data(), matrix.cols, array.mutable_data(i, 0));
  return array;
}

/// Options as Python hands them over, and as Python wants to see them.
py::list describe(const std::vector<OptionInfo>& options);

/// While it lives the GIL is free and Ctrl-C stops the library between pieces of its work.
class Released {
 public:
  Released();

 private:
  py::gil_scoped_release no_gil_;
  InterruptScope interrupts_;
};

/// A callback for the library: lets Ctrl-C through and calls `callback(stage, done, total)` (None:
/// nobody).  Whoever calls the library without the GIL keeps `callback` alive meanwhile.
Progress progress_to(const py::object& callback);

/// body(begin, end) over 0 .. count - 1 in steps, with a look at Ctrl-C between them.  Needs Released.
void in_steps(Index count, Index step, const std::function<void(Index, Index)>& body);

void add_tables(py::module_& module);
void add_maps(py::module_& module);
void add_kernels(py::module_& module);
void add_models(py::module_& module);
void add_design(py::module_& module);
void add_insight(py::module_& module);

}  // namespace kerf::python
