// Training and trained models.
//
// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

namespace kerf::python {

namespace {

constexpr Index kBlockRows = 4096;

/// A model with what applies it.
class TrainedModel {
 public:
  explicit TrainedModel(Model model, Index memory_limit = 0)
      : model_(std::move(model)), predictor_(model_, memory_limit) {}
  TrainedModel(const TrainedModel&) = delete;

  const Model& model() const { return model_; }
  Model& model() { return model_; }

  /// rows x outputs.
  py::array_t<double> scores(py::handle x) const {
    return apply<double>(x, model_.outputs(), [&](RowBlock& block, Matrix<double>& part) {
      return predictor_.scores(block, part);
    });
  }
  /// rows x classes.
  py::array_t<double> probabilities(py::handle x) const {
    return apply<double>(x, model_.outputs(), [&](RowBlock& block, Matrix<double>& part) {
      const Index far_rows = predictor_.scores(block, part);
      to_probabilities(model_, part);
      return far_rows;
    });
  }
  /// Scores, and the variance of each; Error if the model was trained without variances.
  py::tuple scores_and_variances(py::handle x) const {
    const Index outputs = model_.outputs();
    const auto both = apply<double>(x, 2 * outputs, [&](RowBlock& block, Matrix<double>& part) {
      Matrix<double> mean, variance;
      const Index far_rows = predictor_.scores(block, mean, variance);
      part.resize(mean.rows(), 2 * outputs);
      for (Index i = 0; i < mean.rows(); ++i) {
        std::ranges::copy(mean.row(i), part.row(i).begin());
        std::ranges::copy(variance.row(i), part.row(i).begin() + outputs);
      }
      return far_rows;
    });
    return py::make_tuple(both, outputs);
  }
  /// Lower ends of all targets, then upper ends.
  py::tuple intervals(py::handle x, double level) const {
    const Index outputs = model_.outputs();
    const IntervalKind kind = interval_kind(model_);
    check_interval_level(model_, level);
    const auto both = apply<double>(x, 2 * outputs, [&](RowBlock& block, Matrix<double>& part) {
      Matrix<double> mean, variance;
      const Index far_rows = model_.variance ? predictor_.scores(block, mean, variance)
                                             : predictor_.scores(block, mean);
      const Matrix<double> half = half_widths(model_, kind, level, mean.rows(), variance);
      part.resize(mean.rows(), 2 * outputs);
      for (Index i = 0; i < mean.rows(); ++i)
        for (Index t = 0; t < outputs; ++t) {
          part(i, t) = mean(i, t) - half(i, t);
          part(i, outputs + t) = mean(i, t) + half(i, t);
        }
      return far_rows;
    });
    return py::make_tuple(both, outputs);
  }
  /// rows x classes: 1 for those in the set of the row, else 0.
  py::array_t<double> sets(py::handle x, double level) const {
    interval_kind(model_, true);
    check_interval_level(model_, level);
    return apply<double>(x, model_.outputs(), [&](RowBlock& block, Matrix<double>& part) {
      const Index far_rows = predictor_.scores(block, part);
      const auto best = best_class(part);
      to_probabilities(model_, part);
      part = class_sets(model_, level, part, best);
      return far_rows;
    });
  }
  /// The object of `kerf score --json`: targets as the model numbers its classes; weights may be None.
  std::string evaluate(py::handle x, py::handle targets, py::handle weights, Index worst) const {
    const Rows rows = take_rows(x);
    const MatrixView<const double> y = take_targets(targets);
    const std::span<const double> w = take_weights(weights);
    const Released no_gil;
    require_finite(rows.view);
    MemorySource source(rows.view, y, kBlockRows, WeightsView(w));
    const Score score = detail::evaluate(model_, source, {.worst = worst, .weighted = true});
    return to_json(model_, score);
  }
  /// rows x features, of the rows after scaling.
  py::array_t<float> features(py::handle x) const {
    return apply<float>(x, model_.linear.weights.rows(), [&](RowBlock& block, Matrix<float>& part) {
      return predictor_.features(block, part);
    });
  }

