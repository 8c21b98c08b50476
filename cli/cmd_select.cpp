// kerf select: the rows worth labelling.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct SelectArguments {
  std::vector<std::string> data;
  std::string map, output;
  Params data_options, select_options, map_options;
};

void run_select(const SelectArguments& arguments, const Common& common) {
  const auto start = std::chrono::steady_clock::now();
  require_features(arguments.map);
  check_map_options(arguments.map, arguments.map_options);
  const auto options = read_options<SelectOptions>(arguments.select_options, "kerf select");
  const auto data_options = read_data_options(arguments.data_options, "kerf select", common);
  files_of(arguments, arguments.output).check();
  const Progress progress = terminal_progress(common.quiet, common.verbose);
  const rng::Key key{static_cast<std::uint64_t>(options.seed)};
  Dataset data = open_dataset(arguments.data, data_options, key, progress);
  const SelectedRows selected = select_rows(data, arguments.map, arguments.map_options, options,
                                            {common.memory_limit(), progress});
  const Design& design = selected.design;
  std::string lines;
  for (const Index row : selected.rows) lines += fmt::format("{}\n", row);
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
         {"map", selected.map},
         {"options", options_json(selected.options)},
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
  add_option(*command, "DATA", arguments->data, "rows; the target, if there is one, is left out")
      .required();
  add_option(*command, "-o,--out", arguments->output,
             "file for the chosen rows, counted from 0, best first")
      .output_file()
      .required();
  add_option(*command, "--map", arguments->map,
             "feature map, see `kerf maps`; auto: chosen for the target")
      .type_name("NAME")
      .required();
  add_described(*command, "Selection", list_options<SelectOptions>(), arguments->select_options);
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  add_described(*command, kMapOptions, all_map_options(), arguments->map_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_select(*arguments, common); }; });
}

}  // namespace kerf::cli
