// Logistic and squared hinge losses by Newton's method (newton.h).
//
// lambda:         by the loss on one fold held out, walking downhill in decades with warm starts.
// Probabilities:  softmax(t f).  The factor t is fitted on the fold held out, lambda given or
//                 chosen: a small lambda fits the rows too well for its own probabilities.
//
// Two classes have one score f, kept as (-f/2, f/2): the softmax of those is the logistic function.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/lambda/lambda_errors.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/ridge/condition.h"
#include "kerf/learn/rows/training_sums.h"
#include "kerf/learn/solvers/iteration_plan.h"
#include "kerf/learn/solvers/newton.h"

namespace kerf::detail {
namespace {

constexpr double kTolerance = 1e-5, kChoiceTolerance = 1e-3;

Index score_count(const Problem& p) { return p.outputs == 2 ? 1 : p.outputs; }

/// One is held out to choose lambda, and to make probabilities of the scores.
Index folds_read(const Problem& p) { return std::min(p.options.folds, p.rows); }

IterationPlan plan(const Problem& p) {
  return plan_iterations(p, {.folds = folds_read(p),
                             .vectors = score_count(p),
                             .more = Newton::bytes(p.rows, p.features, score_count(p))});
}

class NewtonFit {
 public:
  NewtonFit(const Problem& problem, TrainingRows& rows, FitReport& outcome)
      : problem_(problem), options_(problem.options), rows_(rows), outcome_(outcome) {}

  LinearModel run();

 private:
  /// Held-out loss at lambda, starting from the last solution.
  double judge(Newton& newton, double lambda, Newton::Point& point);
  double choose(Newton& newton, double unit, Newton::Point& point);
  /// Losses by lambda so far and where the search stands; `always`: even if it is not due.
  enum class Stage { choosing, last };  // the last one sees the rows held out
  void save(const Newton::Point& point, Stage stage, bool always) const;
  void load(Newton::Point& point);
  LinearModel model_of(const FeatureCache& cache, const Newton::Point& point) const;