 private:
  template <class T, class Body>
  py::array_t<T> apply(py::handle x, Index cols, Body body) const {
    const Rows rows = take_rows(x);
    auto out = new_array<T>(rows.view.rows(), cols);
    const MatrixView<T> values = view_of(out);
    Index far_rows = 0;
    {
      const Released no_gil;
      require_finite(rows.view);
      RowBlock block;
      Matrix<T> part;
      in_steps(values.rows, kBlockRows, [&](Index begin, Index end) {
        MemorySource(rows.view.slice(begin, end), {}, end - begin).next(block);
        far_rows += body(block, part);
        std::copy_n(part.data(), (end - begin) * cols, values.slice(begin, end).data);
      });
    }
    const std::string warning = far_rows_warning(far_rows, values.rows);
    if (!warning.empty()) warn_user(warning);
    return out;
  }

  Model model_;
  Predictor predictor_;
};

/// What map auto tried: None if the map was given.
py::object choice_of(const std::optional<MapChoice>& choice) {
  if (!choice) return py::none();
  py::list tried;
  for (const auto& trial : choice->trials)
    tried.append(py::make_tuple(trial.candidate.label, trial.errors));
  return py::dict(py::arg("why") = choice->reason, py::arg("seconds") = choice->seconds,
                  py::arg("tried") = tried);
}

/// How good a fit is beside a constant: None if nothing is known.
py::object quality_of(const std::optional<FitQuality>& quality) {
  if (!quality) return py::none();
  return py::dict(py::arg("metric") = quality->metric, py::arg("value") = quality->value,
                  py::arg("constant") = quality->constant, py::arg("how") = quality->how,
                  py::arg("left_out") = quality->left_out());
}

py::dict report_of(const FitReport& report) {
  py::list path, growth;
  // Python has no first line of a report to say it in.
  std::vector<std::string> warnings = report.warnings;
  if (!report.memory_note.empty()) warnings.insert(warnings.begin(), report.memory_note);
  for (const auto& point : report.path) path.append(py::make_tuple(point.lambda, point.cv_error));
  for (const auto& step : report.growth)
    growth.append(py::make_tuple(step.features, step.cv_error, step.seconds));
  py::dict seconds;
  for (const auto& part : report.seconds.parts()) seconds[part.name] = part.seconds;
  seconds["total"] = report.seconds.total;
  return py::dict(
      py::arg("map_choice") = choice_of(report.map_choice), py::arg("growth") = growth,
      py::arg("lambda") = report.lambda, py::arg("lambda_per_target") = report.lambda_per_target,
      py::arg("cv_error") = report.cv_error ? py::object(py::float_(*report.cv_error)) : py::none(),
      py::arg("quality") = quality_of(report.quality), py::arg("path") = path,
      py::arg("scale") = name_of(report.scale), py::arg("solver") = report.solver,
      py::arg("solver_reason") = report.solver_reason, py::arg("validation") = report.validation,
      py::arg("passes") = report.passes, py::arg("residual") = report.residual,
      py::arg("notes") = report.notes, py::arg("warnings") = warnings,
      py::arg("estimated_memory_bytes") = report.estimated_memory,
      py::arg("expected_seconds") = report.expected_seconds, py::arg("seconds") = seconds);
}

py::tuple finish(FitResult& result) {
  auto& encoding = result.model.encoding;
  if (encoding && encoding->labels > 1) encoding.reset();  // no file has rows like these
  return py::make_tuple(std::make_shared<TrainedModel>(std::move(result.model)),
                        report_of(result.report));
}

/// What Python asks of the solvers.
py::dict list_solvers() {
  py::dict all;
  for (const SolverEntry& entry : solvers())
    all[entry.name] = py::dict(py::arg("summary") = entry.summary,
                               py::arg("keeps_sums") = entry.traits.keeps_sums,
                               py::arg("block_by_block") = entry.traits.block_by_block);
  return all;
}

/// Takes out the seed of the map alone, which is no option of a fit: "map-seed".
std::optional<std::uint64_t> take_map_seed(Params& options) {
  const auto map_seed = options.extract("map-seed");
  if (!map_seed) return std::nullopt;
  return std::stoull(map_seed.mapped());
}

FitOptions read_fit_options(Params given) {
  const auto map_seed = take_map_seed(given);
  auto options = read_options<FitOptions>(given, "fit");
  options.map_seed = map_seed;
  return options;
}

/// The model and a report.
py::tuple fit_data(Data& rows, std::string map, Params map_options, Params fit_options,
                   Params image_options, Params augment_options, std::string command, Index memory,
                   const py::object& callback) {
  const auto map_seed = take_map_seed(fit_options);
  const FitTask task{.map = std::move(map),
                     .map_options = std::move(map_options),
                     .fit_options = std::move(fit_options),
                     .image_options = std::move(image_options),
                     .augment_options = std::move(augment_options),
                     .map_seed = map_seed,
                     .command = std::move(command)};
  Fitted fitted;
  {
    const Progress progress = progress_to(callback);
    const Released no_gil;
    fitted = fit_dataset(rows.data, task, {memory, progress});
  }
  return finish(fitted.result);
}

/// Training block by block.
class Incremental {
 public:
  Incremental(std::string map, Params map_options, const Params& fit_options, Index memory)
      : fit_(std::move(map), std::move(map_options), read_fit_options(fit_options), memory) {}
  /// Goes on from a fit whose sums are in its checkpoint.
  Incremental(const TrainedModel& model, const Params& fit_options, Index memory)
      : fit_(model.model(), encoding_of(model.model()), read_fit_options(fit_options), memory) {}

