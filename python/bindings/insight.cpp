// kerf.diagnose, kerf.plan and kerf.compare: JSON as the program prints it.
//
// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

namespace kerf::python {
namespace {

/// Before any work.
void check_page(const std::string& file) {
  if (!file.empty()) AtomicFile::check_writable(file);
}

/// A page to look at, if a file is named.
void write_page(const std::string& file, const std::function<std::string()>& page) {
  if (file.empty()) return;
  const std::string text = page();
  AtomicFile out(file);
  out.write(text.data(), text.size());
  out.commit();
}

std::string diagnose_rows(Data& rows, const std::string& map, const Params& map_options,
                          const std::vector<Index>& features, const Params& options,
                          const std::string& command, const std::string& file, Index memory,
                          const py::object& callback) {
  const auto read = read_options<DiagnoseOptions>(options, "diagnose");
  check_page(file);
  const Progress progress = progress_to(callback);
  const Released no_gil;
  const Diagnosis found = diagnose(*rows.data.source, rows.data.summary, map, map_options, features,
                                   read, memory, progress);
  write_page(file, [&] { return diagnose_report(found, command); });
  return to_json(found);
}

/// `fit`: how the model is called, with {} where the number of features goes.
std::string plan_rows(Data& rows, const std::string& map, const Params& map_options,
                      const Params& options, const std::string& fit, const std::string& command,
                      const std::string& file, Index memory, const py::object& callback) {
  const auto read = read_options<PlanOptions>(options, "plan");
  check_page(file);
  const Progress progress = progress_to(callback);
  const Released no_gil;
  const Plan plan =
      make_plan(*rows.data.source, rows.data.summary, map, map_options, read, memory, progress);
  std::string with_features = fit;
  if (const auto at = fit.find("{}"); at != std::string::npos && plan.features)
    with_features.replace(at, 2, std::to_string(*plan.features));
  write_page(file, [&] { return plan_report(plan, with_features, command); });
  return to_json(plan, with_features);
}

/// A spec is (label, map, options).
std::string compare_rows(Data& rows,
                         const std::vector<std::tuple<std::string, std::string, Params>>& maps,
                         const std::vector<Index>& features, const Params& options,
                         const Params& fit_options, const std::string& command,
                         const std::string& file, Index memory, const py::object& callback) {
  const auto read = read_options<CompareOptions>(options, "compare");
  check_page(file);
  const auto fit = read_options<FitOptions>(fit_options, "compare");
  std::vector<MapSpec> specs;
  for (const auto& [label, map, params] : maps) specs.push_back({label, map, params});
  specs = with_common_options(std::move(specs), {});
  const Progress progress = progress_to(callback);
  const Released no_gil;
  const Comparison found = compare_maps(*rows.data.source, rows.data.summary, specs, features, read,
                                        fit, nullptr, memory, progress);
  const auto& best = found.entries[found.recommended];
  const std::string take =
      best.spec.label +
      (best.features > 0 ? " with features=" + std::to_string(best.features) : std::string());
  write_page(file, [&] { return compare_report(found, take, command); });
  return to_json(found, take);
}

}  // namespace

void add_insight(py::module_& module) {
  module.def("diagnose", &diagnose_rows);
  module.def("plan", &plan_rows);
  module.def("compare", &compare_rows);
  module.def("plan_options", [] { return describe(list_options<PlanOptions>()); });
  module.def("parse_specs", [](const std::string& text) {
    std::vector<std::tuple<std::string, std::string, Params>> out;
    for (const MapSpec& spec : parse_specs(text))
      out.emplace_back(spec.label, spec.map, spec.options);
    return out;
  });
}

}  // namespace kerf::python
