// SPDX-License-Identifier: Apache-2.0
#include "kerf/api/features.h"

#include "kerf/api/behind/inside.h"
#include "kerf/core/require.h"
#include "kerf/features/automatic.h"
#include "kerf/kernels/gram/gram.h"

namespace kerf {
namespace {

/// As the maps and kernels of `kerf transform` and `kerf kernel` are: of rows as they are.
Params as_rows_are(const MapSpec& map) {
  return detail::rows_as_they_are(detail::find_feature_map(map.name).options(), map.options);
}

}  // namespace

struct __attribute__((visibility("hidden"))) Kernel::Inside {
  std::unique_ptr<detail::Kernel> kernel;
};

Kernel::Kernel(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}
Kernel::Kernel(const KernelSpec& spec) {
  const detail::KernelEntry& entry = detail::find_kernel(spec.name);
  inside_ = std::make_shared<Inside>(
      Inside{entry.make(detail::rows_as_they_are(entry.options(), spec.options))});
}

double Kernel::operator()(std::span<const double> x, std::span<const double> y) const {
  return (*inside_->kernel)(x, y);
}

Matrix<double> Kernel::gram(const Rows& x, const Rows& y) const {
  const RoundedRows left(x), right(y);
  KERF_REQUIRE(left.view.cols() == right.view.cols(), usage,
               "rows of {} and of {} columns have no kernel", left.view.cols(), right.view.cols());
  Matrix<double> out(left.view.rows(), right.view.rows());
  detail::gram(*inside_->kernel, left.view, right.view, out.view());
  return out;
}

Matrix<double> Kernel::gram(const Rows& x) const {
  const RoundedRows rows(x);
  Matrix<double> out(rows.view.rows(), rows.view.rows());
  detail::gram(*inside_->kernel, rows.view, rows.view, out.view());
  return out;
}

struct __attribute__((visibility("hidden"))) FeatureMap::Inside {
  detail::Recipe recipe;
  std::unique_ptr<detail::FeatureMap> map;
  std::vector<std::string> warnings;
};

FeatureMap::FeatureMap(const MapSpec& spec, Index columns, std::uint64_t seed) {
  KERF_REQUIRE(columns > 0, usage, "there are no rows of {} columns", columns);
  const detail::FeatureMapEntry& entry = detail::find_feature_map(spec.name);
  detail::Recipe recipe{spec.name, entry.complete(as_rows_are(spec)), seed, columns};
  auto map = recipe.make();
  inside_ = std::make_shared<Inside>(Inside{std::move(recipe), std::move(map), {}});
}

FeatureMap::FeatureMap(const MapSpec& spec, const Rows& rows, std::uint64_t seed) {
  const detail::FeatureMapEntry& entry = detail::find_feature_map(spec.name);
  const Params options = as_rows_are(spec);
  entry.complete(options);  // what is wrong with them comes before any work
  Dataset opened = open_dataset(Table{.x = rows});
  detail::Dataset& data = opened.inside().to_learn_from(seed, {});
  std::vector<std::string> warnings = data.check_precision();
  const auto scaling = detail::make_scaling(detail::ScaleKind::none, data.summary);
  detail::Recipe recipe{spec.name,
                        entry.complete(resolve_automatic(entry, options, data.summary, scaling)),
                        seed, data.summary.cols};
  recipe.fit(*data.source);
  auto map = recipe.make();
  if (detail::features_are_zero(*map, data.summary, scaling))
    warnings.push_back(detail::zero_features_warning(spec.name));
  inside_ =
      std::make_shared<Inside>(Inside{std::move(recipe), std::move(map), std::move(warnings)});
}

Index FeatureMap::columns() const { return inside_->map->in_dim(); }
Index FeatureMap::features() const { return inside_->map->out_dim(); }
const std::string& FeatureMap::name() const { return inside_->recipe.map; }
const Params& FeatureMap::options() const { return inside_->recipe.options; }
const std::vector<std::string>& FeatureMap::warnings() const { return inside_->warnings; }

void FeatureMap::transform(const Rows& x, MatrixView<float> out) const {
  inside_->map->transform(RoundedRows(x).view, out);
}

Matrix<float> FeatureMap::transform(const Rows& x) const {
  const RoundedRows rows(x);
  Matrix<float> z(rows.view.rows(), features());
  inside_->map->transform(rows.view, z.view());
  return z;
}

Kernel FeatureMap::kernel() const {
  const auto& entry = detail::find_feature_map(name());
  return Kernel(std::make_shared<Kernel::Inside>(Kernel::Inside{entry.kernel(options())}));
}

double FeatureMap::relative_variance() const {
  return detail::find_feature_map(name()).relative_variance(options());
}

std::vector<std::string> map_names() {
  std::vector<std::string> names;
  for (const auto& entry : detail::feature_maps()) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& entry : detail::kernels()) names.emplace_back(entry.name);
  return names;
}

}  // namespace kerf
