// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <cmath>

namespace kerf::python {
namespace {

[[noreturn]] void wrong(const std::string& what) { throw Error(ErrorKind::usage, what); }

template <class T>
py::array_t<T> exactly(py::handle object, int dimensions, const char* what) {
  if (!py::isinstance<py::array_t<T, py::array::c_style>>(object) ||
      py::reinterpret_borrow<py::array>(object).ndim() != dimensions)
    wrong(std::string(what) + " must be a C-ordered numpy array of the right type and dimension");
  return py::reinterpret_borrow<py::array_t<T>>(object);
}

Rows take_sparse(py::tuple parts) {
  if (parts.size() != 4) wrong("sparse rows are (values, columns, offsets, number of columns)");
  const auto values = exactly<float>(parts[0], 1, "the values of sparse rows");
  const auto columns = exactly<std::int32_t>(parts[1], 1, "the columns of sparse rows");
  const auto offsets = exactly<std::int64_t>(parts[2], 1, "the offsets of sparse rows");
  const auto cols = parts[3].cast<Index>();
  const Index rows = offsets.size() - 1;
  const Index* at = offsets.data();
  if (rows < 0 || at[0] != 0 || at[rows] > values.size() || at[rows] > columns.size())
    wrong("the offsets of the sparse rows do not fit their values");
  for (Index i = 0; i < rows; ++i) {
    if (at[i + 1] < at[i]) wrong("the offsets of the sparse rows do not grow");
    for (Index k = at[i]; k < at[i + 1]; ++k) {
      const Index column = columns.data()[k], before = k == at[i] ? -1 : columns.data()[k - 1];
      if (column <= before || column >= cols)
        wrong("the columns of sparse row " + std::to_string(i) +
              " are not sorted, not unique, or beyond the last");
    }
  }
  return {CsrView{values.data(), columns.data(), at, rows, cols}, std::move(parts)};
}

/// Rows in double, for exact kernels, and what they are in single precision.
Rows take_wide(py::handle object) {
  const auto array = exactly<double>(object, 2, "rows");
  const MatrixView<const double> wide(array.data(), array.shape(0), array.shape(1));
  auto rounded = std::make_shared<Matrix<float>>(wide.rows, wide.cols);
  for (Index i = 0; i < wide.rows; ++i)
    for (Index j = 0; j < wide.cols; ++j) (*rounded)(i, j) = static_cast<float>(wide(i, j));
  const Matrix<float>& narrow = *rounded;
  return {RowsView(narrow.view(), wide), array, rounded};
}

/// Lanes, because a compiler must not reorder the terms of one sum.
bool all_finite(const float* values, Index count) {
  constexpr Index kLanes = 16;
  float lanes[kLanes] = {}, sum = 0;
  const Index whole = count / kLanes * kLanes;
  for (Index i = 0; i < whole; i += kLanes)
    for (Index k = 0; k < kLanes; ++k) lanes[k] += values[i + k] * 0;
  for (Index i = whole; i < count; ++i) sum += values[i] * 0;
  for (const float lane : lanes) sum += lane;
  return sum == 0;
}

}  // namespace

Rows take_rows(py::handle object) {
  if (py::isinstance<py::tuple>(object))
    return take_sparse(py::reinterpret_borrow<py::tuple>(object));
  if (py::isinstance<py::array_t<double, py::array::c_style>>(object)) return take_wide(object);
  const auto array = exactly<float>(object, 2, "rows");
  return {MatrixView<const float>(array.data(), array.shape(0), array.shape(1)), array};
}

void require_finite(const RowsView& rows) {
  parallel_for(rows.rows(), 1024, [&](Index begin, Index end) {
    const auto row_of = [&](Index i) {
      return rows.is_sparse() ? rows.sparse().row(i).values : rows.dense().row(i);
    };
    for (Index i = begin; i < end; ++i) {
      const auto row = row_of(i);
      if (all_finite(row.data(), static_cast<Index>(row.size()))) continue;
      throw Error(ErrorKind::data, "row " + std::to_string(i) +
                                       " contains NaN, infinity or a value too large for float32");
    }
  });
}

void warn_user(const std::string& words) {
  py::module_::import("kerf._base").attr("warn_user")(words);
}

MatrixView<const double> take_targets(py::handle object) {
  if (object.is_none()) return {};
  const auto array = exactly<double>(object, 2, "targets");
  return {array.data(), static_cast<Index>(array.shape(0)), static_cast<Index>(array.shape(1))};
}

std::span<const double> take_weights(py::handle object) {
  if (object.is_none()) return {};
  const auto array = exactly<double>(object, 1, "weights");
  return {array.data(), static_cast<std::size_t>(array.size())};
}

py::list describe(const std::vector<OptionInfo>& options) {
  py::list all;
  for (const OptionInfo& option : options)
    all.append(py::dict(py::arg("name") = option.name, py::arg("type") = name_of(option.type),
                        py::arg("default") = option.default_value, py::arg("help") = option.help,
                        py::arg("range") = py::make_tuple(option.range.min, option.range.max),
                        py::arg("choices") = option.choices, py::arg("as_is") = option.as_is));
  return all;
}

namespace {

/// Python runs its signal handlers here; what they raise is thrown.  Only its main thread has any.
void check_signals() {
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace

Released::Released() : interrupts_(check_signals) {}

Progress progress_to(const py::object& callback) {
  return [callback = py::handle(callback)](const ProgressEvent& event) {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!callback.is_none())
      callback(py::str(event.stage.data(), event.stage.size()), event.done, event.total,
               py::str(event.unit.data(), event.unit.size()), event.seconds_left);
  };
}

void in_steps(Index count, Index step, const std::function<void(Index, Index)>& body) {
  for (Index begin = 0; begin < count; begin += step) {
    poll_interrupt();
    body(begin, std::min(begin + step, count));
  }
}

}  // namespace kerf::python
