// kerf info, maps, kernels: what a model is, what there is to choose from.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/command.h"

namespace kerf::cli {
namespace {

/// What a model keeps besides its weights, in words.
std::string what_is_stored(const Model& model) {
  if (model.rows) return fmt::format("{} training rows", with_commas(model.rows->x().rows()));
  std::string stored = "the recipe of the features (name, options, seed)";
  if (!model.recipe.state) return stored;
  if (model.recipe.state->empty())
    return stored + ", its learned subspace folded into the weights,";
  for (const auto& [name, array] : *model.recipe.state)
    stored += fmt::format(", {} ({} x {})", printable(name), with_commas(array.rows()),
                          with_commas(array.cols()));
  return stored;
}

/// How much each column counts in the learned metric, as parts of 1; null: the model has none.
Json importance_json(const Model& model) {
  Json json;
  for (const ColumnImportance& column : column_importance(model)) json[column.name] = column.share;
  return json;
}

/// Whether `predict --interval` can be had, and of which kind.
Json intervals_json(const Model& model) {
  if (!model.conformal && !model.variance) return {};
  return {{"kind", model.conformal ? "conformal" : "normal"},
          {"calibration_rows", model.conformal ? Json(model.conformal->rows()) : Json()}};
}

Json info_json(const Model& model, const std::string& path) {
  const auto& training = model.training;
  Json json = {{"model", path},
               {"task", name_of(model.task)},
               {"map", model.recipe.map},
               {"options", options_json(model.recipe.options)},
               {"seed", model.recipe.seed},
               {"columns", model.recipe.in_dim},
               {"outputs", model.outputs()},
               {"classes", model.classes},
               {"rows", training.rows},
               {"lambda", training.lambda},
               {"cv_error", training.cv_error ? Json(*training.cv_error) : Json()},
               {"validation", training.cv_error ? Json(training.validation) : Json()},
               {"metric", training.cv_error ? Json(training.metric) : Json()},
               {"quality", quality_json(training.quality)},
               {"intervals", intervals_json(model)},
               {"importance", importance_json(model)},
               {"command", training.command},
               {"asked", Json(training.asked.to_json())},
               {"version", training.version}};
  if (model.encoding) json.update(Json::parse(columns_json(*model.encoding)));
  json["weights"] = {model.linear.weights.rows(), model.linear.weights.cols()};
  json["stored"] = Json::object();
  if (model.recipe.state)
    for (const auto& [name, array] : *model.recipe.state)
      json["stored"][name] = {array.rows(), array.cols()};
  return json;
}

/// "a, b, c and 17 more".
std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + most, ", "),
                     with_commas(std::ssize(names) - static_cast<Index>(most)));
}

/// The columns by name; `verbose`: all of them.
void print_columns(const Encoding& encoding, bool verbose) {
  const auto line = [&](const char* title, const std::vector<std::string>& names) {
    if (!names.empty())
      fmt::print("{}  {}\n", bold(fmt::format("{:<8}", title)),
                 printable(some_of(names, verbose ? names.size() : 20)));
  };
  line("numbers", columns_of(encoding, Role::number));
  std::size_t left = verbose ? encoding.columns.size() : 20, untold = 0;
  for (std::size_t j = 0; j < encoding.columns.size(); ++j) {
    const EncodedColumn& column = encoding.columns[j];
    if (column.role != Role::category) continue;
    if (left == 0) {
      ++untold;
      continue;
    }
    --left;
    fmt::print("{}  {}: {}\n", bold("words   "),
               printable(column.name.empty() ? fmt::format("column {}", j) : column.name),
               printable(some_of(column.levels, verbose ? column.levels.size() : 10)));
  }
  if (untold > 0) fmt::print("          {} columns of words more: -v names them\n", untold);
  line("target", targets_of(encoding));
  line("dropped", columns_of(encoding, Role::dropped));
  line("weight", columns_of(encoding, Role::weight));
  if (encoding.missing != Missing::error)
    fmt::print("{}  {}\n", bold("missing "),
               encoding.missing == Missing::mean ? "the mean of the column stands for it"
                                                 : "rows with such cells were left out");
}

