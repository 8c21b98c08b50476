// kerf skeleton: computation skeletons, looked at, checked, and their random features listed.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct SkeletonArguments {
  std::string action, text, image, output;
  Index show = 10;
  Params options;
  Params seed;
};

Json skeleton_facts(const Skeleton& skeleton) {
  return {{"columns", skeleton.columns()},
          {"nodes", skeleton.nodes().size()},
          {"inputs", skeleton.inputs()},
          {"depth", skeleton.depth()},
          {"complexity", skeleton.complexity()}};
}

/// A line a feature: its weight, what it is of (one, cos, -sin), then atom:exponent for each
/// factor, atoms by their input column.
std::string feature_lines(const SkeletonTable& table, const Skeleton& skeleton) {
  constexpr const char* kKinds[] = {"real", "cos", "-sin"};
  std::string lines;
  for (std::size_t j = 0; j < table.weight.size(); ++j) {
    lines += fmt::format("{:.9g} {}", table.weight[j], kKinds[static_cast<int>(table.kind[j])]);
    for (std::size_t k = table.first_factor[j]; k < table.first_factor[j + 1]; ++k) {
      const SkeletonAtom& atom = table.atoms[table.atom[k]];
      const auto& columns = skeleton.nodes()[atom.node].base.columns;
      const auto place = static_cast<std::size_t>(std::max<Index>(0, atom.position));
      lines += fmt::format(" {}:{}", columns[place], table.exponent[k]);
    }
    for (std::size_t k = table.first_term[j]; k < table.first_term[j + 1]; ++k)
      lines += fmt::format(" {}:{:.9g}", table.number[k], table.coefficient[k]);
    lines += "\n";
  }
  return lines;
}

void list_features(const SkeletonArguments& arguments, const Common& common) {
  Params options = arguments.options;
  options["skeleton"] = load_skeleton_text(arguments.text);
  if (!arguments.image.empty()) options["image"] = arguments.image;
  const auto map_options = read_options<SkeletonMapOptions>(options, "kerf skeleton features");
  const auto fit_options = read_options<FitOptions>(arguments.seed, "kerf skeleton features");
  const Skeleton skeleton = map_options.kernel.build();
  const auto start = std::chrono::steady_clock::now();
  const SkeletonFeatures map(skeleton.columns(), map_options,
                             rng::Key{static_cast<std::uint64_t>(fit_options.seed)});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const SkeletonTable& table = map.table();
  if (!arguments.output.empty()) write_text(arguments.output, feature_lines(table, map.skeleton()));
  const double factors = static_cast<double>(table.atom.size() + table.number.size()) /
                         static_cast<double>(std::max<Index>(1, table.columns()));
  if (common.json) {
    Json json = skeleton_facts(skeleton);
    json["features"] = table.columns();
    json["draws"] = table.draws;
    json["factors_a_draw"] = table.base_factors;
    json["factors_a_feature"] = factors;
    json["bytes"] = table.bytes();
    json["seconds"] = seconds;
    json["peak_memory_bytes"] = peak_memory();
    return print_json(json);
  }
  for (Index j = 0; j < std::min(arguments.show, table.columns()); ++j)
    fmt::print("{}\n", describe_feature(table, map.skeleton(), j));
  if (common.quiet) return;
  fmt::print(
      "{} features of {} draws in {}, {}; {:.3g} base factors a draw (C(S) = {:.3g}), {:.3g} "
      "a feature\n",
      with_commas(table.columns()), with_commas(table.draws), human_seconds(seconds),
      human_bytes(table.bytes()), table.base_factors, skeleton.complexity(), factors);
}

void run_skeleton(const SkeletonArguments& arguments, const Common& common) {
  Files().reads(arguments.text).writes(arguments.output).check();
  if (arguments.action == "features") return list_features(arguments, common);
  const bool show = arguments.action == "show";
  if (!show && arguments.action != "check")
    throw Error(ErrorKind::usage, fmt::format("kerf skeleton can show, check or list features, not "
                                              "'{}'",
                                              arguments.action));
  const SkeletonOptions options{load_skeleton_text(arguments.text),
                                arguments.image.empty() ? "auto" : arguments.image};
  const Skeleton skeleton = options.build();
  if (!arguments.output.empty())
    write_text(arguments.output, show ? skeleton_svg(skeleton) : skeleton_json(skeleton));
  if (common.json) return print_json(skeleton_facts(skeleton));
  if (show)
    fmt::print("{}", skeleton_outline(skeleton));
  else if (!common.quiet)
    fmt::print("ok: {} columns, {} nodes, C(S) = {:.6g}\n", skeleton.columns(),
               skeleton.nodes().size(), skeleton.complexity());
}

}  // namespace

void add_skeleton(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<SkeletonArguments>();
  CLI::App* command =
      add_command(app, common, "skeleton", "computation skeletons: show, check, list features",
                  "  kerf skeleton show net.json -o net.svg\n"
                  "  kerf skeleton check 'circle 1, conv 5/2 relu, full relu' --image 24x24x3\n"
                  "  kerf skeleton features net.json --features 100000 --show 20 -o features.txt");
  add_option(*command, "ACTION", arguments->action, "show, check or features").required();
  add_option(*command, "SKELETON", arguments->text, "a JSON file, or the layers themselves")
      .required();
  add_option(*command, "--image", arguments->image,
             "shape of the rows, where the skeleton does not say it")
      .type_name("HxWxC");
  add_option(*command, "-o,--out", arguments->output,
             "show: an SVG picture; check: all nodes as JSON; features: a line each")
      .output_file();
  add_option(*command, "--show", arguments->show, "features to print [10]").type_name("N");
  std::vector<OptionInfo> options, seed;
  for (auto& option : list_options<SkeletonMapOptions>())
    if (option.name != "skeleton" && option.name != "image") options.push_back(option);
  for (auto& option : list_options<FitOptions>())
    if (option.name == "seed") seed.push_back(option);
  add_described(*command, "Features", options, arguments->options);
  add_described(*command, "Features", seed, arguments->seed);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_skeleton(*arguments, common); }; });
}

}  // namespace kerf::cli
