// kerf transform: the features of rows, as an npy or CSV file.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/matrix_output.h"

namespace kerf::cli {
namespace {

struct TransformArguments {
  std::vector<std::string> data;
  std::string map, model, output;
  Params data_options, fit_options, map_options;
};

/// Writes the features of every row; returns the number of rows.
template <class Features>
Index write_features(RowSource& source, const std::string& path, Index columns,
                     const Progress& progress, Features features) {
  MatrixOutput writer(path, columns, NpyWriter::Type::float32);
  RowBlock block;
  Matrix<float> z;
  Index rows = 0;
  const Progress step = expecting(progress, {{"features"}});
  while (source.next(block)) {
    features(block, z);
    writer.append(z.view());
    rows += block.rows();
    report(step, "features", rows, rows_expected(source, rows));
  }
  writer.commit();
  return rows;
}

bool is_zero(const Matrix<float>& z) {
  return std::all_of(z.data(), z.data() + z.rows() * z.cols(), [](float v) { return v == 0; });
}

/// A model has made these choices: what would be passed over in silence is refused.
void refuse_options_of_fit(const TransformArguments& arguments) {
  for (const Params* given :
       {&arguments.data_options, &arguments.fit_options, &arguments.map_options})
    for (const auto& [name, value] : *given)
      if (std::ranges::find(kReadingOptions, name) == kReadingOptions.end())
        throw Error(ErrorKind::usage,
                    fmt::format("the model knows its columns and its map: --{} goes with --map, "
                                "not with --model",
                                name));
}

Json with_model(const TransformArguments& arguments, const Common& common,
                const Progress& progress) {
  refuse_options_of_fit(arguments);
  const Model model = load_model(arguments.model);
  const Predictor predictor(model, common.memory_limit());
  const auto data_options = read_data_options(arguments.data_options, "kerf transform", common);
  const auto source =
      open_for_model(arguments.data, file_encoding(model), data_options, io::Targets::ignore);
  const Index features = model.linear.weights.rows();
  Index far_rows = 0;
  const Index rows = write_features(
      *source, arguments.output, features, progress,
      [&](RowBlock& block, Matrix<float>& z) { far_rows += predictor.features(block, z); });
  Json json = {{"rows", rows},
               {"features", features},
               {"map", model.recipe.map},
               {"options", options_json(model.recipe.options)},
               {"output", arguments.output}};
  clear_progress();
  warn_of_far_rows(far_rows, rows);
  tell_unknown(*source, common, &json);
  return json;
}

Json with_map(const TransformArguments& arguments, const Common& common, const Progress& progress) {
  auto fit_options = read_options<FitOptions>(arguments.fit_options, "kerf transform");
  Params options = arguments.map_options;
  if (arguments.map != kAutoMap) {
    if (!arguments.fit_options.contains("scale")) fit_options.scale = ScaleKind::none;
    options = rows_as_they_are(find_feature_map(arguments.map).options(), std::move(options));
  }
  check_map_options(arguments.map, options);
  const auto data_options = read_data_options(arguments.data_options, "kerf transform", common);
  const auto seed = static_cast<std::uint64_t>(fit_options.seed);
  Dataset data = open_dataset(arguments.data, data_options, rng::Key{seed}, progress);
  const ChosenFeatures chosen =
      features_for(data, {arguments.map, std::move(options), fit_options.scale, fit_options.seed},
                   {common.memory_limit(), progress});
  const Scaling scaling = make_scaling(chosen.scale, data.summary);
  const FeatureMapEntry& entry = find_feature_map(chosen.map);
  const Params complete =
      entry.complete(resolve_automatic(entry, chosen.options, data.summary, scaling));
  Recipe recipe{chosen.map, complete, seed, data.summary.cols};
  ScaledSource scaled(*data.source, scaling);
  recipe.fit(scaled, common.memory_limit(), progress);
  const auto map = recipe.make(common.memory_limit());
  data.source->rewind();
  bool all_zero = true;
  const Index rows = write_features(*data.source, arguments.output, map->out_dim(), progress,
                                    [&](RowBlock& block, Matrix<float>& z) {
                                      scaling.apply(block);
                                      z.resize(block.rows(), map->out_dim());
                                      map->transform(block.x(), z.view());
                                      all_zero = all_zero && is_zero(z);
                                    });
  if (all_zero && rows > 0 && !common.quiet)
    fmt::print(stderr, "kerf: warning: {}\n", zero_features_warning(chosen.map));
  Json json = {{"rows", rows},
               {"features", map->out_dim()},
               {"map", chosen.map},
               {"options", options_json(complete)},
               {"output", arguments.output}};
  const std::string note = input_note(arguments.data_options, data.encoding);
  if (!note.empty()) json["note"] = note;
  return json;
}

void run_transform(const TransformArguments& arguments, const Common& common) {
  if (arguments.map.empty() == arguments.model.empty())
    throw Error(ErrorKind::usage, "kerf transform wants either --map NAME or --model FILE");
  require_features(arguments.map);
  MatrixOutput::check(arguments.output);
  Files()
      .reads(arguments.data)
      .reads(arguments.model)
      .reads(arguments.data_options)
      .reads(arguments.map_options)
      .writes(arguments.output)
      .check();
  const Progress progress = terminal_progress(common.quiet, common.verbose);
  const Json json = arguments.model.empty() ? with_map(arguments, common, progress)
                                            : with_model(arguments, common, progress);
  clear_progress();
  if (common.json) return print_json(json);
  if (common.quiet) return;
  fmt::print("{} rows x {} features in {}\n", with_commas(json["rows"]),
             with_commas(json["features"]), arguments.output);
  const auto note = json.value("note", std::string());
  if (!note.empty()) fmt::print("{}\n", note);
}

}  // namespace

void add_transform(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<TransformArguments>();
  CLI::App* command =
      add_command(app, common, "transform", "write the features of rows (float32 npy, csv)",
                  "  kerf transform data.csv --map rff --features 1024 --bandwidth 2 -o Z.npy\n"
                  "  kerf transform data.csv --model model.kerf -o Z.npy");
  add_option(*command, "DATA", arguments->data, "files; the target, if rows have one, is left out")
      .required();
  add_option(*command, "-o,--out", arguments->output,
             "npy file, rows x features, or text if it ends in .csv")
      .output_file()
      .required();
  add_option(*command, "--map", arguments->map,
             "feature map, see `kerf maps`; auto: chosen for the target, rows scaled as in fit")
      .type_name("NAME");
  add_option(*command, "--model", arguments->model, "the features of a trained model")
      .type_name("FILE");
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  add_described(*command, "Features",
                with_default(only(list_options<FitOptions>(), {"scale", "seed"}), "scale", "none"),
                arguments->fit_options);
  add_described(*command, kMapOptions, as_rows_are(all_map_options()), arguments->map_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_transform(*arguments, common); }; });
}

}  // namespace kerf::cli
