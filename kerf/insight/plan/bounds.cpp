// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/plan/bounds.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/spelling.h"
#include "kerf/features/feature_map.h"
#include "kerf/linalg/lanczos.h"

namespace kerf::detail {
namespace {

std::string option(const Params& options, const char* name) {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

double logarithm(const BoundInputs& in, double factor) {
  return std::log(std::max(2.0, factor * in.statistical_dimension / in.delta));
}

/// (8/3) n/(s e^2) log(16 s_l/p): any map with features of size at most k(x, x) = 1.
double bounded_features(const BoundInputs& in) {
  const auto n = static_cast<double>(in.rows);
  return 8.0 / 3 * n / (in.ridge * in.target * in.target) * logarithm(in, 16);
}

void add_fourier(const BoundInputs& in, std::vector<FeatureBound>& out) {
  static constexpr const char* kFourier[] = {"rff", "orf", "fastfood", "qmc"};
  if (std::ranges::find(kFourier, in.map) == std::end(kFourier)) return;
  const bool pairs = option(in.options, "form") != "phase";
  // Of orf the variance is known to be no larger; of fastfood and qmc that is seen, not proved.
  std::string note = in.map == "rff" ? "" : "proved for rff";
  if (in.map == "orf") note += ", whose variance bounds this map's";
  if (in.goal == PlanGoal::epsilon && in.target > 0.5)
    note += std::string(note.empty() ? "" : "; ") + "proved for epsilon up to 1/2";
  if (in.goal == PlanGoal::epsilon)
    out.push_back({"Avron et al. 2017, theorem 7", (pairs ? 2 : 1) * bounded_features(in),
                   "frequencies >= (8/3) n/(s e^2) log(16 s_l/p)", note});
  else if (in.goal == PlanGoal::kernel_error)
    out.push_back({"one pair of rows", 8 * std::log(2 / in.delta) / (in.target * in.target),
                   "8 log(2/p)/e^2", "for the error of one entry, not of the matrix"});
}

void add_arccos(const BoundInputs& in, std::vector<FeatureBound>& out) {
  if (in.map != "arccos" || in.goal != PlanGoal::epsilon) return;
  if (option(in.options, "order") == "0") {
    out.push_back({"Zandieh et al. 2021, order 0", bounded_features(in),
                   "(8/3) n/(s e^2) log(16 s_l/p)", ""});
    return;
  }
  const auto d = static_cast<double>(in.cols);
  const double rank = static_cast<double>(std::min(in.rows, in.cols));
  const double leverage = std::min(rank * rank, in.rows_norm_squared / in.ridge);
  const bool is_leverage = option(in.options, "directions") != "gaussian";
  out.push_back({"Zandieh et al. 2021, order 1",
                 8.0 / 3 * d / (in.target * in.target) * leverage * logarithm(in, 16),
                 "(8/3) d/e^2 min(rank(X)^2, |X|^2/s) log(16 s_l/p)",
                 is_leverage
                     ? ""
                     : "proved for leverage directions (" + spell("directions", "sphere") + ")"});
}

void add_ntk(const BoundInputs& in, std::vector<FeatureBound>& out) {
  if (in.map != "ntk-rf" || in.goal != PlanGoal::epsilon) return;
  const auto n = static_cast<double>(in.rows), d = static_cast<double>(in.cols);
  const double e2 = in.target * in.target, logs = logarithm(in, 48);
  const double m0 = 48 * n / (e2 * in.ridge) * logs;
  const double m1 = 16.0 / 3 * d * in.rows_norm_squared / (e2 * in.ridge) * logs;
  const double ms = 297 / (e2 * in.delta) * std::pow(n / (1 + in.ridge), 2);
  out.push_back({"Zandieh et al. 2021, two-layer NTK", std::max(m0, m1) + ms,
                 "max(48 n, (16/3) d |X|^2)/(e^2 s) log(48 s_l/p) + 297/(e^2 p) (n/(1 + s))^2",
                 option(in.options, "depth") == "1" ? "for rows of length 1"
                                                    : "for depth 1 and rows of length 1"});
}

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
  add_fourier(in, out);
  add_arccos(in, out);
  add_ntk(in, out);
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
