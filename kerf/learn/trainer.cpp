// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kerf/core/memory.h"
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"
#include "kerf/core/version.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/dual_ridge.h"
#include "kerf/learn/fold_buffers.h"

namespace kerf {
namespace {

using Clock = std::chrono::steady_clock;

/// Adds the time until it dies to `sum`.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(Clock::now()) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  double& sum_;
  Clock::time_point start_;
};

/// Rows whose features are held at once: 64 MB of them, but enough for the sums to run at full
/// speed, and not more than there are.
Index block_rows(Index features, Index in_dim, Index rows) {
  constexpr Index kFeatureFloats = 1 << 24, kInputFloats = 1 << 24;
  const Index by_features = std::clamp<Index>(kFeatureFloats / features, 2048, 8192);
  const Index by_inputs = std::clamp<Index>(kInputFloats / in_dim, 256, 8192);
  return std::max<Index>(1, std::min({by_features, by_inputs, rows}));
}

/// Folds to sum separately: one when lambda is given.
Index fold_count(const FitOptions& options, Index rows) {
  return options.lambda ? 1 : std::min(options.folds, rows);
}

/// What the regression is trained on: the targets, or one column per class.
class Targets {
 public:
  Targets(const DataSummary& summary, const FitOptions& options)
      : classification_(summary.task == Task::classification),
        outputs_(classification_ ? static_cast<Index>(summary.classes.size()) : summary.targets) {
    if (!classification_ || options.class_weight == ClassWeight::none) return;
    for (const double count : summary.class_rows)
      class_weight_.push_back(count > 0 ? summary.weight / (static_cast<double>(outputs_) * count)
                                        : 0);
  }

  Index outputs() const { return outputs_; }

  /// Regression: the targets as they are; classification: one-hot minus 1/classes.
  void encode(const RowBlock& rows, Matrix<double>& y, std::vector<double>& weights) const {
    y.resize(rows.rows(), outputs_);
    weights = rows.weights;
    if (!class_weight_.empty() && weights.empty())
      weights.assign(static_cast<std::size_t>(rows.rows()), 1.0);
    for (Index i = 0; i < rows.rows(); ++i) {
      if (!classification_) {
        std::ranges::copy(rows.targets.row(i), y.row(i).begin());
        continue;
      }
      const auto label = static_cast<Index>(rows.targets(i, 0));
      std::ranges::fill(y.row(i), -1.0 / static_cast<double>(outputs_));
      y(i, label) += 1;
      if (!class_weight_.empty())
        weights[static_cast<std::size_t>(i)] *= class_weight_[static_cast<std::size_t>(label)];
    }
  }

 private:
  bool classification_;
  Index outputs_;
  std::vector<double> class_weight_;
};

/// Means of the first rows: near enough to the means of all to keep digits.
Origin origin_of(const Matrix<float>& z, const Matrix<double>& y) {
  std::vector<double> sum(static_cast<std::size_t>(z.cols()), 0.0);
  for (Index i = 0; i < z.rows(); ++i)
    for (Index j = 0; j < z.cols(); ++j) sum[static_cast<std::size_t>(j)] += z(i, j);
  Origin origin;
  for (const double s : sum)
    origin.features.push_back(static_cast<float>(s / static_cast<double>(z.rows())));
  origin.targets.assign(static_cast<std::size_t>(y.cols()), 0.0);
  for (Index i = 0; i < y.rows(); ++i)
    for (Index t = 0; t < y.cols(); ++t)
      origin.targets[static_cast<std::size_t>(t)] += y(i, t) / static_cast<double>(y.rows());
  return origin;
}

/// Reads, scales and hands over every block of the source, with the time that takes.
template <class Receive>
void for_each_block(RowSource& source, const DataSummary& summary, const Scaling& scaling,
                    FitReport::Seconds& seconds, const Progress& progress, Receive receive) {
  RowBlock block;
  Index done = 0;
  source.rewind();
  for (;;) {
    {
      const Stopwatch watch(seconds.read);
      if (!source.next(block)) return;
      scaling.apply(block);
    }
    receive(block);
    done += block.rows();
    report(progress, "features", done, summary.rows);
  }
}

/// The pass over the rows: features of each fold's blocks go into that fold's sums.
std::vector<NormalEquations> accumulate(RowSource& source, const DataSummary& summary,
                                        const FeatureMap& map, const Scaling& scaling,
                                        const FitOptions& options, FitReport::Seconds& seconds,
                                        const Progress& progress) {
  const Targets targets(summary, options);
  const Index folds = fold_count(options, summary.rows);
  std::vector<NormalEquations> sums;
  Matrix<float> z;
  Matrix<double> y;
  std::vector<double> weights;
  const auto add = [&](Index fold, const RowBlock& rows) {
    {
      const Stopwatch watch(seconds.features);
      z.resize(rows.rows(), map.out_dim());
      map.transform(rows.x(), z.view());
    }
    const Stopwatch watch(seconds.accumulate);
    targets.encode(rows, y, weights);
    if (sums.empty()) {
      const Origin origin = origin_of(z, y);
      for (Index f = 0; f < folds; ++f) sums.emplace_back(origin, options.precision);
    }
    sums[static_cast<std::size_t>(fold)].add(z.view(), y.view(), weights);
  };
  const rng::Key key = rng::Key{static_cast<std::uint64_t>(options.seed)}.child("fold");
  FoldBuffers buffers(folds, block_rows(map.out_dim(), map.in_dim(), summary.rows), key, add);
  for_each_block(source, summary, scaling, seconds, progress,
                 [&](const RowBlock& block) { buffers.add(block); });
  buffers.finish();
  return sums;
}

/// Sums over rows, then the choice of lambda by folds: any number of rows.
void fit_primal(RowSource& source, const DataSummary& summary, const FeatureMap& map,
                const FitOptions& options, const Progress& progress, FitResult& result) {
  const auto sums = accumulate(source, summary, map, result.model.scaling, options,
                               result.report.seconds, progress);
  const Stopwatch watch(result.report.seconds.solve);
  result.report.lambda = options.lambda.value_or(0);
  if (!options.lambda) result.report.take(choose_lambda(sums, progress));
  report(progress, "solving", 0, 0);
  std::vector<const NormalEquations*> parts;
  for (const auto& sum : sums) parts.push_back(&sum);
  result.model.linear = solve_ridge(parts, result.report.lambda);
}

/// Fewer rows than features: all features at once, solved among the rows.
void fit_dual(RowSource& source, const DataSummary& summary, const FeatureMap& map,
              const FitOptions& options, const Progress& progress, FitResult& result) {
  const Targets targets(summary, options);
  Matrix<float> z(summary.rows, map.out_dim());
  Matrix<double> y(summary.rows, targets.outputs()), block_y;
  std::vector<double> weights, block_weights;
  Index at = 0;
  for_each_block(source, summary, result.model.scaling, result.report.seconds, progress,
                 [&](const RowBlock& block) {
                   const Stopwatch watch(result.report.seconds.features);
                   KERF_REQUIRE(at + block.rows() <= summary.rows, data,
                                "the rows changed while they were read");
                   map.transform(block.x(), z.view().slice(at, at + block.rows()));
                   targets.encode(block, block_y, block_weights);
                   for (Index i = 0; i < block.rows(); ++i)
                     std::ranges::copy(block_y.row(i), y.row(at + i).begin());
                   weights.insert(weights.end(), block_weights.begin(), block_weights.end());
                   at += block.rows();
                 });
  KERF_REQUIRE(at == summary.rows, data, "the rows changed while they were read");
  const Stopwatch watch(result.report.seconds.solve);
  DualFit solved = fit_dual_ridge(z.view(), y.view(), weights, options.lambda, progress);
  result.report.lambda = solved.choice.lambda;
  if (!options.lambda) result.report.take(std::move(solved.choice));
  result.model.linear = std::move(solved.model);
}

void check_rows(const DataSummary& summary) {
  KERF_REQUIRE(summary.rows >= 2, data, "training needs at least 2 rows, not {}", summary.rows);
  KERF_REQUIRE(summary.targets >= 1, usage, "training needs a target column");
  KERF_REQUIRE(summary.task == Task::regression || summary.classes.size() >= 2, data,
               "every row has the same class{}: there is nothing to learn",
               summary.classes.empty() ? "" : " '" + summary.classes[0] + "'");
}

}  // namespace

