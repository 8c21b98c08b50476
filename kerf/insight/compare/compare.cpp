// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kerf/core/require.h"
#include "kerf/core/rows/holdout.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/features/automatic.h"
#include "kerf/insight/measure/diagnose.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/rows/training_rows.h"
#include "kerf/learn/solvers/fit_memory.h"
#include "kerf/model/model.h"

namespace kerf::detail {
namespace {

constexpr double kMuchQuicker = 0.5;  // of the best one's time: worth an error that is as good

bool registered(const std::string& map) { return map != kExactMap && map != kAutoMap; }

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(mark, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool knows(const MapSpec& spec, const std::string& option) {
  if (spec.map == kAutoMap) return false;
  if (spec.map == kExactMap) {
    const auto kernel = spec.options.find("kernel");
    const auto infos = find_kernel(kernel == spec.options.end() ? "ntk" : kernel->second).options();
    return option == "kernel" || std::ranges::find(infos, option, &OptionInfo::name) != infos.end();
  }
  const auto infos = find_feature_map(spec.map).options();
  return std::ranges::find(infos, option, &OptionInfo::name) != infos.end();
}

class Comparer {
 public:
  Comparer(RowSource& source, const DataSummary& summary, const CompareOptions& options,
           const FitOptions& fit, const std::function<Score(const Model&)>& test,
           Index memory_limit, const Progress& progress)
      : source_(source),
        summary_(summary),
        options_(options),
        fit_(fit),
        test_(test),
        memory_limit_(memory_limit),
        progress_(expecting(progress, {{"comparing"}})) {
    out_.task = summary.task;
    out_.rows = summary.rows;
    out_.cols = summary.cols;
    out_.kernel_lambda = options.kernel_lambda;
    out_.validation =
        test ? "test rows" : fmt::format("{:.0f} % of the rows, held out", 100 * options.holdout);
  }

  Comparison run(const std::vector<MapSpec>& specs, const std::vector<Index>& features) {
    for (const MapSpec& spec : specs)
      for (const Index m : spec.map == kExactMap ? std::vector<Index>{0} : features)
        out_.entries.push_back(
            {spec, m, std::vector<Comparison::Run>(options_.seeds), 0, false, {}});
    // What may be refused must not cost fits.
    const FitJob job{source_, summary_, fit_, memory_limit_, progress_};
    for (const Comparison::Entry& entry : out_.entries)
      check_fit_memory(job, entry.spec.map, options_of(entry));
    if (options_.sample > 0) add_qualities();
    const Index total = options_.seeds * std::ssize(out_.entries);
    for (Index s = 0; s < options_.seeds; ++s) {
      const auto seed = static_cast<std::uint64_t>(fit_.seed + s);
      std::optional<Holdout> split;
      if (!test_)
        split.emplace(source_, summary_, options_.holdout, rng::Key{seed}.child("holdout"),
                      Progress{});
      for (std::size_t e = 0; e < out_.entries.size(); ++e) {
        const Index done = s * std::ssize(out_.entries) + static_cast<Index>(e);
        report(progress_, "comparing", done, total, "fits");
        run_one(out_.entries[e], s, seed, split ? &*split : nullptr,
                counting(progress_, "comparing", done, total, "fits"));
      }
    }
    judge();
    for (const auto& [label, dead] : dead_) {
      const auto words = dead.warnings(label);
      out_.warnings.insert(out_.warnings.end(), words.begin(), words.end());
    }
    return std::move(out_);
  }

 private:
  static Params options_of(const Comparison::Entry& entry) {
    Params params = entry.spec.options;
    if (entry.features > 0) params["features"] = std::to_string(entry.features);
    return params;
  }

  void run_one(Comparison::Entry& entry, std::size_t run, std::uint64_t seed, Holdout* split,
               const Progress& progress) {
    FitOptions options = fit_;
    options.seed = static_cast<Index>(seed);
    const Params params = options_of(entry);
    const FitResult result = split != nullptr ? fit(split->training, split->summary, entry.spec.map,
                                                    params, options, memory_limit_, progress)
                                              : fit(source_, summary_, entry.spec.map, params,
                                                    options, memory_limit_, progress);
    const Score score = split != nullptr
                            ? evaluate(result.model, split->held_out, memory_limit_, progress)
                            : test_(result.model);
    const bool classes = score.task == Task::classification;
    entry.runs[run] = {classes ? 1 - score.accuracy : score.rmse,
                       score.r2,
                       result.report.seconds.total,
                       result.report.lambda,
                       entry.runs[run].quality,
                       classes ? score.accuracy - score.constant_accuracy : score.r2};
    if (registered(entry.spec.map)) {
      const bool dead =
          std::ranges::count(result.report.warnings, zero_features_warning(entry.spec.map)) > 0;
      dead_[entry.spec.label].add(entry.features, dead);
      entry.is_zero = entry.is_zero || dead;
    }
    entry.memory = std::max(entry.memory, result.report.estimated_memory);
    if (entry.options.empty()) entry.options = result.model.recipe.options;
  }

  /// The kernel of each map is the same for all numbers of features and all seeds.
  void add_qualities() {
    const Index n = std::min(options_.sample, summary_.rows);
    std::optional<SampledMap> map;
    std::optional<ExactSide> exact;
    for (std::size_t e = 0; e < out_.entries.size(); ++e) {
      Comparison::Entry& entry = out_.entries[e];
      if (!registered(entry.spec.map)) continue;
      require_memory(
          ExactSide::bytes(n, entry.features), memory_limit_,
          fmt::format("comparing kernel matrices of {} rows", n),
          "take a smaller " + spell("sample") + " (0: none) or raise " + spell("memory"));
      if (e == 0 || out_.entries[e - 1].spec.label != entry.spec.label) {
        map.emplace(source_, summary_, entry.spec.map, entry.spec.options,
                    SampleOptions{n, fit_.seed, fit_.scale}, memory_limit_);
        out_.sample = map->rows().rows();
        exact.emplace(*map->kernel(), map->rows(),
                      options_.kernel_lambda * static_cast<double>(out_.sample));
      }
      for (std::size_t s = 0; s < entry.runs.size(); ++s) {
        report(progress_, "kernel error", static_cast<Index>(e), std::ssize(out_.entries), "maps");
        const Matrix<float> z =
            map->features(entry.features, static_cast<std::uint64_t>(fit_.seed) + s);
        entry.runs[s].quality = exact->compare(z.view());
      }
    }
  }

  std::string name(const Comparison::Entry& entry) const {
    return entry.features > 0 ? fmt::format("{} with {} features", entry.spec.label, entry.features)
                              : entry.spec.label;
  }

  std::string error_text(const Comparison::Entry& entry) const {
    const Interval error = entry.error();
    return out_.task == Task::classification ? fmt::format("{:.2f} % wrong", 100 * error.mean)
                                             : fmt::format("error {:.4g}", error.mean);
  }

  void judge() {
    std::vector<std::vector<double>> costs;
    for (const auto& entry : out_.entries)
      costs.push_back(
          {entry.error().mean, entry.seconds().mean, static_cast<double>(entry.memory)});
    const auto front = pareto_front(costs);
    for (std::size_t e = 0; e < front.size(); ++e) out_.entries[e].on_front = front[e];
    // Features that are all 0 are not worth taking, however quick.
    const bool any = std::ranges::any_of(out_.entries, [](const auto& e) { return !e.is_zero; });
    for (std::size_t e = 0; any && e < costs.size(); ++e)
      if (out_.entries[e].is_zero) costs[e].assign(3, std::numeric_limits<double>::infinity());
    const auto least = static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin());
    const Comparison::Entry& best = out_.entries[least];
    out_.recommended = least;
    for (std::size_t e = 0; e < costs.size(); ++e)
      if (as_good(out_.entries[e], best) && costs[e][1] < kMuchQuicker * costs[least][1] &&
          costs[e][1] < costs[out_.recommended][1])
        out_.recommended = e;
    const Comparison::Entry& choice = out_.entries[out_.recommended];
    if (&choice == &best)
      out_.recommendation =
          fmt::format("Take {}: {}, the least of all, in {:.2g} s and {}.", name(best),
                      error_text(best), best.seconds().mean, human_bytes(best.memory));
    else
      out_.recommendation = fmt::format(
          "Take {}: {}, as good as the least ({}, {}) within the spread of the seeds, in {:.2g} s "
          "instead of {:.2g} s.",
          name(choice), error_text(choice), error_text(best), name(best), choice.seconds().mean,
          best.seconds().mean);
    if (!any)
      out_.recommendation = "Take none of these: all their features are 0.";
    else if (std::ranges::none_of(out_.entries, [](const auto& e) { return is_better(e); }))
      out_.recommendation +=
          " But nothing compared is better than a constant: do the inputs tell anything about the "
          "target?";
  }

  /// Than a constant, in the mean over the seeds.
  static bool is_better(const Comparison::Entry& entry) {
    double gain = 0;
    for (const Comparison::Run& run : entry.runs) gain += run.gain;
    return gain > 0;
  }

  /// Within one standard error of the difference, seed by seed.
  static bool as_good(const Comparison::Entry& entry, const Comparison::Entry& best) {
    std::vector<double> differences;
    for (std::size_t s = 0; s < entry.runs.size(); ++s)
      differences.push_back(entry.runs[s].error - best.runs[s].error);
    const Interval found = interval_of(differences);
    return found.mean <= found.sd / std::sqrt(static_cast<double>(found.count));
  }

  RowSource& source_;
  const DataSummary& summary_;
  const CompareOptions& options_;
  const FitOptions& fit_;
  const std::function<Score(const Model&)>& test_;
  Index memory_limit_;
  const Progress progress_;
  std::map<std::string, DeadMaps> dead_;  // by the label of the map
  Comparison out_;
};

}  // namespace

std::vector<MapSpec> parse_specs(const std::string& text) {
  std::vector<MapSpec> specs;
  for (const std::string& part : split(text, ',')) {
    const auto words = split(part, ':');
    MapSpec spec{part, words.front(), {}};
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t mark = words[i].find('=');
      KERF_REQUIRE(mark != std::string::npos && mark > 0, usage,
                   "'{}' of {} is not name=value, as in arccos:directions=orthogonal", words[i],
                   spell("maps"));
      spec.options[words[i].substr(0, mark)] = words[i].substr(mark + 1);
    }
    if (registered(spec.map)) find_feature_map(spec.map);
    KERF_REQUIRE(std::ranges::find(specs, spec.label, &MapSpec::label) == specs.end(), usage,
                 "{} names {} twice", spell("maps"), spec.label);
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<MapSpec> with_common_options(std::vector<MapSpec> specs, const Params& common) {
  for (const auto& [name, value] : common) {
    bool known = false;
    for (MapSpec& spec : specs)
      if (knows(spec, name)) {
        known = true;
        spec.options.try_emplace(name, value);
      }
    KERF_REQUIRE(known, usage, "none of the maps has an option {}", spell(name));
  }
  for (const MapSpec& spec : specs) {
    Params options = spec.options;
    if (spec.map == kExactMap)
      check_exact_options(options);
    else if (spec.map != kAutoMap)
      find_feature_map(spec.map).complete(options);
  }
  return specs;
}

Interval Comparison::Entry::error() const {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(run.error);
  return interval_of(values);
}

Interval Comparison::Entry::seconds() const {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(run.seconds);
  return interval_of(values);
}

std::optional<Interval> Comparison::Entry::quality(std::string_view metric) const {
  std::vector<KernelQuality> all;
  for (const Run& run : runs) {
    if (!run.quality) return std::nullopt;
    all.push_back(*run.quality);
  }
  return quality_interval(all, metric);
}

std::vector<bool> pareto_front(const std::vector<std::vector<double>>& costs) {
  const auto beats = [](const std::vector<double>& a, const std::vector<double>& b) {
    bool better = false;
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k] > b[k]) return false;
      better |= a[k] < b[k];
    }
    return better;
  };
  std::vector<bool> front;
  for (const auto& mine : costs)
    front.push_back(
        std::ranges::none_of(costs, [&](const auto& other) { return beats(other, mine); }));
  return front;
}

Comparison compare_maps(RowSource& source, const DataSummary& summary,
                        const std::vector<MapSpec>& specs, const std::vector<Index>& features,
                        const CompareOptions& options, const FitOptions& fit,
                        const std::function<Score(const Model&)>& test, Index memory_limit,
                        const Progress& progress) {
  KERF_REQUIRE(!specs.empty() && !features.empty(), usage,
               "a comparison needs maps and numbers of features");
  KERF_REQUIRE(summary.targets >= 1, usage, "a comparison needs a target column");
  double seconds = 0;
  Comparison out;
  {
    const Stopwatch watch(seconds);
    out =
        Comparer(source, summary, options, fit, test, memory_limit, progress).run(specs, features);
  }
  out.seconds = seconds;
  return out;
}

}  // namespace kerf::detail
