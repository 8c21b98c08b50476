// kerf.select: which rows to have labelled.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/bindings/arrays.h"

namespace kerf::python {
namespace {

std::vector<Index> select(py::handle features, Index budget, const std::string& method,
                          std::optional<double> lambda, std::uint64_t seed,
                          const py::object& callback) {
  const Rows z = take_rows(features);
  const auto found = std::ranges::find(kDesignNames, method);
  if (found == std::end(kDesignNames))
    throw Error(ErrorKind::usage, "the method is greedy, random or kmeans++, not " + method);
  const Progress progress = progress_to(callback);
  const Released no_gil;
  require_finite(z.view);
  const auto chosen = static_cast<DesignMethod>(found - std::begin(kDesignNames));
  return select_rows(chosen, z.view.dense(), budget, lambda, rng::Key{seed}.child("select"),
                     progress)
      .rows;
}

}  // namespace

void add_design(py::module_& module) { module.def("select", &select); }

}  // namespace kerf::python
