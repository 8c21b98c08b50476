// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/choice/map_candidates.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/features/automatic.h"

namespace kerf::detail {
namespace {

/// The candidate with the user's options put in, or nothing if its map does not take them.
std::optional<MapCandidate> agree(MapCandidate candidate, const Params& given) {
  const auto infos = find_feature_map(candidate.map).options();
  for (const auto& [name, value] : given) {
    const auto info = std::ranges::find(infos, name, &OptionInfo::name);
    if (info == infos.end()) {
      if (name == "kernel" && value == candidate.kernel) continue;  // a map of one kernel
      return std::nullopt;
    }
    if (info->type == OptionType::choice &&
        std::ranges::find(info->choices, value) == info->choices.end())
      return std::nullopt;
    const auto own = candidate.options.find(name);
    const bool is_choice = own != candidate.options.end() && info->type == OptionType::choice;
    if (is_choice && own->second != value) return std::nullopt;
    const bool is_number = info->type == OptionType::automatic && value == "auto";
    if (!is_number) candidate.options[name] = value;  // auto: as the candidates have it
  }
  return candidate;
}

/// A kernel and what it is a candidate with.
struct Offer {
  const KernelEntry* kernel;
  KernelCandidate candidate;
};

/// Of all kernels that declare themselves candidates, each in its place.
std::vector<Offer> offers(const DataLook& look) {
  std::vector<Offer> all;
  for (const KernelEntry& kernel : kernels())
    if (kernel.candidates != nullptr)
      for (KernelCandidate& candidate : kernel.candidates(look))
        all.push_back({&kernel, std::move(candidate)});
  std::ranges::stable_sort(all, {}, [](const Offer& offer) { return offer.candidate.place; });
  return all;
}

/// The settings with what the user gave, as it was given.
std::vector<KernelCandidate::Setting> settled(std::vector<KernelCandidate::Setting> settings,
                                              const Params& given) {
  for (KernelCandidate::Setting& setting : settings) {
    const auto found = given.find(setting.option);
    if (found != given.end() && found->second != "auto")
      setting.value = setting.shown = found->second;
  }
  return settings;
}

/// "ntk, depth 2, bias 1".
std::string label_of(std::string_view kernel,
                     const std::vector<KernelCandidate::Setting>& settings) {
  std::string label(kernel);
  for (const auto& [option, value, shown] : settings)
    label += fmt::format(", {} {}", option, shown);
  return label;
}

constexpr int kMostBeyond = 2;  // steps beyond a declared grid

/// Numbers that the data decide have a scale, and a next one; a depth has not.
bool has_next(const MapCandidate& candidate, std::string_view option) {
  const auto infos = find_kernel(candidate.kernel).options();
  const auto info = std::ranges::find(infos, option, &OptionInfo::name);
  return info != infos.end() && info->type == OptionType::automatic;
}

/// They are the same in everything but this option.
bool alike_but(const MapCandidate& a, const MapCandidate& b, std::string_view option) {
  return a.kernel == b.kernel && a.map == b.map &&
         std::ranges::equal(a.settings, b.settings, [&](const auto& x, const auto& y) {
           return std::string_view(x.option) == y.option &&
                  (x.option == option || x.value == y.value);
         });
}

/// A candidate's number and the one beside it, where it stands on the edge of its grid.
struct Edge {
  std::size_t setting;
  double number, neighbour;
};

std::optional<Edge> edge_of(const MapCandidate& candidate,
                            const std::vector<MapChoice::Trial>& trials) {
  for (std::size_t k = 0; k < candidate.settings.size(); ++k) {
    const std::string_view option = candidate.settings[k].option;
    if (!has_next(candidate, option)) continue;
    const double own = parse_number(candidate.settings[k].value).value_or(0);
    std::optional<double> below, above;  // the nearest ones
    for (const MapChoice::Trial& trial : trials) {
      if (!alike_but(candidate, trial.candidate, option)) continue;
      const double other = parse_number(trial.candidate.settings[k].value).value_or(0);
      if (other < own) below = std::max(below.value_or(other), other);
      if (other > own) above = std::min(above.value_or(other), other);
    }
    // Nothing lies below 0, and from 0 no ratio leads on.
    if (own > 0 && above.has_value() != below.has_value() && (above || *below > 0))
      return Edge{k, own, above ? *above : *below};
  }
  return std::nullopt;
}

}  // namespace

std::optional<MapCandidate> stand_in(std::string_view kernel, const Params& options,
                                     std::string label, const DataSummary& summary,
                                     bool may_learn) {
  for (const FeatureMapEntry& map : feature_maps()) {
    const bool special = map.fit != nullptr || map.keeps_rows;
    if (map.stands_for == nullptr || (special && !may_learn)) continue;
    if (auto own = map.stands_for(kernel, options, summary))
      return MapCandidate{map.name, std::move(*own), std::move(label), std::string(kernel),
                          options};
  }
  return std::nullopt;
}

std::vector<MapCandidate> map_candidates(const Params& given, const DataSummary& summary,
                                         const Scaling& scaling, bool may_learn) {
  Params fixed = given;
  fixed.erase("features");
  const auto features = given.find("features");
  // The columns themselves are no such number.
  const bool counted = features != given.end() && features->second != "auto";
  std::vector<MapCandidate> candidates;
  for (const Offer& offer : offers(ScaledLook(summary, scaling))) {
    auto settings = settled(offer.candidate.settings, fixed);
    auto candidate = stand_in(offer.kernel->name, offer.candidate.options(),
                              label_of(offer.kernel->name, settings), summary, may_learn);
    if (candidate) candidate = agree(std::move(*candidate), fixed);
    if (!candidate || (counted && find_feature_map(candidate->map).keeps_rows)) continue;
    candidate->settings = std::move(settings);
    const auto same = [&](const MapCandidate& other) {
      return other.map == candidate->map && other.options == candidate->options;
    };
    if (std::ranges::none_of(candidates, same)) candidates.push_back(std::move(*candidate));
  }
  if (candidates.empty()) {
    if (const auto kernel = fixed.find("kernel"); kernel != fixed.end())
      find_kernel(kernel->second);
    std::vector<std::string> names;
    for (const auto& [name, value] : given) names.push_back(spell(name, value));
    fail(ErrorKind::usage, "{} has no candidate with {}: name the map with {}",
         spell("map", "auto"), fmt::join(names, " "), spell("map"));
  }
  return candidates;
}

std::optional<Params> exact_options(const MapCandidate& candidate, const Params& given) {
  const auto infos = find_kernel(candidate.kernel).options();
  const auto knows = [&](const std::string& name) {
    return name == "kernel" || std::ranges::find(infos, name, &OptionInfo::name) != infos.end();
  };
  for (const auto& [name, value] : given)
    if (name != "features" && !knows(name)) return std::nullopt;
  Params options = candidate.kernel_options;
  for (const auto& [name, value] : candidate.options)
    if (knows(name)) options[name] = value;
  options["kernel"] = candidate.kernel;
  return options;
}

std::string edge_option(const MapCandidate& candidate,
                        const std::vector<MapChoice::Trial>& trials) {
  const auto edge = edge_of(candidate, trials);
  return edge ? candidate.settings[edge->setting].option : "";
}

std::optional<MapCandidate> beyond_edge(const MapCandidate& candidate,
                                        const std::vector<MapChoice::Trial>& trials) {
  const auto edge = edge_of(candidate, trials);
  if (!edge || candidate.beyond == kMostBeyond) return std::nullopt;
  const double ratio = edge->number / edge->neighbour;
  MapCandidate next = candidate;
  ++next.beyond;
  KernelCandidate::Setting& setting = next.settings[edge->setting];
  setting.value = format_number(edge->number * ratio);
  // What is shown is in the data's own units, or the number itself.
  setting.shown = fmt::format("{:.3g}", parse_number(setting.shown).value_or(edge->number) * ratio);
  next.options[setting.option] = next.kernel_options[setting.option] = setting.value;
  next.label = label_of(next.kernel, next.settings);
  return next;
}

}  // namespace kerf::detail
