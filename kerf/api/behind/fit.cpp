// SPDX-License-Identifier: Apache-2.0
#include "kerf/api/fit.h"

#include "kerf/api/behind/inside.h"
#include "kerf/core/names.h"
#include "kerf/core/require.h"
#include "kerf/insight/pages/fit_report.h"
#include "kerf/learn/fit/blockwise.h"
#include "kerf/learn/fit/journey.h"

namespace kerf {
namespace {

constexpr Index kWorstOnPage = 10;

/// `given` and those of `by_name` that Options knows, which leave it.
template <class Options>
Params take_known(Params given, Params& by_name) {
  for (const detail::OptionInfo& option : detail::list_options<Options>())
    if (auto found = by_name.extract(option.name)) {
      KERF_REQUIRE(!given.contains(option.name), usage, "option {} is given twice", option.name);
      given.insert(std::move(found));
    }
  return given;
}

[[noreturn]] void refuse(const std::string& option) {
  std::vector<std::string> known;
  for (const auto& list :
       {detail::list_options<detail::FitOptions>(), detail::list_options<detail::ImageOptions>(),
        detail::list_options<detail::AugmentOptions>()})
    for (const detail::OptionInfo& info : list) known.push_back(info.name);
  detail::fail(ErrorKind::usage, "a fit has no option '{}'{}", option,
               detail::did_you_mean(option, known));
}

detail::FitTask task_of(const FitRequest& request) {
  Params by_name = request.by_name;
  detail::FitTask task{
      .map = request.map.name,
      .map_options = request.map.options,
      .fit_options = take_known<detail::FitOptions>(request.fit.params(), by_name),
      .image_options = take_known<detail::ImageOptions>(request.image.params(), by_name),
      .augment_options = take_known<detail::AugmentOptions>(request.augment.params(), by_name),
      .holdout = request.holdout,
      .test = request.test,
      .test_labels = request.test_labels,
      .map_seed = std::nullopt,
      .command = request.command};
  if (!by_name.empty()) refuse(by_name.begin()->first);
  detail::check_task(task);
  const std::string idle = detail::idle_option(task.map, task.map_options);
  KERF_REQUIRE(idle.empty(), usage, "{}", idle);
  return task;
}

FitReport report_of(const detail::FitReport& from) {
  FitReport report{.lambda = from.lambda,
                   .lambda_per_target = from.lambda_per_target,
                   .cv_error = from.cv_error,
                   .metric = from.metric,
                   .validation = from.validation,
                   .quality = std::nullopt,
                   .scale = detail::name_of(from.scale),
                   .solver = from.solver,
                   .solver_reason = from.solver_reason,
                   .map_reason = from.map_choice ? from.map_choice->reason : "",
                   .estimated_memory = from.estimated_memory,
                   .seconds = from.seconds.total,
                   .notes = from.notes,
                   .warnings = from.warnings};
  if (!from.memory_note.empty()) report.notes.insert(report.notes.begin(), from.memory_note);
  if (const auto& quality = from.quality)
    report.quality = Quality{quality->metric, quality->value, quality->constant, quality->how,
                             quality->left_out()};
  return report;
}

Fit complete(detail::FitResult result) {
  FitReport report = report_of(result.report);
  return {
      Model(std::make_shared<Model::Inside>(std::move(result.model))), std::move(report), {}, {}};
}

std::string words_of_test(const FitRequest& request) {
  return request.holdout > 0 ? fmt::format("{:.0f} % of the rows, held out", 100 * request.holdout)
                             : fmt::format("{}", fmt::join(request.test, ", "));
}

/// Scores the model on what was kept out of training, and draws the page.
void judge(const detail::Fitted& fitted, const FitRequest& request, const Context& context,
           std::optional<Score>& score, std::string& page) {
  const detail::Model& model = fitted.result.model;
  const Index worst = request.page ? kWorstOnPage : 0;
  detail::RowSource* const rows = fitted.test_rows();
  if (rows != nullptr)
    score = detail::evaluate(model, *rows, context.memory_limit, context.progress, worst);
  if (!request.page) return;
  detail::TestView view;
  if (rows != nullptr)
    view = detail::look_at_test(model, *rows, std::move(*score), words_of_test(request),
                                context.memory_limit);
  page = detail::fit_report(fitted.result, fitted.summary(), rows != nullptr ? &view : nullptr);
  if (rows != nullptr) score = std::move(view.score);
}

}  // namespace

Fit fit(Dataset& data, const FitRequest& request, const Context& context) {
  const detail::FitTask task = task_of(request);
  detail::Dataset& rows = data.inside().to_learn_from(detail::task_key(task).value, context);
  detail::Fitted fitted = detail::fit_dataset(rows, task, context);
  std::optional<Score> score;
  std::string page;
  judge(fitted, request, context, score, page);
  Fit fit = complete(std::move(fitted.result));
  fit.test = std::move(score);
  fit.page = std::move(page);
  return fit;
}

struct __attribute__((visibility("hidden"))) BlockwiseFit::Inside {
  detail::FitTask task;
  detail::FitOptions options;
  Context context;
  DataOptions data;
  detail::BlockwiseTraining training;
};

BlockwiseFit::BlockwiseFit(const FitRequest& request, const Context& context,
                           const DataOptions& data) {
  detail::FitTask task = task_of(request);
  KERF_REQUIRE(task.map != detail::kExactMap, usage,
               "map exact needs all rows at once: take a feature map");
  KERF_REQUIRE(
      request.holdout == 0 && request.test.empty() && !request.page && task.image_options.empty() &&
          task.augment_options.empty(),
      usage, "hold-out, test files, pages, steps and augmentation of images need all rows at once");
  auto options = detail::read_options<detail::FitOptions>(task.fit_options, "fit");
  detail::BlockwiseTraining training(task.map, task.map_options, options, context.memory_limit);
  inside_ = std::make_unique<Inside>(
      Inside{std::move(task), std::move(options), context, data, std::move(training)});
}
BlockwiseFit::BlockwiseFit(BlockwiseFit&&) noexcept = default;
BlockwiseFit& BlockwiseFit::operator=(BlockwiseFit&&) noexcept = default;
BlockwiseFit::~BlockwiseFit() = default;

void BlockwiseFit::add(const Table& block) {
  auto& [task, options, context, data_options, training] = *inside_;
  if (training.begun()) {
    const HeldTable held = hold(block);
    training.check(detail::io::open_memory(held.view));  // all of the block, or none of it
    return training.add(detail::io::open_memory(held.view), context.progress);
  }
  Dataset first = open_dataset(block, data_options, context);
  detail::Dataset& data = first.inside().to_learn_from(detail::task_key(task).value, context);
  detail::settle_columns(data, options.scale, detail::sees_differences(task.map, task.map_options));
  training.begin(data, context.progress);
}

Index BlockwiseFit::rows() const { return inside_->training.rows(); }

Fit BlockwiseFit::solve() {
  auto& [task, options, context, data_options, training] = *inside_;
  KERF_REQUIRE(training.begun(), usage, "no rows were added yet: there is nothing to solve");
  return complete(training.solve(task.command, context.progress));
}

}  // namespace kerf
