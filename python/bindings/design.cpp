// kerf.select: which rows to have labelled.
//
// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/arrays.h"

namespace kerf::python {
namespace {

std::vector<Index> select(py::handle features, Index budget, const std::string& method,
                          std::optional<double> lambda, std::uint64_t seed,
                          const py::object& callback) {
  const Rows z = take_rows(features);
  const auto chosen = find_by_name<DesignMethod>(method);
  if (!chosen)
    throw Error(ErrorKind::usage, "the method is greedy, random or kmeans++, not " + method);
  const Progress progress = progress_to(callback);
  const Released no_gil;
  require_finite(z.view);
  return select_rows(*chosen, z.view.dense(), budget, lambda, rng::Key{seed}.child("select"),
                     progress)
      .rows;
}

}  // namespace

void add_design(py::module_& module) { module.def("select", &select); }

}  // namespace kerf::python