void run_info(const std::string& path, const Common& common) {
  const Model model = load_model(path);
  if (common.json) return print_json(info_json(model, path));
  const auto& training = model.training;
  const bool classification = model.task == Task::classification;
  fmt::print("{}  {}\n", bold("task    "),
             classification
                 ? printable(fmt::format("classification: {}", fmt::join(model.classes, ", ")))
                 : fmt::format("regression, {} target{}", model.outputs(),
                               model.outputs() == 1 ? "" : "s"));
  fmt::print("{}  {} (seed {})\n", bold("map     "), printable(model.recipe.map),
             model.recipe.seed);
  for (const auto& [name, value] : model.recipe.options)
    fmt::print("            --{} {}\n", printable(name), printable(value));
  fmt::print("{}  {} columns{}\n", bold("input   "), with_commas(model.recipe.in_dim),
             model.is_sparse ? ", sparse" : "");
  if (model.encoding) print_columns(*model.encoding, common.verbose);
  fmt::print("{}  {} rows, lambda {:.3g}{}\n", bold("training"), with_commas(training.rows),
             training.lambda,
             training.cv_error ? fmt::format(" by {}, {} {:.4g}", printable(training.validation),
                                             printable(training.metric), *training.cv_error)
                               : ", as given");
  if (training.quality) fmt::print("{}  {}\n", bold("quality "), describe(*training.quality));
  if (const std::string columns = describe_importance(model); !columns.empty())
    fmt::print("{}  {}: {}\n", bold("metric  "),
               model.scaling.metric->is_diagonal() ? "diagonal" : "full", columns);
  if (const std::string intervals = describe_intervals(model); !intervals.empty())
    fmt::print("{}  {}\n", bold("interval"), intervals);
  fmt::print("{}  {} and {} weights\n", bold("stored  "), what_is_stored(model),
             with_commas(model.linear.weights.rows() * model.linear.weights.cols()));
  if (!training.command.empty())
    fmt::print("{}  {}\n", bold("made by "), printable(training.command));
  fmt::print("{}  kerf {}\n", bold("version "), printable(training.version));
}

Json option_json(const OptionInfo& option) {
  Json json = {{"name", option.name}, {"default", option.default_value}, {"help", option.help}};
  if (!option.choices.empty()) json["choices"] = option.choices;
  return json;
}

/// A line of a list: a map or kernel with its options.
struct Listed {
  std::string name, summary;
  std::vector<OptionInfo> options;
};

template <class Entries>
std::vector<Listed> listed(const Entries& entries) {
  std::vector<Listed> list;
  for (const auto& entry : entries) list.push_back({entry.name, entry.summary, entry.options()});
  return list;
}

/// The registered maps, and the two words that --map takes besides.
std::vector<Listed> all_maps() {
  std::vector<Listed> list = listed(feature_maps());
  list.insert(list.begin(),
              {{kAutoMap, "the map, its kernel and their options are chosen for the data", {}},
               {kExactMap, "no features: the kernel itself, see `kerf kernels` (fit)", {}}});
  return list;
}

/// All of them, or those that are named.
void run_list(std::vector<Listed> entries, const std::vector<std::string>& asked,
              const std::string& word, const Common& common) {
  if (!asked.empty()) {
    std::vector<std::string> names;
    for (const Listed& entry : entries) names.push_back(entry.name);
    for (const std::string& name : asked)
      if (std::ranges::find(names, name) == names.end())
        throw Error(ErrorKind::usage,
                    fmt::format("there is no '{}' among the {}{}; they are {}", name, word,
                                did_you_mean(name, names), fmt::join(names, ", ")));
    std::erase_if(entries, [&](const Listed& entry) {
      return std::ranges::find(asked, entry.name) == asked.end();
    });
  }
  Json json = Json::array();
  for (const Listed& entry : entries) {
    Json options = Json::array();
    for (const auto& option : entry.options) options.push_back(option_json(option));
    json.push_back({{"name", entry.name}, {"summary", entry.summary}, {"options", options}});
    if (common.json) continue;
    fmt::print("{}  {}\n", bold(fmt::format("{:<12}", entry.name)), entry.summary);
    for (const auto& option : entry.options)
      fmt::print("    --{:<14} {}{} [{}]\n", option.name, option.help,
                 option.choices.empty() ? "" : fmt::format(": {}", fmt::join(option.choices, "|")),
                 option.default_value);
  }
  if (common.json) print_json({{word, json}});
}

void add_list(CLI::App& app, Common& common, std::function<void()>& run, const std::string& word,
              const std::string& summary, std::vector<Listed> (*entries)()) {
  const auto asked = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      add_command(app, common, word, summary, fmt::format("  kerf {0}\n  kerf {0} NAME", word));
  add_option(*command, "NAME", *asked, "those of this name only");
  when_asked(*command, [=, &common, &run] {
    run = [=, &common] { run_list(entries(), *asked, word, common); };
  });
}

}  // namespace

void add_info(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command = add_command(app, common, "info", "show what a model is and how it was made",
                                  "  kerf info model.kerf\n  kerf info model.kerf --json");
  add_option(*command, "MODEL", *path, "a model that `kerf fit` wrote").required();
  when_asked(*command, [=, &common, &run] { run = [=, &common] { run_info(*path, common); }; });
}

void add_lists(CLI::App& app, Common& common, std::function<void()>& run) {
  add_list(app, common, run, "maps", "list the feature maps and their options", all_maps);
  add_list(app, common, run, "kernels", "list the exact kernels and their options",
           [] { return listed(kernels()); });
}

}  // namespace kerf::cli
