// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/plan/bounds.h"

#include <algorithm>
#include <cmath>

#include "kerf/features/feature_map.h"
#include "kerf/linalg/lanczos.h"

namespace kerf::detail {
namespace {

void add_variance(const BoundInputs& in, std::vector<FeatureBound>& out) {
  if (in.goal == PlanGoal::validation_error) return;
  const FeatureMapEntry& entry = find_feature_map(in.map);
  constexpr double kSize = 4096;
  Params params = in.options;
  params["features"] = format_number(kSize);
  const double variance = entry.relative_variance(entry.complete(params)) * kSize;
  if (!(variance > 0) || entry.relative_bias(params) > 0 || entry.fit != nullptr) return;
  const double size = in.goal == PlanGoal::epsilon ? in.ridge : in.frobenius;
  out.push_back(
      {"the map's variance", variance * std::pow(in.trace / (in.target * size), 2) / in.delta,
       in.goal == PlanGoal::epsilon ? "V (tr K)^2/(p e^2 s^2)" : "V (tr K)^2/(p e^2 |K|_F^2)", ""});
}

}  // namespace

std::vector<FeatureBound> published_bounds(const BoundInputs& in) {
  std::vector<FeatureBound> out;
  if (const auto own = find_feature_map(in.map).bounds) own(in, out);
  add_variance(in, out);
  if (in.goal == PlanGoal::validation_error) {
    const auto n = static_cast<double>(in.rows);
    out.push_back({"Rudi & Rosasco 2017", std::sqrt(n) * std::log(n), "sqrt(n) log n",
                   "keeps the rate n^-1/2 of the exact kernel, up to a constant not known: it says "
                   "nothing about a target"});
  }
  return out;
}

double squared_norm_of_rows(const RowsView& rows, double bias) {
  const Index d = rows.cols() + 1;
  const auto product = [&](std::span<const double> v, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    for (Index i = 0; i < rows.rows(); ++i) {
      double sum = bias * v.back();
      const auto each = [&](auto body) {
        if (rows.is_sparse()) {
          const SparseRow row = rows.sparse().row(i);
          for (std::size_t k = 0; k < row.values.size(); ++k) body(row.columns[k], row.values[k]);
        } else {
          const auto row = rows.dense().row(i);
          for (std::size_t k = 0; k < row.size(); ++k) body(k, row[k]);
        }
      };
      each([&](std::size_t k, double x) { sum += x * v[k]; });
      each([&](std::size_t k, double x) { out[k] += x * sum; });
      out.back() += bias * sum;
    }
  };
  return extreme_eigenvalues(d, product, SpectrumEnd::largest, {1e-4, 100}).largest;
}

}  // namespace kerf::detail