  void begin(Data& first, const py::object& callback) {
    const Progress progress = progress_to(callback);
    const Released no_gil;
    fit_.begin(first.data, progress);
  }
  void add(const Table& table, const py::object& callback) {
    const Progress progress = progress_to(callback);
    const Released no_gil;
    fit_.add(table.open(), progress);
  }

  py::tuple solve(std::string command, const py::object& callback) {
    FitResult result;
    {
      const Progress progress = progress_to(callback);
      const Released no_gil;
      result = fit_.solve(std::move(command), progress);
    }
    return finish(result);
  }

 private:
  BlockwiseTraining fit_;
};

/// What the fit was asked for; None for models from before this was kept.
py::object request_of(const FitRequest& asked) {
  if (!asked.present()) return py::none();
  return py::dict(
      py::arg("map") = asked.map, py::arg("map_options") = asked.map_options,
      py::arg("fit_options") = asked.fit_options, py::arg("image_options") = asked.image_options,
      py::arg("map_seed") =
          asked.map_seed ? py::object(py::int_(*asked.map_seed)) : py::object(py::none()),
      py::arg("class_weights") = asked.class_weights, py::arg("memory_limit") = asked.memory_limit);
}

/// A share for each column; None without a metric.
py::object importance_of(const Model& model) {
  if (!model.scaling.metric) return py::none();
  std::vector<double> shares;
  for (const ColumnImportance& column : column_importance(model)) shares.push_back(column.share);
  return py::array_t<double>(static_cast<py::ssize_t>(shares.size()), shares.data());
}

/// Which intervals the model has: None for none.
py::object intervals_of(const Model& model) {
  if (!model.conformal && !model.variance) return py::none();
  py::object rows = py::none();
  if (model.conformal) rows = py::int_(model.conformal->rows());
  return py::dict(py::arg("kind") = model.conformal ? "conformal" : "normal",
                  py::arg("calibration_rows") = rows);
}

py::dict describe_model(const TrainedModel& self) {
  const Model& model = self.model();
  const TrainingRecord& training = model.training;
  py::dict all(
      py::arg("map") = model.recipe.map, py::arg("options") = model.recipe.options,
      py::arg("seed") = model.recipe.seed, py::arg("in_dim") = model.input_columns(),
      py::arg("task") = name_of(model.task), py::arg("classes") = model.classes,
      py::arg("outputs") = model.outputs(), py::arg("sparse") = model.is_sparse,
      py::arg("version") = training.version, py::arg("command") = training.command,
      py::arg("rows") = training.rows, py::arg("lambda") = training.lambda,
      py::arg("cv_error") =
          training.cv_error ? py::object(py::float_(*training.cv_error)) : py::object(py::none()),
      py::arg("validation") = training.validation, py::arg("asked") = request_of(training.asked),
      py::arg("has_checkpoint") = !training.identity.empty(),
      py::arg("quality") = quality_of(training.quality), py::arg("intervals") = intervals_of(model),
      py::arg("importance") = importance_of(model));
  if (model.encoding) {
    const auto parsed = py::module_::import("json").attr("loads")(columns_json(*model.encoding));
    all.attr("update")(parsed);
  }
  return all;
}

}  // namespace

void add_models(py::module_& module) {
  module.attr("default_map") = kDefaultMap;
  module.def("fit_options", [] { return describe(list_options<FitOptions>()); });
  module.def("list_solvers", &list_solvers);
  module.def("image_options", [] { return describe(list_options<ImageOptions>()); });
  module.def("augment_options", [] { return describe(list_options<AugmentOptions>()); });
  module.def("check_map_options", &check_map_options);
  module.def("idle_option", &idle_option);
  module.def("fit", &fit_data);
  py::class_<TrainedModel, std::shared_ptr<TrainedModel>>(module, "Model")
      .def("describe", &describe_model)
      .def_property_readonly("encoding",
                             [](const TrainedModel& self) { return encoding_of(self.model()); })
      .def("scores", &TrainedModel::scores)
      .def("probabilities", &TrainedModel::probabilities)
      .def("scores_and_variances", &TrainedModel::scores_and_variances)
      .def("intervals", &TrainedModel::intervals)
      .def("sets", &TrainedModel::sets)
      .def("features", &TrainedModel::features)
      .def("evaluate", &TrainedModel::evaluate)
      .def_property_readonly(
          "weights",
          [](const TrainedModel& self) { return copy_of(self.model().linear.weights.view()); })
      .def_property_readonly("intercept",
                             [](const TrainedModel& self) {
                               const auto& intercept = self.model().linear.intercept;
                               return py::array_t<double>(
                                   static_cast<py::ssize_t>(intercept.size()), intercept.data());
                             })
      .def("keep_class_weights",
           [](TrainedModel& self, std::vector<double> weights) {
             self.model().training.asked.class_weights = std::move(weights);
           })
      .def("save",
           [](const TrainedModel& self, const std::string& path) {
             const Released no_gil;
             save_model(self.model(), path);
           })
      .def_static("load",
                  [](const std::string& path, Index memory_limit) {
                    const Released no_gil;
                    return std::make_shared<TrainedModel>(load_model(path), memory_limit);
                  })
      .def(py::pickle(
          [](const TrainedModel& self) { return py::bytes(model_to_bytes(self.model())); },
          [](const py::bytes& bytes) {
            return std::make_shared<TrainedModel>(
                model_from_bytes(std::string_view(bytes), "in memory"));
          }));
  py::class_<Incremental>(module, "Incremental")
      .def(py::init<std::string, Params, const Params&, Index>())
      .def(py::init<const TrainedModel&, const Params&, Index>())
      .def("begin", &Incremental::begin)
      .def("add", &Incremental::add)
      .def("solve", &Incremental::solve);
}

}  // namespace kerf::python
