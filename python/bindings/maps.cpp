// Feature maps: the registry, and one map applied to rows.
//
// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

namespace kerf::python {
namespace {

/// Rows transformed between two looks at Ctrl-C; many enough that nothing is lost.
constexpr Index kStepRows = 8192;

/// Whether all rows are 0, which has features that are 0 in many maps.
bool is_zero(const RowsView& x) {
  const auto zero = [](float v) { return v == 0; };
  for (Index i = 0; i < x.rows(); ++i)
    if (!std::ranges::all_of(x.is_sparse() ? x.sparse().row(i).values : x.dense().row(i), zero))
      return false;
  return true;
}

/// A map made from its recipe, with the kernel it estimates.
class Map {
 public:
  Map(std::string name, Params params, std::uint64_t seed, Index in_dim,
      std::shared_ptr<const MapState> state = nullptr)
      : recipe_{std::move(name), std::move(params), seed, in_dim, std::move(state)},
        map_(recipe_.make()) {}

  /// What a data-dependent map learned, by name; None for others.
  py::object state() const {
    if (!recipe_.state) return py::none();
    py::dict arrays;
    for (const auto& [name, array] : *recipe_.state) {
      auto copy = new_array<float>(array.rows(), array.cols());
      std::copy_n(array.data(), array.rows() * array.cols(), view_of(copy).data);
      arrays[py::str(name)] = std::move(copy);
    }
    return arrays;
  }

  Index in_dim() const { return map_->in_dim(); }
  Index out_dim() const { return map_->out_dim(); }

  py::array_t<float> transform(py::handle x) const {
    const Rows rows = take_rows(x);
    auto out = new_array<float>(rows.view.rows(), map_->out_dim());
    const MatrixView<float> z = view_of(out);
    bool all_zero = false;
    {
      const Released no_gil;
      require_finite(rows.view);
      in_steps(z.rows, kStepRows, [&](Index begin, Index end) {
        map_->transform(rows.view.slice(begin, end), z.slice(begin, end));
      });
      all_zero = std::all_of(z.data, z.data + z.rows * z.cols, [](float v) { return v == 0; });
    }
    if (all_zero && z.rows > 0 && !is_zero(rows.view))
      warn_user(zero_features_warning(recipe_.map));
    return out;
  }

  /// k(x_i, y_j) of the exact kernel that the map estimates.
  py::array_t<double> kernel(py::handle x, py::handle y) const {
    const Rows left = take_rows(x);
    const Rows right = y.is_none() ? Rows{left.view, {}} : take_rows(y);
    auto out = new_array<double>(left.view.rows(), right.view.rows());
    const MatrixView<double> values = view_of(out);
    const Released no_gil;
    require_finite(left.view);
    require_finite(right.view);
    gram(*find_feature_map(recipe_.map).kernel(recipe_.options), left.view, right.view, values);
    return out;
  }

 private:
  Recipe recipe_;
  std::unique_ptr<FeatureMap> map_;
};

/// The map, after it learned from the rows if it is one that does.
std::unique_ptr<Map> fit_map(std::string name, Params params, std::uint64_t seed, py::handle x) {
  const Rows rows = take_rows(x);
  const Released no_gil;
  require_finite(rows.view);
  Recipe recipe{std::move(name), std::move(params), seed, rows.view.cols()};
  MemorySource source(rows.view, {});
  recipe.fit(source);
  return std::make_unique<Map>(recipe.map, recipe.options, seed, recipe.in_dim, recipe.state);
}

/// The map with a state that state() gave.
std::unique_ptr<Map> restore_map(std::string name, Params params, std::uint64_t seed, Index in_dim,
                                 const std::map<std::string, py::array_t<float>>& arrays) {
  auto state = std::make_shared<MapState>();
  for (const auto& [key, array] : arrays) {
    const auto values = array.unchecked<2>();
    Matrix<float> copy(values.shape(0), values.shape(1));
    for (Index i = 0; i < copy.rows(); ++i)
      for (Index j = 0; j < copy.cols(); ++j) copy(i, j) = values(i, j);
    (*state)[key] = std::move(copy);
  }
  return std::make_unique<Map>(std::move(name), std::move(params), seed, in_dim, state);
}

py::list list_maps() {
  py::list all;
  for (const FeatureMapEntry& entry : feature_maps())
    all.append(py::dict(py::arg("name") = entry.name, py::arg("summary") = entry.summary,
                        py::arg("python_name") = entry.python_name,
                        py::arg("formula") = entry.formula, py::arg("convolves") = entry.convolves,
                        py::arg("learned") = entry.fit != nullptr,
                        py::arg("options") = describe(entry.options())));
  return all;
}

/// Every option with its value, what is automatic worked out from the rows as they are.
Params resolve_map(const std::string& name, const Params& params, py::handle x,
                   std::uint64_t seed) {
  const FeatureMapEntry& entry = find_feature_map(name);
  const Rows rows = take_rows(x);
  const Released no_gil;
  const Params complete = entry.complete(params);
  require_finite(rows.view);
  const auto options = entry.options();
  const bool automatic = std::ranges::any_of(
      options, [&](const OptionInfo& option) { return complete.at(option.name) == "auto"; });
  if (!automatic) return complete;
  MemorySource source(rows.view, {});
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{seed});
  return entry.complete(resolve_automatic(entry, complete, summary, Scaling()));
}

/// Whether a constant may be taken off every row, for a map (or map exact) with these options.
bool map_ignores_offsets(const std::string& map, const Params& params) try {
  return sees_differences(map, params);
} catch (const Error&) {  // no such map or kernel
  return false;
}

}  // namespace

void add_maps(py::module_& module) {
  module.def("list_maps", &list_maps);
  module.def("resolve_map", &resolve_map);
  module.def("ignores_offsets", &map_ignores_offsets);
  module.def("relative_variance", [](const std::string& name, const Params& params) {
    return find_feature_map(name).relative_variance(params);
  });
  module.def("relative_bias", [](const std::string& name, const Params& params) {
    return find_feature_map(name).relative_bias(params);
  });
  module.def("map_bytes", [](const std::string& name, const Params& params, Index in_dim) {
    return find_feature_map(name).bytes(in_dim, params);
  });
  py::class_<Map>(module, "Map")
      .def(py::init<std::string, Params, std::uint64_t, Index>(), py::call_guard<Released>())
      .def_static("fit", &fit_map)
      .def_static("restore", &restore_map)
      .def_property_readonly("state", &Map::state)
      .def_property_readonly("in_dim", &Map::in_dim)
      .def_property_readonly("out_dim", &Map::out_dim)
      .def("transform", &Map::transform)
      .def("kernel", &Map::kernel);
}

}  // namespace kerf::python