Solver choose_solver(Index features, Index rows) {
  return rows <= features ? Solver::dual : Solver::cholesky;
}

Index estimate_memory(const Recipe& recipe, Index features, Index outputs, Index rows,
                      const FitOptions& options) {
  const Index map = find_feature_map(recipe.map).bytes(recipe.in_dim, recipe.options);
  if (choose_solver(features, rows) == Solver::dual)
    return map + 4 * rows * features + dual_ridge_bytes(rows, features, outputs);
  const Index folds = fold_count(options, rows), block = block_rows(features, recipe.in_dim, rows);
  const Index sums = folds * NormalEquations::bytes(features, outputs);
  const Index buffers = folds * block * (4 * recipe.in_dim + 8 * outputs);
  const Index pass =
      4 * block * features + buffers + NormalEquations::scratch_bytes(options.precision, threads());
  return map + sums + std::max(pass, ridge_bytes(features, outputs));
}

FitResult fit(RowSource& source, const DataSummary& summary, const std::string& map,
              const Params& map_options, const FitOptions& options, Index memory_limit,
              const Progress& progress) {
  check_rows(summary);
  const FeatureMapEntry& entry = find_feature_map(map);
  FitResult result;
  Model& model = result.model;
  FitReport& outcome = result.report;
  {
    const Stopwatch watch(outcome.seconds.total);
    outcome.scale = resolve_scale(options.scale, summary);
    model.scaling = make_scaling(options.scale, summary);
    const auto infos = entry.options();
    model.recipe = {map,
                    entry.complete(resolve_automatic(infos, map_options, summary, model.scaling)),
                    static_cast<std::uint64_t>(options.seed), summary.cols};
    const Index features = std::stoll(model.recipe.options.at("features"));
    const Index outputs = Targets(summary, options).outputs();
    outcome.estimated_memory =
        estimate_memory(model.recipe, features, outputs, summary.rows, options);
    require_memory(outcome.estimated_memory, memory_limit,
                   fmt::format("training with {} features", features),
                   "take fewer --features, a fixed --lambda, or raise --memory");
    outcome.solver = choose_solver(features, summary.rows);
    const auto feature_map = [&] {
      const Stopwatch features_watch(outcome.seconds.features);
      return model.recipe.make(memory_limit);
    }();
    const auto solve = outcome.solver == Solver::dual ? fit_dual : fit_primal;
    solve(source, summary, *feature_map, options, progress, result);
  }
  model.task = summary.task;
  model.classes = summary.classes;
  model.image = summary.image;
  model.is_sparse = summary.is_sparse;
  model.training = {
      version(),
      "",
      summary.rows,
      outcome.lambda,
      outcome.cv_error.value_or(0),
      outcome.cv_error ? (outcome.solver == Solver::dual ? summary.rows : options.folds) : 0};
  return result;
}

}  // namespace kerf