  const Problem& problem_;
  const FitOptions& options_;
  TrainingRows& rows_;
  FitReport& outcome_;
  LambdaErrors errors_;
  Index held_out_ = -1;                // the fold that judges; -1: none
  std::optional<Newton::Point> last_;  // of a checkpoint, on the way with all rows
};

double NewtonFit::judge(Newton& newton, double lambda, Newton::Point& point) {
  if (const auto known = errors_.ask(lambda)) return *known;
  newton.minimise(lambda, held_out_, kChoiceTolerance, point);
  const double loss = newton.held_out_loss(held_out_);
  errors_.enter(lambda, loss);
  save(point, Stage::choosing, true);
  return loss;
}

void NewtonFit::save(const Newton::Point& point, Stage stage, bool always) const {
  if (!problem_.checkpoint || !(always || problem_.checkpoint->due())) return;
  ArrayWriter arrays;
  errors_.save(arrays);
  arrays.add_numbers("stage", {static_cast<double>(stage)});
  arrays.add("weights", point.weights.view());
  arrays.add("intercept", std::span<const double>(point.intercept));
  problem_.checkpoint->save("state", arrays);
}

void NewtonFit::load(Newton::Point& point) {
  if (!problem_.checkpoint) return;
  const auto kept = problem_.checkpoint->load("state");
  if (!kept) return;
  errors_.load(*kept->arrays);
  note_resumed(options_, fmt::format("{} lambdas were tried before", errors_.known()), outcome_);
  Newton::Point from{kept->arrays->matrix<double>("weights"),
                     kept->arrays->vector<double>("intercept")};
  if (from.weights.rows() != point.weights.rows() || from.weights.cols() != point.weights.cols() ||
      from.intercept.size() != point.intercept.size())
    return;
  // Weights that have seen the rows held out must not start what those rows judge.  (Where the
  // stage is not known, they may have.)
  const auto stage =
      kept->arrays->has("stage") ? kept->arrays->vector<double>("stage") : std::vector<double>{};
  if (stage == std::vector{static_cast<double>(Stage::choosing)})
    point = std::move(from);
  else
    last_ = std::move(from);
}

double NewtonFit::choose(Newton& newton, double unit, Newton::Point& point) {
  const PhaseClock watch(rows_.seconds().lambda);
  auto grid = parse_lambda_grid(options_.lambda_grid);
  for (const double lambda : grid) {
    KERF_REQUIRE(lambda > 0, usage, "lambda must be positive for the {} loss",
                 name_of(options_.loss));
    judge(newton, lambda, point);
  }
  if (grid.empty()) {
    double here = 1e-3 * unit;
    judge(newton, here, point);
    for (const double factor : {0.1, 10.0})
      for (double next = here * factor; next > 1e-9 * unit && next < 1e4 * unit; next *= factor) {
        const double before = judge(newton, here, point);
        if (!(judge(newton, next, point) < before)) break;
        here = next;
      }
  }
  outcome_.cv_error = errors_.least_error();
  outcome_.path = errors_.path();
  outcome_.validation = fmt::format("one fold of {} held out", options_.folds);
  outcome_.metric = options_.loss == Loss::logistic ? "log loss" : "squared hinge loss";
  return errors_.best();
}

LinearModel NewtonFit::model_of(const FeatureCache& cache, const Newton::Point& point) const {
  const Index m = cache.features(), outputs = problem_.outputs;
  LinearModel model{Matrix<double>(m, outputs), {}};
  const bool two = score_count(problem_) == 1;
  for (Index t = 0; t < outputs; ++t) {
    const Index k = two ? 0 : t;
    const double factor = two ? (t == 0 ? -0.5 : 0.5) : 1.0;
    double b = point.intercept[k];
    for (Index j = 0; j < m; ++j) {
      model.weights(j, t) = factor * point.weights(k, j);
      b -= cache.origin().features[j] * point.weights(k, j);
    }
    model.intercept.push_back(factor * b);
  }
  return model;
}

LinearModel NewtonFit::run() {
  const Index folds = folds_read(problem_);
  SketchedGram gram(rows_.features(),
                    rng::Key{static_cast<std::uint64_t>(options_.seed)}.child("sketch"));
  FeatureCache cache(rows_, plan(problem_).form, folds, options_.precision, gram.as_they_come());
  outcome_.notes.push_back(FeatureCache::name(cache.form()));
  const TrainingSums sums(cache, -1);
  const double n = sums.weight();
  {
    const PhaseClock watch(rows_.seconds().accumulate);
    gram.add_kept(cache);
    gram.finish(sums.sum(), n, options_.precision);
  }
  const PhaseClock watch(rows_.seconds().solve);
  Newton newton(cache, gram, options_.loss, score_count(problem_), rows_.progress());
  Newton::Point point = newton.zero();
  held_out_ = options_.lambda ? fold_to_hold_out(cache.folds()).value_or(-1)
                              : fold_that_judges(cache.folds());
  load(point);
  outcome_.lambda =
      options_.lambda ? *options_.lambda : choose(newton, gram.mean_diagonal() / n, point);
  KERF_REQUIRE(outcome_.lambda > 0, usage, "lambda must be positive for the {} loss",
               name_of(options_.loss));
  outcome_.temperature = 1;
  if (held_out_ >= 0) {
    newton.minimise(outcome_.lambda, held_out_, kChoiceTolerance, point);
    const LeftOutScores scores = newton.held_out_scores(held_out_);
    outcome_.temperature = scores.temperature();
    outcome_.quality = accuracy(scores, fmt::format("one fold of {} held out", folds));
  }
  if (last_) point = std::move(*last_);
  outcome_.residual =
      newton.minimise(outcome_.lambda, -1, kTolerance, point,
                      [&](const Newton::Point& at) { save(at, Stage::last, false); });
  save(point, Stage::last, true);
  if (held_out_ < 0) outcome_.quality = accuracy(newton.held_out_scores(0), kTrainingRows);
  outcome_.passes = newton.passes();
  if (outcome_.residual > 10 * kTolerance)
    outcome_.warnings.push_back(
        fmt::format("Newton's method stopped while the loss could still fall by about {:.1g} of "
                    "itself: {}",
                    outcome_.residual, rounding_advice(options_.precision, !options_.lambda)));
  outcome_.wants_double =
      outcome_.residual > 10 * kTolerance && options_.precision == Precision::single_;
  return model_of(cache, point);
}

ExpectedSeconds seconds(const Problem& p, const Speeds& s) {
  constexpr double kPasses = 35, kPassesOfChoice = 65, kFactors = 3;
  const auto form = plan(p).form;
  return {feature_pass_seconds(p, s),
          sketch_seconds(p, form, s) + kFactors * factor_seconds(p, s) +
              (kPasses + (p.options.lambda ? 0 : kPassesOfChoice)) * pass_seconds(p, form, s)};
}

}  // namespace

SolverEntry newton_solver() {
  return {"newton",
          "Newton's method, preconditioned by a sketch: logistic and squared hinge losses",
          [](const Problem& p) {
            if (p.options.loss == Loss::squared)
              return std::string("is for the logistic and squared hinge losses");
            if (p.options.validation != Validation::folds)
              return std::string("chooses lambda by folds");
            return std::string(p.options.lambda_per_target ? "chooses one lambda for all" : "");
          },
          [](const Problem& p) { return plan(p).bytes; },
          seconds,
          [](const Problem& problem, TrainingRows& rows, FitReport& outcome) {
            return NewtonFit(problem, rows, outcome).run();
          },
          {.identity = "4"}};
}

}  // namespace kerf::detail
