// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/measure/diagnose.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/rows/training_rows.h"

namespace kerf::detail {

std::span<const QualityMetric> quality_metrics() {
  using Q = const KernelQuality&;
  static constexpr QualityMetric table[] = {
      {"relative_frobenius", "relative error, Frobenius norm",
       [](Q q) { return q.spectral.relative_frobenius; }},
      {"spectral_error", "relative error, spectral norm",
       [](Q q) { return q.spectral.spectral_error; }},
      {"epsilon", "spectral epsilon", [](Q q) { return q.spectral.epsilon; }},
      {"condition_number", "generalised condition number",
       [](Q q) { return q.spectral.condition_number; }, 1},
      {"entry_mean_error", "mean error of an entry", [](Q q) { return q.entries.mean; }},
      {"entry_rms_error", "root mean square error of an entry", [](Q q) { return q.entries.rms; }},
      {"entry_max_error", "largest error of an entry", [](Q q) { return q.entries.max; }},
      {"correlation", "correlation of the entries", [](Q q) { return q.entries.correlation; }, -1,
       1},
      {"risk_factor", "risk bound, factor", [](Q q) { return q.risk_factor; }, 1},
      {"risk_noise", "risk bound, part of the noise", [](Q q) { return q.risk_noise; }},
  };
  return table;
}

Interval quality_interval(std::span<const KernelQuality> maps, std::string_view metric) {
  const auto found = std::ranges::find(quality_metrics(), metric, &QualityMetric::name);
  KERF_REQUIRE(found != quality_metrics().end(), usage, "there is no metric '{}'", metric);
  std::vector<double> values;
  for (const KernelQuality& map : maps) values.push_back(found->value(map));
  Interval out = interval_of(values);
  out.low = std::clamp(out.low, found->least, found->most);
  out.high = std::clamp(out.high, found->least, found->most);
  return out;
}

Diagnosis diagnose(RowSource& source, const DataSummary& summary, const std::string& map,
                   const Params& map_options, const std::vector<Index>& features,
                   const DiagnoseOptions& options, Index memory_limit, const Progress& told) {
  KERF_REQUIRE(!features.empty(), usage, "a diagnosis needs a number of features");
  Diagnosis out;
  const Stopwatch watch(out.seconds);
  const Progress progress = expecting(told, {{"comparing"}});
  const Index n = std::min(options.sample, summary.rows);
  require_memory(ExactSide::bytes(n, features.back()), memory_limit,
                 fmt::format("comparing kernel matrices of {} rows", n),
                 "take a smaller " + spell("sample") + " or raise " + spell("memory"));
  const SampledMap sampled(source, summary, map, map_options,
                           {options.sample, options.seed, options.scale}, memory_limit, progress);
  for (const Index m : features) out.options = sampled.options(m);  // all, before any work
  const Index rows = sampled.rows().rows();
  const ExactSide exact(*sampled.kernel(), sampled.rows(),
                        options.lambda * static_cast<double>(rows), progress);
  out.map = map;
  out.rows = summary.rows;
  out.cols = summary.cols;
  out.sample = rows;
  out.lambda = options.lambda;
  out.statistical_dimension = exact.statistical_dimension();
  out.mean_diagonal = exact.trace() / static_cast<double>(rows);
  out.spectrum = exact.spectrum();
  for (Index s = 0; s < options.seeds; ++s)
    out.seeds.push_back(static_cast<std::uint64_t>(options.seed + s));
  const Index total = options.seeds * std::ssize(features);
  DeadMaps dead;
  for (const Index m : features) {
    Diagnosis::Size size{m, {}};
    for (const std::uint64_t seed : out.seeds) {
      report(progress, "comparing", std::ssize(out.sizes) * options.seeds + std::ssize(size.maps),
             total, "maps");
      const Matrix<float> z = sampled.features(m, seed, nullptr, progress);
      size.maps.push_back(exact.compare(z.view(), size.maps.empty()));
      dead.add(m, z.view());
    }
    out.sizes.push_back(std::move(size));
  }
  out.warnings = dead.warnings(map);
  return out;
}

std::string describe_quality(const Diagnosis& d) {
  const auto& last = d.sizes.back();
  // A promise about these maps: that of the worst.
  const double epsilon = quality_interval(last.maps, "epsilon").largest;
  const std::string of = last.maps.size() > 1
                             ? fmt::format(" (the largest of {} seeds)", last.maps.size())
                             : std::string();
  if (epsilon >= 1)
    return fmt::format(
        "epsilon is {:.3g}{}, not below 1: at lambda {:g} the theory promises nothing for ridge "
        "regression on {} features; take more, or a larger lambda",
        epsilon, of, d.lambda, last.features);
  return fmt::format(
      "epsilon is {:.3g}{}: ridge regression on {} features has at most {:.3g} times the risk "
      "bound "
      "of the exact kernel plus {:.2g} of the noise variance",
      epsilon, of, last.features, 1 / (1 - epsilon),
      quality_interval(last.maps, "risk_noise").largest);
}

}  // namespace kerf::detail
