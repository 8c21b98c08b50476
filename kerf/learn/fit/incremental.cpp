// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/incremental.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/interrupt.h"
#include "kerf/core/system/memory.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/choice/sparse_choice.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/solvers/fit_memory.h"
#include "kerf/learn/solvers/solver_dual.h"

namespace kerf::detail {
namespace {

RowBlock copy_of(const RowBlock& block) {
  RowBlock copy;
  MemorySource(block.x(), block.targets.view(), block.rows(), block.weights).next(copy);
  copy.first_row = block.first_row;
  copy.image = block.image;
  return copy;
}

/// What the rows of a summary have in common.
DataSummary shape_of(const DataSummary& first) {
  DataSummary shape;
  shape.cols = first.cols;
  shape.is_sparse = first.is_sparse;
  shape.is_bytes = first.is_bytes;
  shape.image = first.image;
  shape.task = first.task;
  shape.classes = first.classes;
  shape.targets = first.targets;
  shape.target_scale = first.target_scale;
  shape.names = first.names;
  return shape;
}

/// The same of a model's rows, and how many there are.
DataSummary shape_of(const Model& model) {
  DataSummary shape;
  shape.rows = model.training.rows;
  shape.cols = model.recipe.in_dim;
  shape.is_sparse = model.is_sparse;
  shape.image = model.image;
  shape.task = model.task;
  shape.classes = model.classes;
  shape.targets = model.task == Task::classification ? 1 : model.outputs();
  shape.target_scale = model.training.target_scale;
  return shape;
}

/// Options that need rows which have not come yet: Error (usage).
void check_block_by_block(const FitOptions& options) {
  check_fit_options(options);
  KERF_REQUIRE(options.class_weight == ClassWeight::none, usage,
               "{} needs all rows at once: it cannot be had block by block",
               spell("class-weight", "balanced"));
  KERF_REQUIRE(options.loss == Loss::squared, usage,
               "{} needs all rows at once: block by block there is the squared loss",
               spell("loss", name_of(options.loss)));
  std::vector<std::string> able;
  for (const SolverEntry& entry : solvers())
    if (entry.traits.block_by_block) able.emplace_back(entry.name);
  KERF_REQUIRE(options.solver == kAutoSolver || solver_traits(options.solver).block_by_block, usage,
               "{} needs all rows at once: block by block there are {}",
               spell("solver", options.solver), fmt::join(able, " and "));
  KERF_REQUIRE(options.validation == Validation::folds, usage,
               "{} needs all rows at once: it cannot be had block by block",
               spell("validation", name_of(options.validation)));
  KERF_REQUIRE(options.metric == MetricKind::automatic || options.metric == MetricKind::none, usage,
               "{} is learned from all rows at once: it cannot be had block by block",
               spell("metric", name_of(options.metric)));
  KERF_REQUIRE(!options.variance, usage,
               "{} needs all rows at once: it cannot be had block by block", spell_on("variance"));
  KERF_REQUIRE(
      options.intervals == Intervals::none, usage,
      "{} leaves rows out of the fit, and block by block every row is added: calibrate a fit "
      "of all rows",
      spell("intervals", name_of(options.intervals)));
}

/// Scaling and recipe by the first rows, as fit() has them by all.
ModelPlan plan_by(const DataSummary& first, const std::string& map, const Params& map_options,
                  const FitOptions& options) {
  FitOptions settled = options;
  if (wants_sparse_choice(first, options))
    settled.scale = choose_for_sparse(first, options, {}).scale;
  return plan_model(first, map, map_options, settled);
}

/// Before any work.
const FitOptions& checked(const DataSummary& first, const FitOptions& options) {
  check_block_by_block(options);
  KERF_REQUIRE(options.checkpoint.empty(), usage,
               "{} is kept by a fit of all rows: blocks can go on from it, not begin it",
               spell("checkpoint"));
  KERF_REQUIRE(first.rows >= 1, data, "training needs rows");
  check_target_scale(first);
  KERF_REQUIRE(first.targets >= 1, usage, "training needs a target column");
  KERF_REQUIRE(first.task == Task::regression || first.classes.size() >= 2, data,
               "classification needs at least two classes, not {}", first.classes.size());
  return options;
}

const FitOptions& checked(const Model& model, const FitOptions& options) {
  check_block_by_block(options);
  KERF_REQUIRE(!options.checkpoint.empty() && !model.training.identity.empty(), usage,
               "only the sums of a fit with {} are kept: there is nothing to go on from",
               spell("checkpoint"));
  KERF_REQUIRE(!model.images.present(), usage,
               "the model prepares images before its map: more rows cannot be added to it");
  return options;
}

}  // namespace

IncrementalFit::IncrementalFit(const DataSummary& first, const std::string& map,
                               const Params& map_options, const FitOptions& options,
                               Index memory_limit)
    : options_(checked(first, options)),
      memory_limit_(memory_limit),
      shape_(shape_of(first)),
      targets_(first, options),
      plan_(plan_by(first, map, map_options, options)),
      asked_(request_of(map, map_options, options, memory_limit)),
      map_(plan_.recipe.make(memory_limit)) {
  if (features_are_zero(*map_, first, plan_.scaling))
    warnings_.push_back(zero_features_warning(map));
  sums_.folds = options.lambda && !one_apart() ? 1 : options.folds;
  if (wants_sample(options, targets_.classification())) sums_.sample.emplace(options.seed, 1);
  wants_sums_ = solver_traits(options.solver).keeps_sums;
  if (wants_sums_) require_sums_memory();
  const rng::Key key{static_cast<std::uint64_t>(options.seed)};
  seen_ = Seen{{}, {}, SampleKeeper(key.child("sample"), kSampleRows), {}};
}

IncrementalFit::IncrementalFit(const Model& model, const FitOptions& options, Index memory_limit)
    : options_(checked(model, options)),
      memory_limit_(memory_limit),
      shape_(shape_of(model)),
      targets_(shape_, options),
      plan_{ScaleKind::none, model.scaling, model.recipe},
      asked_(model.training.asked),
      map_(plan_.recipe.make(memory_limit)) {
  const Checkpoint kept(options.checkpoint,
                        {recipe_identity(model.recipe), model.training.identity},
                        options.checkpoint_interval);
  sums_ = load_fold_sums(kept, shape_.rows, folds_asked(model, options));
  const NormalEquations& any = sums_.sums.front();
  KERF_REQUIRE(any.features() == map_->out_dim() && any.targets() == targets_.outputs(), data,
               "the sums in {} are of {} features and {} outputs, the model has {} and {}",
               options.checkpoint, any.features(), any.targets(), map_->out_dim(),
               targets_.outputs());
  if (const auto held_out = fold_to_hold_out(sums_.sums)) left_out_fold_ = *held_out;
  wants_sums_ = true;
  require_sums_memory();
  start_sums(sums_.one_apart() ? fold_with_rows() : -1);
}

/// Whether sums are to be of one fold, for probabilities, and of all others.
bool IncrementalFit::one_apart() const {
  return options_.lambda.has_value() && targets_.classification();
}

/// The first fold with some of the rows so far.
Index IncrementalFit::fold_with_rows() const {
  return FoldBuffers::fold_with_rows(FoldBuffers::key_of(options_.seed), rows(), 1, sums_.folds);
}

/// A fit of so many rows.
Problem IncrementalFit::problem(Index rows) const {
  const Recipe& recipe = plan_.recipe;
  Problem problem =
      problem_of(shape_, find_feature_map(recipe.map), recipe.options, options_, memory_limit_);
  problem.rows = rows;
  return problem;
}

void IncrementalFit::require_sums_memory() const {
  // Blocks are of a size that does not know how many rows will come (start_sums).
  const Index block = TrainingRows::rows_at_once(map_->out_dim(), map_->in_dim(),
                                                 std::numeric_limits<Index>::max());
  const Problem sized = problem(std::max({shape_.rows, map_->out_dim(), block}));
  const Index left_out =
      sized.classification ? LeftOutRows::kMost * (4 * sized.features + 8 * sized.outputs) : 0;
  require_memory(solver_that(&SolverTraits::keeps_sums).bytes(sized) + left_out, memory_limit_,
                 fmt::format("training with {} features", map_->out_dim()),
                 "take fewer " + spell("features") + ", a fixed " + spell("lambda") +
                     ", or raise " + spell("memory"));
}

/// From now on rows go into sums, those kept until now first.
void IncrementalFit::start_sums() {
  start_sums(one_apart() ? std::max<Index>(0, fold_with_rows()) : -1);
}

/// `apart`: see FoldBuffers.
void IncrementalFit::start_sums(Index apart) {
  constexpr Index kAny = std::numeric_limits<Index>::max();
  buffers_ = std::make_unique<FoldBuffers>(
      sums_.folds, TrainingRows::rows_at_once(map_->out_dim(), map_->in_dim(), kAny),
      FoldBuffers::key_of(options_.seed),
      [this](Index fold, const RowBlock& rows) { add_to_sums(fold, rows); },
      std::span<const Index>{}, apart);
  for (const RowBlock& kept : kept_) buffers_->add(kept);
  kept_.clear();
}

void IncrementalFit::check_whole() const {
  KERF_REQUIRE(!given_up_, usage,
               "the work on an earlier block was stopped halfway, and its rows are in the sums in "
               "part: begin anew");
}

void IncrementalFit::check_block(const RowBlock& block) const {
  KERF_REQUIRE(block.x().cols() == shape_.cols, data,
               "the rows have {} columns, but those before had {}", block.x().cols(), shape_.cols);
  KERF_REQUIRE(block.is_sparse == shape_.is_sparse, data, "the rows before were {}",
               shape_.is_sparse ? "sparse" : "dense");
  KERF_REQUIRE(block.targets.cols() == shape_.targets, data,
               "{} targets, but the rows before had {}", block.targets.cols(), shape_.targets);
  const auto classes = static_cast<double>(targets_.outputs());
  for (Index i = 0; targets_.classification() && i < block.rows(); ++i)
    KERF_REQUIRE(block.targets(i, 0) >= 0 && block.targets(i, 0) < classes, data,
                 "class number {} is not in 0 .. {}", block.targets(i, 0), classes - 1);
  for (const double weight : block.weights)
    KERF_REQUIRE(weight >= 0 && std::isfinite(weight), data, "a row has the weight {}", weight);
}

void IncrementalFit::add(RowBlock& block) {
  check_whole();
  check_block(block);
  const std::string refusal =
      solver_that(&SolverTraits::among_rows).refuses(problem(rows() + block.rows()));
  KERF_REQUIRE(refusal.empty() || !solver_traits(options_.solver).among_rows, usage, "{} {}",
               spell("solver", options_.solver), refusal);
  if (!refusal.empty() && !wants_sums_) require_sums_memory();
  wants_sums_ = wants_sums_ || !refusal.empty();
  const InterruptScope whole_or_not_at_all([] {});
  given_up_ = true;  // unless it comes to its end
  block.first_row = rows();
  if (seen_ && !shape_.is_sparse) {
    seen_->sums.add(block.x());
  }
  if (seen_) {
    seen_->extremes.add(block);
    seen_->sample.add(block);
    for (Index i = 0; i < block.rows() && !targets_.classification(); ++i)
      seen_->targets.add(block.targets.row(i));
  }
  // Rows before keep their features: they are inside the narrower range.
  plan_.scaling.widen_range(block);
  plan_.scaling.apply(block);
  shape_.rows += block.rows();
  // Which fold is apart is certain when the first one has come.
  if (wants_sums_ && !buffers_ && (!one_apart() || fold_with_rows() == 0)) start_sums();
  if (buffers_)
    buffers_->add(block);
  else
    kept_.push_back(copy_of(block));
  given_up_ = false;
}

void IncrementalFit::add_to_sums(Index fold, const RowBlock& rows) {
  z_.resize(rows.rows(), map_->out_dim());
  map_->transform(rows.x(), z_.view());
  targets_.encode(rows, y_, weights_);
  if (sums_.sums.empty()) {
    const Origin origin = origin_of(z_.view(), y_.view());
    for (Index f = 0; f < (one_apart() ? 2 : sums_.folds); ++f)
      sums_.sums.emplace_back(origin, options_.precision);
  }
  const bool weighs =
      weights_.empty() || std::ranges::any_of(weights_, [](double w) { return w > 0; });
  if (targets_.classification() && weighs && fold <= left_out_fold_) {
    if (fold < left_out_fold_) sums_.left_out = {};
    left_out_fold_ = fold;
    sums_.left_out.add(z_.view(), y_.view(), weights_);
  }
  if (sums_.sample) sums_.sample->add(sums_.sums[fold].rows(), z_.view(), y_.view(), weights_);
  sums_.sums[fold].add(z_.view(), y_.view(), weights_);
}

LinearModel IncrementalFit::solve_rows(const Progress& progress, FitReport& report) const {
  FeatureRows all{Matrix<float>(rows(), map_->out_dim()),
                  Matrix<double>(rows(), targets_.outputs()), std::vector<double>(rows(), 1.0)};
  Matrix<double> y;
  std::vector<double> weights;
  for (const RowBlock& block : kept_) {
    map_->transform(block.x(), all.z.view().slice(block.first_row, block.first_row + block.rows()));
    targets_.encode(block, y, weights);
    for (Index i = 0; i < block.rows(); ++i)
      std::ranges::copy(y.row(i), all.y.row(block.first_row + i).begin());
    std::ranges::copy(weights, all.weights.begin() + block.first_row);
  }
  return solve_dual(all, targets_.classification(), options_, progress, report);
}

LinearModel IncrementalFit::solve_sums(const Progress& progress, FitReport& report) {
  {
    const InterruptScope whole_or_not_at_all([] {});
    given_up_ = true;  // unless it comes to its end
    if (!buffers_) start_sums();
    buffers_->finish();
    given_up_ = false;
  }
  return solve_fold_sums(sums_, targets_.classification(), options_, progress, report);
}

/// About the data, as fit() does.
void IncrementalFit::warn(FitReport& report) const {
  if (!seen_) return;
  DataSummary summary = shape_of(shape_);
  summary.rows = rows();
  seen_->sums.describe(summary);
  summary.target_deviation = seen_->targets.deviations();
  summary.sample = seen_->sample.sample();
  warn_about_data(
      summary, [&] { return seen_->extremes; }, report);
}

FitResult IncrementalFit::solve(const Progress& progress) {
  check_whole();
  KERF_REQUIRE(rows() >= 2, data, "training needs at least 2 rows, not {}", rows());
  FitResult result;
  FitReport& report = result.report;
  adopt(plan_, result);
  report.warnings = warnings_;
  report.solver =
      solver_that(wants_sums_ ? &SolverTraits::keeps_sums : &SolverTraits::among_rows).name;
  report.solver_reason = "block by block";
  {
    const Stopwatch total(report.seconds.total);
    const PhaseClock watch(report.seconds.solve);
    result.model.linear = wants_sums_ ? solve_sums(progress, report) : solve_rows(progress, report);
  }
  describe_model(shape_, result);
  result.model.training.asked = asked_;
  restore_targets(shape_.target_scale, result);
  warn(report);
  judge_fit(result, options_.class_weight);
  return result;
}

}  // namespace kerf::detail
