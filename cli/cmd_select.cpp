// kerf select: the rows worth labelling.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/command.h"

namespace kerf::cli {
namespace {

/// What select takes besides the data and the map.
struct SelectOptions {
  Index budget = 100;
  DesignMethod method = DesignMethod::greedy;
  std::optional<double> lambda;
  ScaleKind scale = ScaleKind::automatic;
  Index seed = 1;

  void describe(OptionVisitor& v) {
    v.integer("budget", budget, {1, 1e9}, "how many rows to choose");
    v.choice("method", method,
             "greedy: least posterior variance; random and kmeans++ for comparison");
    v.automatic("lambda", lambda, kAnyPositive,
                "ridge penalty of the model to come, as in fit on --budget rows; auto: so that "
                "budget x lambda is a thousandth of the features' mean squared length");
    v.choice("scale", scale,
             "how columns are scaled; auto: images unit rows, sparse rms, tables standard");
    v.integer("seed", seed, {0, 9007199254740992.0}, "seed of everything random");
  }
};

struct SelectArguments {
  std::vector<std::string> data;
  std::string map, output;
  Params data_options, select_options, map_options;
};

/// The features of all rows, and the number of each in the files.
Matrix<float> all_features(Dataset& data, const Scaling& scaling, const FeatureMap& map,
                           std::vector<Index>& numbers, const Progress& progress) {
  Matrix<float> z(data.summary.rows, map.out_dim());
  RowBlock block;
  Index at = 0;
  data.source->rewind();
  while (data.source->next(block)) {
    scaling.apply(block);
    map.transform(block.x(), z.view().slice(at, at + block.rows()));
    for (Index i = 0; i < block.rows(); ++i) numbers.push_back(block.number_of(i));
    at += block.rows();
    report(progress, "features", at, data.summary.rows);
  }
  return z;
}

void run_select(const SelectArguments& arguments, const Common& common) {
  const auto start = std::chrono::steady_clock::now();
  const FeatureMapEntry& entry = find_feature_map(arguments.map);
  const auto options = read_options<SelectOptions>(arguments.select_options, "kerf select");
  const auto data_options = read_input_options(arguments.data_options, "kerf select", common);
  entry.complete(arguments.map_options);
  files_of(arguments, arguments.output).check();
  const Progress progress = terminal_progress(common.quiet);
  const rng::Key key{static_cast<std::uint64_t>(options.seed)};
  Dataset data = open_settled(arguments.data, data_options, options.seed, options.scale, progress);
  const Scaling scaling = make_scaling(options.scale, data.summary);
  const Params complete =
      entry.complete(resolve_automatic(entry, arguments.map_options, data.summary, scaling));
  const auto map =
      Recipe{arguments.map, complete, key.value, data.summary.cols}.make(common.memory_limit());
  require_memory(
      design_bytes(data.summary.rows, map->out_dim(), std::min(options.budget, data.summary.rows)),
      common.memory_limit(),
      fmt::format("choosing among {} rows with {} features", data.summary.rows, map->out_dim()),
      "take fewer --features, fewer --rows, or raise --memory");
  std::vector<Index> numbers;
  const Matrix<float> z = all_features(data, scaling, *map, numbers, progress);
  const Design design = select_rows(options.method, z.view(), options.budget, options.lambda,
                                    key.child("select"), progress);

  std::string lines;
  for (const Index row : design.rows) lines += fmt::format("{}\n", numbers[row]);
  write_text(arguments.output, lines);
  clear_progress();
  double explained = 0;
  for (const double gain : design.gains) explained += gain;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool greedy = options.method == DesignMethod::greedy;
  if (common.json)
    return print_json(
        {{"rows", data.summary.rows},
         {"budget", options.budget},
         {"method", name_of(options.method)},
         {"map", arguments.map},
         {"options", options_json(complete)},
         {"lambda", greedy ? Json(design.ridge / static_cast<double>(options.budget)) : Json()},
         {"explained", greedy ? Json(explained / design.total) : Json()},
         {"seconds", seconds},
         {"peak_memory_bytes", peak_memory()},
         {"output", arguments.output}});
  if (common.quiet) return;
  fmt::print(
      "{} of {} rows in {}{} ({})\n", with_commas(std::ssize(design.rows)),
      with_commas(data.summary.rows), arguments.output,
      greedy ? fmt::format(", which explain {:.1f} % of all", 100 * explained / design.total) : "",
      human_seconds(seconds));
  const std::string note = input_note(arguments.data_options, data.encoding);
  if (!note.empty()) fmt::print("{}\n", note);
}

}  // namespace

void add_select(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<SelectArguments>();
  CLI::App* command = add_command(
      app, common, "select", "choose the rows worth labelling: optimal design",
      "  kerf select unlabelled.csv --map arccos --budget 200 -o rows.txt\n"
      "  kerf select train-images-idx3-ubyte.gz --map ntk-rf --budget 1000 -o rows.txt\n"
      "  kerf select data.csv --target price --map rff --method kmeans++ -o rows.txt");
  add_option(*command, "DATA", arguments->data,
             "rows; every column is input unless --target says which one is not")
      .required();
  add_option(*command, "-o,--out", arguments->output,
             "file for the chosen rows, counted from 0, best first")
      .output_file()
      .required();
  add_option(*command, "--map", arguments->map, "feature map, see `kerf maps`")
      .type_name("NAME")
      .required();
  add_described(*command, "Selection", list_options<SelectOptions>(), arguments->select_options);
  add_described(*command, "Data", input_options(), arguments->data_options);
  add_described(*command, "Options of maps", all_map_options(), arguments->map_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_select(*arguments, common); }; });
}

}  // namespace kerf::cli
