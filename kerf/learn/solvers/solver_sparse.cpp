// A linear model of wide sparse rows, on their entries (sparse_ridge.h).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/ridge/sparse_ridge.h"
#include "kerf/learn/rows/fold_buffers.h"
#include "kerf/learn/solvers/solver.h"

namespace kerf::detail {
namespace {

constexpr Index kFewColumns = 2048;  // so few are solved for by the other solvers

/// All rows, in order.
struct Rows {
  CsrMatrix x;
  std::vector<double> y, weights;
};

Rows read(TrainingRows& rows) {
  Rows all;
  rows.for_each_input(1, -1, [&](const TrainingRows::InputBlock& block) {
    const CsrView x = block.rows.sparse.view();
    all.x.cols = x.cols;
    for (Index i = 0; i < x.rows; ++i) {
      all.x.push_row(x.row(i));
      all.y.insert(all.y.end(), block.y.row(i).begin(), block.y.row(i).end());
    }
    const auto more = block.weights.values();
    all.weights.insert(all.weights.end(), more.begin(), more.end());
  });
  return all;
}

LinearModel fit(const Problem& p, TrainingRows& rows, FitReport& outcome) {
  const Rows all = read(rows);
  const PhaseClock watch(p.options.lambda ? rows.seconds().solve : rows.seconds().lambda);
  const MatrixView<const double> y(all.y.data(), all.x.rows(), rows.outputs());
  const auto asked = lambdas_asked(p.options);
  SparseRidgeProblem problem{all.x.view(),
                             y,
                             all.weights,
                             {},
                             std::min(p.options.folds, p.rows),
                             p.classification && rows.outputs() == 2};
  const rng::Key key = rng::Key{static_cast<std::uint64_t>(p.options.seed)}.child("fold");
  for (Index i = 0; i < all.x.rows(); ++i)
    problem.fold.push_back(FoldBuffers::fold_of(key, i, 1, problem.folds));
  SparseRidgeFit solved = fit_sparse_ridge(problem, asked, rows.progress());
  outcome.lambda = solved.choice.lambda;
  outcome.residual = solved.residual;
  if (solved.residual > 1e-4)
    outcome.warnings.push_back(
        fmt::format("the iterations stopped at a residual of {:.2g}{}", solved.residual,
                    p.options.lambda ? ": raise " + spell("lambda")
                                     : ": columns that repeat each other do that, leave them out"));
  // Left out with a given lambda too: probabilities are calibrated by such rows.
  const bool left_out = solved.left_out.rows() > 0;
  const std::string how =
      left_out ? fmt::format("{}-fold cross-validation", problem.folds) : kTrainingRows;
  if (asked.size() != 1) {
    outcome.validation = how;
    outcome.take(std::move(solved.choice));
  }
  if (!left_out) {
    solved.left_out.resize(all.x.rows(), rows.outputs());
    for (Index i = 0; i < all.x.rows(); ++i)
      linear_scores(solved.model, all.x.view(), i, solved.left_out.row(i));
  }
  if (p.classification) {
    LeftOutScores scores;
    scores.add(solved.left_out.view(), y, all.weights);
    outcome.quality = accuracy(scores, how);
    if (left_out) outcome.temperature = scores.temperature();
  } else {
    outcome.quality = explained_left_out(solved.left_out.view(), {}, y, all.weights, 1, how);
  }
  return std::move(solved.model);
}

Index bytes(const Problem& p) {
  // Entries as read and as kept, while the vectors grow.
  return 3 * 8 * p.entries + sparse_ridge_bytes(p.rows, p.features, p.outputs);
}

ExpectedSeconds seconds(const Problem& p, const Speeds& s) {
  constexpr double kSteps = 2000, kSpeed = 5e8;  // in all folds and lambdas; entries a second
  const auto work = static_cast<double>(p.entries + 4 * p.features);
  return {static_cast<double>(p.rows) * s.read_row,
          kSteps * work * static_cast<double>(p.outputs) / kSpeed};
}

}  // namespace

SolverEntry sparse_solver() {
  return {"sparse",
          "conjugate gradients on the entries of wide sparse rows: map linear",
          [](const Problem& p) {
            if (p.entries == 0) return std::string("is for map linear on sparse rows");
            if (p.features <= kFewColumns)
              return fmt::format("is for more than {} columns", kFewColumns);
            if (p.options.loss != Loss::squared) return std::string("is for the squared loss");
            if (p.options.validation != Validation::folds)
              return std::string("chooses lambda by folds");
            if (p.options.lambda_per_target)
              return std::string("chooses one lambda for all targets");
            if (p.options.variance) return std::string("has no variances");
            return std::string(p.checkpoint == nullptr && p.options.checkpoint.empty()
                                   ? ""
                                   : "keeps no checkpoints");
          },
          bytes,
          seconds,
          fit,
          {.identity = "6", .takes_sparse_rows = true}};
}

}  // namespace kerf::detail
