// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/incremental.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/interrupt.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/version.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/choice/sparse_choice.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/ridge/dual_ridge.h"
#include "kerf/learn/rows/checkpoint.h"
#include "kerf/learn/solvers/solver.h"

namespace kerf::detail {
namespace {

/// Rows of one fold whose features are held at once: 64 MB of them.
Index block_rows(Index features) {
  return std::clamp<Index>((Index{1} << 24) / features, 256, 8192);
}

RowBlock copy_of(const RowBlock& block) {
  RowBlock copy;
  MemorySource(block.x(), block.targets.view(), block.rows(), block.weights).next(copy);
  copy.first_row = block.first_row;
  copy.image = block.image;
  return copy;
}

/// What a summary of a model's rows says about their shape.
DataSummary shape_of(const Model& model) {
  DataSummary shape;
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
  KERF_REQUIRE(!options.variance, usage,
               "{} needs all rows at once: it cannot be had block by block", spell_on("variance"));
}

}  // namespace

IncrementalFit::IncrementalFit(const DataSummary& first, const std::string& map,
                               const Params& map_options, const FitOptions& options,
                               Index memory_limit)
    : options_(options),
      memory_limit_(memory_limit),
      targets_(first, options),
      target_scale_(first.target_scale),
      target_columns_(first.targets),
      folds_(options.lambda ? 1 : options.folds),
      fold_modulus_(folds_) {
  check_block_by_block(options);
  if (options.lambda && targets_.classification()) {  // probabilities: one fold and all others
    folds_ = 2;
    fold_modulus_ = options.folds;
    apart_ = 0;
  }
  KERF_REQUIRE(options.checkpoint.empty(), usage,
               "{} is kept by a fit of all rows: blocks can go on from it, not begin it",
               spell("checkpoint"));
  KERF_REQUIRE(first.rows >= 1, data, "training needs rows");
  check_target_scale(first);
  KERF_REQUIRE(first.targets >= 1, usage, "training needs a target column");
  KERF_REQUIRE(!targets_.classification() || first.classes.size() >= 2, data,
               "classification needs at least two classes, not {}", first.classes.size());
  Model& model = start_.model;
  const FeatureMapEntry& entry = find_feature_map(map);
  start_.report.scale = wants_sparse_choice(first, options)
                            ? choose_for_sparse(first, options, {}).scale
                            : resolve_scale(options.scale, first, entry.convolves);
  model.scaling = make_scaling(start_.report.scale, first);
  model.recipe = {map, entry.complete(resolve_automatic(entry, map_options, first, model.scaling)),
                  options.seed_of_map(), first.cols};
  if (options.clip && !first.image.present()) model.scaling.keep_range(first);
  map_ = model.recipe.make(memory_limit);
  if (features_are_zero(*map_, first, model.scaling))
    start_.report.warnings.push_back(zero_features_warning(map));
  model.task = first.task;
  model.classes = first.classes;
  model.image = first.image;
  model.is_sparse = first.is_sparse;
  model.training.asked = request_of(map, map_options, options, memory_limit);
  if (solver_traits(options.solver).keeps_sums) start_sums();
}

IncrementalFit::IncrementalFit(const Model& model, const FitOptions& options, Index memory_limit)
    : options_(options),
      memory_limit_(memory_limit),
      targets_(shape_of(model), options),
      target_scale_(model.training.target_scale),
      target_columns_(shape_of(model).targets),
      rows_(model.training.rows) {
  check_block_by_block(options);
  KERF_REQUIRE(!options.checkpoint.empty() && !model.training.identity.empty(), usage,
               "only the sums of a fit with {} are kept: there is nothing to go on from",
               spell("checkpoint"));
  KERF_REQUIRE(!model.images.present(), usage,
               "the model prepares images before its map: more rows cannot be added to it");
  Model& start = start_.model;
  start.recipe = model.recipe;
  start.scaling = model.scaling;
  start.task = model.task;
  start.classes = model.classes;
  start.image = model.image;
  start.is_sparse = model.is_sparse;
  start.training.asked = model.training.asked;
  map_ = start.recipe.make(memory_limit);
  const Checkpoint kept(options.checkpoint,
                        {recipe_identity(model.recipe), model.training.identity},
                        options.checkpoint_interval);
  sums_ = load_kept_sums(kept, rows_);
  folds_ = fold_modulus_ = std::ssize(sums_);
  KERF_REQUIRE(
      sums_.front().features() == map_->out_dim() && sums_.front().targets() == targets_.outputs(),
      data, "the sums in {} are of {} features and {} outputs, the model has {} and {}",
      options.checkpoint, sums_.front().features(), sums_.front().targets(), map_->out_dim(),
      targets_.outputs());
  if (targets_.classification()) {
    left_out_ = load_left_out(kept, sums_).value_or(LeftOutRows());
    left_out_fold_ = fold_to_hold_out(sums_).value_or(0);
  }
  start_sums();
}

/// From now on rows go into sums, those kept until now first.
void IncrementalFit::start_sums() {
  const Recipe& recipe = start_.model.recipe;
  const Problem problem{std::max(rows_, map_->out_dim()),
                        map_->in_dim(),
                        map_->out_dim(),
                        targets_.outputs(),
                        find_feature_map(recipe.map).bytes(recipe.in_dim, recipe.options),
                        memory_limit_,
                        options_,
                        targets_.classification()};
  const Index left_out = problem.classification
                             ? LeftOutRows::kMost * (4 * problem.features + 8 * problem.outputs)
                             : 0;
  require_memory(solver_that(&SolverTraits::keeps_sums).bytes(problem) + left_out, memory_limit_,
                 fmt::format("training with {} features", map_->out_dim()),
                 "take fewer " + spell("features") + ", a fixed " + spell("lambda") +
                     ", or raise " + spell("memory"));
  const rng::Key key = rng::Key{static_cast<std::uint64_t>(options_.seed)}.child("fold");
  buffers_ = std::make_unique<FoldBuffers>(
      fold_modulus_, block_rows(map_->out_dim()), key,
      [this](Index fold, const RowBlock& rows) { add_to_sums(fold, rows); },
      std::span<const Index>{}, apart_);
  for (const RowBlock& kept : kept_) buffers_->add(kept);
  kept_.clear();
}

void IncrementalFit::check_whole() const {
  KERF_REQUIRE(!given_up_, usage,
               "the work on an earlier block was stopped halfway, and its rows are in the sums in "
               "part: begin anew");
}

void IncrementalFit::add(RowBlock& block) {
  check_whole();
  const Model& model = start_.model;
  KERF_REQUIRE(block.x().cols() == model.recipe.in_dim, data,
               "the rows have {} columns, but those before had {}", block.x().cols(),
               model.recipe.in_dim);
  KERF_REQUIRE(block.is_sparse == model.is_sparse, data, "the rows before were {}",
               model.is_sparse ? "sparse" : "dense");
  KERF_REQUIRE(block.targets.cols() == target_columns_, data,
               "{} targets, but the rows before had {}", block.targets.cols(), target_columns_);
  const auto classes = static_cast<double>(targets_.outputs());
  for (Index i = 0; targets_.classification() && i < block.rows(); ++i)
    KERF_REQUIRE(block.targets(i, 0) >= 0 && block.targets(i, 0) < classes, data,
                 "class number {} is not in 0 .. {}", block.targets(i, 0), classes - 1);
  // One lambda for each target needs sums.
  const bool fits_dual = rows_ + block.rows() <= map_->out_dim() && !options_.lambda_per_target;
  KERF_REQUIRE(fits_dual || !solver_traits(options_.solver).among_rows, usage,
               "{} is for fewer rows than features", spell("solver", options_.solver));
  for (const double weight : block.weights)
    KERF_REQUIRE(weight >= 0 && std::isfinite(weight), data, "a row has the weight {}", weight);
  const InterruptScope whole_or_not_at_all([] {});
  given_up_ = true;  // unless it comes to its end
  // Rows before keep their features: they are inside the narrower range.
  start_.model.scaling.widen_range(block);
  model.scaling.apply(block);
  block.first_row = rows_;
  if (!buffers_ && !fits_dual) start_sums();
  rows_ += block.rows();
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
  if (sums_.empty()) {
    const Origin origin = origin_of(z_.view(), y_.view());
    for (Index f = 0; f < folds_; ++f) sums_.emplace_back(origin, options_.precision);
  }
  if (fold == left_out_fold_ && targets_.classification())
    left_out_.add(z_.view(), y_.view(), weights_);
  sums_[fold].add(z_.view(), y_.view(), weights_);
}

void IncrementalFit::solve_dual(const Progress& progress, FitResult& result) const {
  Matrix<float> z(rows_, map_->out_dim());
  Matrix<double> y(rows_, targets_.outputs()), block_y;
  std::vector<double> weights(rows_, 1.0), block_weights;
  for (const RowBlock& block : kept_) {
    map_->transform(block.x(), z.view().slice(block.first_row, block.first_row + block.rows()));
    targets_.encode(block, block_y, block_weights);
    for (Index i = 0; i < block.rows(); ++i)
      std::ranges::copy(block_y.row(i), y.row(block.first_row + i).begin());
    std::ranges::copy(block_weights, weights.begin() + block.first_row);
  }
  DualFit solved = fit_dual_ridge(z.view(), y.view(), weights, lambdas_asked(options_), progress);
  result.report.lambda = solved.choice.lambda;
  if (targets_.classification()) {
    LeftOutScores scores;
    scores.add(solved.left_out.view(), solved.left_out_rows, y.view(), weights);
    result.report.temperature = scores.temperature();
    result.report.quality = accuracy(scores, "leave-one-out");
  } else {
    result.report.quality = explained_left_out(solved.left_out.view(), solved.left_out_rows,
                                               y.view(), weights, "leave-one-out");
  }
  if (!options_.lambda) {
    result.report.take(std::move(solved.choice));
    result.report.validation = "leave-one-out";
  }
  result.model.linear = std::move(solved.model);
}

void IncrementalFit::solve_sums(const Progress& progress, FitResult& result) {
  {
    const InterruptScope whole_or_not_at_all([] {});
    given_up_ = true;  // unless it comes to its end
    buffers_->finish();
    given_up_ = false;
  }
  result.model.linear = solve_fold_sums(sums_, options_, progress, result.report);
  if (!targets_.classification()) return;
  if (const auto others = model_without(sums_, left_out_fold_, result.report))
    result.report.temperature = left_out_.temperature(*others);
}

FitResult IncrementalFit::solve(const Progress& progress) {
  check_whole();
  KERF_REQUIRE(rows_ >= 2, data, "training needs at least 2 rows, not {}", rows_);
  FitResult result;
  const Model& start = start_.model;
  result.report.scale = start_.report.scale;
  result.report.warnings = start_.report.warnings;
  result.model.recipe = start.recipe;
  result.model.scaling = start.scaling;
  result.model.task = start.task;
  result.model.classes = start.classes;
  result.model.image = start.image;
  result.model.is_sparse = start.is_sparse;
  const bool dual = !buffers_;
  result.report.solver =
      solver_that(dual ? &SolverTraits::among_rows : &SolverTraits::keeps_sums).name;
  result.report.solver_reason = "block by block";
  if (dual)
    solve_dual(progress, result);
  else
    solve_sums(progress, result);
  result.model.temperature = result.report.temperature;
  result.model.training.version = version();
  result.model.training.rows = rows_;
  result.model.training.asked = start.training.asked;
  restore_targets(target_scale_, result);
  judge_fit(result, options_.class_weight);
  return result;
}

}  // namespace kerf::detail
