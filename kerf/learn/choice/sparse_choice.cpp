// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/choice/sparse_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kerf/features/automatic.h"
#include "kerf/kernels/distance/shift_invariant.h"
#include "kerf/learn/choice/map_choice.h"
#include "kerf/learn/lambda/leave_one_out.h"
#include "kerf/learn/lambda/pair_table.h"
#include "kerf/learn/rows/training_rows.h"
#include "kerf/learn/solvers/solver.h"

namespace kerf::detail {
namespace {

constexpr Index kRows = 600, kFewestRows = 20;
constexpr Index kFeatures = 4096;     // of the maps that a linear model stands against
constexpr double kWorthwhile = 0.02;  // of the error: what random features may cost
constexpr double kTie = 1e-3;         // errors closer than this are equal
constexpr int kStartStep = -1;

/// The first rows of a sample whose rows were drawn at random.
RowBlock first_rows(const RowBlock& sample, Index count) {
  RowBlock rows;
  MemorySource(sample.x().slice(0, count), sample.targets.view().slice(0, count), count,
               WeightsView(sample.weights).slice(0, count))
      .next(rows);
  return rows;
}

/// The map whose features are the rows themselves.
const FeatureMapEntry& linear_map() {
  return *std::ranges::find_if(feature_maps(), &FeatureMapEntry::keeps_rows);
}

auto find_linear(const MapChoice& choice) {
  return std::ranges::find(choice.trials, linear_map().name,
                           [](const auto& t) { return t.candidate.map; });
}

/// The errors of all kernels on scaled rows, best first.
MapChoice try_kernels(const RowBlock& rows, MatrixView<const double> targets, WeightsView weights,
                      const DataSummary& summary) {
  MapChoice choice;
  const Index n = rows.rows();
  choice.rounds.push_back({n, 0});
  const PairTable table(rows.x());
  const double distance = median_distance(rows.x(), DistanceNorm::l2);
  Matrix<double> gram(n, n);
  const auto attempt = [&](const Kernel& kernel, MapCandidate candidate) {
    table.gram(kernel, n, gram.view());
    LeaveOneOut problem(gram.view(), targets, weights);
    const auto [step, error] = problem.search(kStartStep, 2);
    choice.trials.push_back({std::move(candidate), {error}, step});
  };
  const FeatureMapEntry& linear = linear_map();
  attempt(*linear.kernel({}), {linear.name, {}, linear.name, linear.name, {}});
  constexpr const char* kOther = GaussianKernel::kName;
  for (const double bandwidth : {1.0, 2.0}) {
    const Params options{{"bandwidth", format_number(bandwidth * distance)}};
    if (auto candidate = stand_in(
            kOther, options, fmt::format("{}, bandwidth {:g}", kOther, bandwidth), summary, false))
      attempt(*find_kernel(kOther).make(options), std::move(*candidate));
  }
  std::ranges::stable_sort(choice.trials, {}, [](const auto& t) { return t.errors.back(); });
  return choice;
}

/// Everything that the linear model of sparse rows can do is all that is asked for.
bool may_be_linear(const FitJob& job, const Params& map_options) {
  const FitOptions& o = job.options;
  return map_options.empty() && job.summary.cols > kFeatures && o.loss == Loss::squared &&
         (o.solver == kAutoSolver || solver_traits(o.solver).takes_sparse_rows) &&
         !o.needs_features && o.validation == Validation::folds && !o.lambda_per_target &&
         !o.variance && o.checkpoint.empty() && job.summary.copies == 1;
}

}  // namespace

bool SparseChoice::linear_does() const {
  const auto linear = find_linear(kernels);
  return linear != kernels.trials.end() &&
         linear->errors.back() <= (1 + kWorthwhile) * kernels.trials.front().errors.back();
}

bool wants_sparse_choice(const DataSummary& summary, const FitOptions& options) {
  return summary.is_sparse && options.scale == ScaleKind::automatic && !summary.image.present();
}

SparseChoice choose_for_sparse(const DataSummary& summary, const FitOptions& options,
                               const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  SparseChoice best;
  std::vector<ScaleKind> kinds = {ScaleKind::unit, ScaleKind::none, ScaleKind::rms};
  if (options.scale != ScaleKind::automatic) kinds = {best.scale = options.scale};
  const Index count = std::min(summary.sample.rows(), kRows);
  if (count < kFewestRows || summary.sample.targets.cols() == 0) return best;
  double least = 0;
  Index tried = 0;
  std::string errors;
  for (const ScaleKind kind : kinds) {
    report(progress, "choosing the scale", tried++, std::ssize(kinds), "scales");
    RowBlock rows = first_rows(summary.sample, count);
    Matrix<double> targets;
    std::vector<double> weights;
    Targets(summary, options).encode(rows, targets, weights);
    make_scaling(kind, summary).apply(rows);
    MapChoice kernels = try_kernels(rows, targets.view(), weights, summary);
    const double error = kernels.trials.front().errors.back();
    errors += fmt::format("{}{} {:.4g}", errors.empty() ? "" : ", ", name_of(kind), error);
    if (!best.kernels.trials.empty() && !(error < (1 - kTie) * least)) continue;
    least = error;
    best.scale = kind;
    best.kernels = std::move(kernels);
  }
  if (kinds.size() > 1)
    best.note =
        fmt::format("scale {}: least error of {} rows ({})", name_of(best.scale), count, errors);
  best.kernels.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return best;
}

std::optional<MapChoice> prefers_linear(const FitJob& job, const Params& map_options,
                                        const SparseChoice& choice) {
  if (!may_be_linear(job, map_options) || !choice.linear_does()) return std::nullopt;
  MapChoice kernels = choice.kernels;
  const auto linear = kernels.trials.begin() + (find_linear(kernels) - kernels.trials.begin());
  std::rotate(kernels.trials.begin(), linear, linear + 1);
  kernels.reason = fmt::format(
      "of {} columns random features would be noise, and a linear model does as well as the exact "
      "kernel: {:.4g} against {:.4g} for {}, on {} rows",
      job.summary.cols, kernels.trials[0].errors.back(), kernels.trials[1].errors.back(),
      kernels.trials[1].candidate.label, kernels.rounds.front().rows);
  return kernels;
}

}  // namespace kerf::detail
