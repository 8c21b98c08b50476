// Exact kernels: the registry, Gram matrices and their diagonals.
//
// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

namespace kerf::python {
namespace {

py::list list_kernels() {
  py::list all;
  for (const KernelEntry& entry : kernels())
    all.append(py::dict(py::arg("name") = entry.name, py::arg("summary") = entry.summary,
                        py::arg("python_name") = entry.python_name,
                        py::arg("formula") = entry.formula, py::arg("convolves") = entry.convolves,
                        py::arg("options") = describe(entry.options())));
  return all;
}

/// Automatic options worked out from the rows; the others as they are.
Params resolve_kernel(const std::string& name, Params params, py::handle x, std::uint64_t seed) {
  const KernelEntry& entry = find_kernel(name);
  const Rows rows = take_rows(x);
  const Released no_gil;
  require_finite(rows.view);
  MemorySource source(rows.view, {});
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{seed});
  return resolve_automatic(entry, std::move(params), summary, Scaling());
}

/// Above so many multiplications a matrix is computed in parts, with a look at Ctrl-C between them
/// (a symmetric matrix in one piece is less work).
constexpr double kManyProducts = 1e11;

template <class T>
py::array_t<T> gram_of(const Kernel& kernel, const RowsView& x, const RowsView& y, bool symmetric) {
  const Index rows = x.rows(), cols = y.rows();
  require_memory(rows * cols * static_cast<Index>(sizeof(T)), 0,
                 "a kernel matrix of " + std::to_string(rows) + " x " + std::to_string(cols),
                 "ask for fewer rows at a time");
  auto out = new_array<T>(rows, cols);
  const MatrixView<T> values = view_of(out);
  const Released no_gil;
  require_finite(x);
  if (!symmetric) require_finite(y);
  const Gram<T> gram(kernel, x, symmetric ? x : y);
  const double products = static_cast<double>(rows) * static_cast<double>(cols) *
                          static_cast<double>(std::max<Index>(x.cols(), 64));
  const Index step = products < kManyProducts ? std::max<Index>(rows, 1) : 8 * kGramTile;
  in_steps(rows, step,
           [&](Index begin, Index end) { gram.compute(begin, end, values.slice(begin, end)); });
  return out;
}

/// A kernel with its options as they were given: they may name files.
std::unique_ptr<Kernel> make_kernel(const std::string& name, Params params) {
  const KernelEntry& entry = find_kernel(name);
  return entry.make(load_files(entry.options(), std::move(params)));
}

/// k(x_i, y_j) as float64 (`double_`) or float32.
py::array kernel_matrix(const std::string& name, const Params& params, py::handle x, py::handle y,
                        bool double_) {
  const auto kernel = make_kernel(name, params);
  const Rows left = take_rows(x);
  const bool symmetric = y.is_none();
  const Rows right = symmetric ? Rows{left.view, {}, {}} : take_rows(y);
  if (left.view.cols() != right.view.cols())
    throw Error(ErrorKind::data, "a kernel of rows of " + std::to_string(left.view.cols()) +
                                     " and " + std::to_string(right.view.cols()) + " columns");
  if (double_) return gram_of<double>(*kernel, left.view, right.view, symmetric);
  return gram_of<float>(*kernel, left.view, right.view, symmetric);
}

/// k(x_i, x_i).
py::array_t<double> kernel_diagonal(const std::string& name, const Params& params, py::handle x) {
  const auto kernel = make_kernel(name, params);
  const Rows rows = take_rows(x);
  const Index n = rows.view.rows(), cols = rows.view.cols();
  py::array_t<double> out(static_cast<py::ssize_t>(n));
  double* const values = out.mutable_data();
  const Released no_gil;
  require_finite(rows.view);
  parallel_for(n, 64, [&](Index begin, Index end) {
    std::vector<double> row(cols);
    for (Index i = begin; i < end; ++i) {
      std::ranges::fill(row, 0.0);
      if (rows.view.is_sparse()) {
        const SparseRow sparse = rows.view.sparse().row(i);
        for (std::size_t k = 0; k < sparse.values.size(); ++k)
          row[sparse.columns[k]] = sparse.values[k];
      } else if (rows.view.is_wide()) {
        std::ranges::copy(rows.view.wide().row(i), row.begin());
      } else {
        std::ranges::copy(rows.view.dense().row(i), row.begin());
      }
      values[i] = (*kernel)(row, row);
    }
  });
  return out;
}

}  // namespace

void add_kernels(py::module_& module) {
  module.def("list_kernels", &list_kernels);
  module.def("resolve_kernel", &resolve_kernel);
  module.def("kernel_matrix", &kernel_matrix);
  module.def("kernel_diagonal", &kernel_diagonal);
  module.def("is_stationary", [](const std::string& name, const Params& params) {
    return ignores_offsets(*make_kernel(name, params));
  });
}

}  // namespace kerf::python
