// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/journey.h"

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/fit/calibrate.h"
#include "kerf/learn/solvers/solver.h"
#include "kerf/model/importance.h"

namespace kerf::detail {
namespace {

constexpr const char* kOwner = "fit";

FitOptions options_of(const FitTask& task) {
  auto options = read_options<FitOptions>(task.fit_options, kOwner);
  options.map_seed = task.map_seed;
  return options;
}

/// A solver that passes over the rows many times: one copy, another one in every pass.
bool draws_afresh(const FitOptions& options) { return solver_traits(options.solver).fresh_rows; }

AugmentOptions augmentation_of(const FitTask& task, const FitOptions& options) {
  auto augmentation = read_options<AugmentOptions>(task.augment_options, kOwner);
  if (draws_afresh(options) && !task.augment_options.contains("copies")) augmentation.copies = 1;
  return augmentation;
}

/// A kernel that is computed in double wants its rows so, too.
bool wants_double(const FitTask& task, const FitOptions& options) {
  return options.precision == Precision::double_ && (task.map == kExactMap || task.map == kAutoMap);
}

}  // namespace

rng::Key task_key(const FitTask& task) {
  return {static_cast<std::uint64_t>(options_of(task).seed)};
}

void check_task(const FitTask& task) {
  check_map_options(task.map, task.map_options);
  augmentation_of(task, options_of(task));
  read_options<ImageOptions>(task.image_options, kOwner);
  KERF_REQUIRE(task.holdout >= 0 && task.holdout < 1, usage,
               "{} is a part of the rows, between 0 and 1, not {}", spell("holdout"), task.holdout);
  KERF_REQUIRE(task.holdout == 0 || task.test.empty(), usage, "take either {} or {}", spell("test"),
               spell("holdout"));
  KERF_REQUIRE(task.test_labels.empty() || !task.test.empty(), usage, "{} goes with {}",
               spell("test-labels"), spell("test"));
}

RowSource* Fitted::test_rows() const {
  return split ? static_cast<RowSource*>(&split->held_out) : test_file.get();
}

void settle_columns(Dataset& data, ScaleKind scale, bool free) {
  const ScaleKind kind = resolve_scale(scale, data.summary);
  if (kind == ScaleKind::standard || (kind == ScaleKind::none && free)) data.centre_large_columns();
}

bool sees_differences(const std::string& map, const Params& map_options) {
  if (map == kAutoMap) return false;  // the data decide
  if (map != kExactMap) return ignores_offsets(find_feature_map(map), map_options);
  return ignores_offsets(find_kernel(exact_kernel_name(map_options)),
                         exact_kernel_params(map_options));
}

Fitted fit_dataset(Dataset& data, const FitTask& task, const Context& context) {
  check_task(task);
  const FitOptions options = options_of(task);
  const rng::Key key = task_key(task);
  settle_columns(data, options.scale, sees_differences(task.map, task.map_options));
  if (wants_double(task, options)) data.keep_double();
  FitReport::Seconds seconds{.open = data.summary.seconds};
  std::optional<Stopwatch> watch(seconds.total);
  std::optional<PhaseClock> phase(seconds.read);
  std::unique_ptr<Holdout> split;
  if (task.holdout > 0)
    split = std::make_unique<Holdout>(*data.source, data.summary, task.holdout,
                                      key.child("holdout"), context.progress);
  std::unique_ptr<EncodedSource> test_file;
  if (!task.test.empty()) test_file = open_test(data, task.test, task.test_labels);
  RowSource& left = split ? static_cast<RowSource&>(split->training) : *data.source;
  const DataSummary& summary = split ? split->summary : data.summary;
  auto calibration = split_calibration(left, summary, options, key, context);
  auto rows = std::make_unique<ImagePipeline>(
      calibration ? static_cast<RowSource&>(calibration->training) : left,
      calibration ? calibration->summary : summary,
      read_options<ImageOptions>(task.image_options, kOwner), augmentation_of(task, options),
      key.child("images"), context.memory_limit, context.progress, draws_afresh(options));
  phase.reset();
  FitResult result = fit(rows->source(), rows->summary(), task.map, task.map_options, options,
                         context.memory_limit, context.progress);
  if (!data.precision_told) {
    const auto lost = warn_of_precision(data.summary.mean, data.variance, data.summary.names);
    auto& warnings = result.report.warnings;
    warnings.insert(warnings.begin(), lost.begin(),
                    lost.end());  // the cause before what follows from it
  }
  result.model.images = rows->take_steps();
  result.model.encoding = data.encoding;
  if (std::string columns = describe_importance(result.model); !columns.empty())
    result.report.notes.push_back("columns that count in the metric: " + columns);
  result.model.training.command = task.command;
  Params& image_options = result.model.training.asked.image_options;
  image_options = task.image_options;
  image_options.insert(task.augment_options.begin(), task.augment_options.end());
  if (calibration) {
    const PhaseClock calibrating(seconds.calibrate);
    calibrate(*calibration, context, result);
  }
  watch.reset();
  result.report.seconds.add(seconds);
  result.report.seconds.total = seconds.open + seconds.total;
  return {std::move(result), std::move(split), std::move(calibration), std::move(test_file),
          std::move(rows)};
}

}  // namespace kerf::detail
