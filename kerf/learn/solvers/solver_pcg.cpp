// Conjugate gradients on the normal equations, preconditioned by a sketch of the rows.
//
//   one pass makes the features, their sketch (sketched_gram.h) and Z^T y; then some 10 to 20
//   passes over the features, kept in memory if they fit (feature_cache.h), solve for all outputs
//   at once
//
// Error:      stops when the preconditioned residual, computed afresh from the features themselves,
//             is 1e-6 of the right-hand side (1e-10 with --precision double).
// lambda:     by the error on one fold held out, among decades and then half decades, all lambdas
//             of a round in the same passes: where this solver pays, that fold has very many rows.
//             A given one is judged by such a fold, too, with at most 15 passes more.
// Cost:       4 n m t flops and one read of the features a pass (t outputs), against n m^2 for the
//             sums of cholesky; 4.3 m^3 flops once.
// Reference:  block_cg.h, sketched_gram.h.
// Differs:    features that fit only in 16 bits serve the iterations, and the true residual, from
//             features made again, corrects what that rounding did (iterative refinement).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/lambda/lambda_errors.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/ridge/condition.h"
#include "kerf/learn/rows/fold_buffers.h"
#include "kerf/learn/rows/training_sums.h"
#include "kerf/learn/solvers/iteration_plan.h"
#include "kerf/learn/solvers/sketched_gram.h"
#include "kerf/learn/solvers/solver.h"
#include "kerf/linalg/block_cg.h"

namespace kerf::detail {
namespace {

constexpr Index kMostPasses = 60;
constexpr double kChoiceTolerance = 1e-3;
constexpr Index kChoicePasses = 12;

/// While lambda is chosen, two systems are solved in the same passes.
/// One is held out if lambda is to be chosen, or probabilities are to be calibrated.  Otherwise rows come
/// in their own order, and those held out are marked.
Index folds_read(const Problem& p) {
  return p.options.lambda && !p.classification ? 1 : std::min(p.options.folds, p.rows);
}

IterationPlan plan(const Problem& p) {
  const Index systems = p.options.lambda ? 1 : 2;
  return plan_iterations(
      p, {.folds = folds_read(p), .vectors = systems * p.outputs, .factors = systems});
}

std::string held_out_words(Index folds) { return fmt::format("one fold of {} held out", folds); }

double tolerance(Precision precision) { return precision == Precision::single_ ? 1e-6 : 1e-10; }

/// The rows of several matrices under each other.
Matrix<double> stacked(const std::vector<const Matrix<double>*>& parts, Index cols) {
  Index rows = 0;
  for (const auto* part : parts) rows += part->rows();
  Matrix<double> all(rows, cols);
  Index at = 0;
  for (const auto* part : parts) {
    copy_rows(part->view(), all.view().slice(at, at + part->rows()));
    at += part->rows();
  }
  return all;
}

class PcgFit {
 public:
  PcgFit(const Problem& problem, TrainingRows& rows, FitReport& outcome)
      : problem_(problem), rows_(rows), outcome_(outcome), options_(problem.options) {}

  LinearModel run();

 private:
  void read();
  /// Mean squared error on the held-out fold for each lambda (by target), in common passes.
  void judge(const std::vector<double>& lambdas);
  void choose();
  /// What is known so far: errors by lambda, and a solution on the way (or none).
  void save(const Matrix<double>* x) const;
  void load();
  std::vector<double> held_out_errors(MatrixView<const double> w,
                                      std::span<const double> intercept);
  Matrix<double> solve(double lambda);
  std::optional<FitQuality> judge_training(const TrainingSums& sums, const Matrix<double>& w) const;
  /// Probabilities: their temperature on the fold that was held out.
  void calibrate();
  /// Numbers at a given lambda: marks the rows of a fold and judges by them.
  void judge_given();
  bool is_out(const FeatureCache::Piece& piece, Index row) const {
    return marked_.empty() ? piece.fold == judge_ : marked_[piece.first + row] != 0;
  }
  TrainingSums training() {
    return marked_.empty() ? TrainingSums(*cache_, judge_) : TrainingSums(*cache_, marked_);
  }
  double held_out_weight() const;

  /// Solved without the held-out fold, at the best lambda so far.
  struct HeldOut {
    double lambda = -1;
    Matrix<double> weights;
    std::vector<double> intercepts;
    std::vector<double> errors;  // mean squared, of each target
  };
  /// Judged before the fit was killed, lambda is judged again.
  void need_held_out();
  /// Mean squared error of each target on the held-out fold, at the lambda that is taken.
  std::vector<double> errors_by_target();

  const Problem& problem_;
  TrainingRows& rows_;
  FitReport& outcome_;
  const FitOptions& options_;
  std::optional<FeatureCache> cache_;
  std::optional<SketchedGram> sketch_;
  double unit_ = 1;  // of the grid of lambda
  LambdaErrors errors_;
  Index passes_ = 0;
  Matrix<double> start_;      // from a checkpoint
  Index judge_ = -1;          // the fold that judges lambda
  std::vector<char> marked_;  // or its rows, where rows are not sorted into folds
  HeldOut held_out_;
};

void PcgFit::read() {
  sketch_.emplace(rows_.features(),
                  rng::Key{static_cast<std::uint64_t>(options_.seed)}.child("sketch"));
  cache_.emplace(rows_, plan(problem_).form, folds_read(problem_), options_.precision,
                 sketch_->as_they_come());
  const TrainingSums all(*cache_, -1);
  const PhaseClock watch(rows_.seconds().accumulate);
  report(rows_.progress(), "sketch", 0, 0, "");
  sketch_->add_kept(*cache_);
  sketch_->finish(all.sum(), all.weight(), options_.precision);
  unit_ = sketch_->mean_diagonal() / all.weight();
  outcome_.notes.push_back(FeatureCache::name(cache_->form()));
}

std::vector<double> PcgFit::held_out_errors(MatrixView<const double> w,
                                            std::span<const double> intercept) {
  const Index outputs = cache_->outputs();
  std::vector<double> errors(FeatureCache::kLanes * intercept.size(), 0.0);
  const auto& d = cache_->origin().targets;
  product_with_rows(*cache_, w,
                    [&](const FeatureCache::Piece& piece, MatrixView<double> products) {
                      for (Index i = 0; i < products.rows; ++i) {
                        if (!is_out(piece, i)) continue;
                        const auto row = static_cast<std::size_t>(piece.first + i);
                        const double weight = cache_->weights()[row];
                        for (Index k = 0; k < products.cols; ++k) {
                          const auto t = static_cast<std::size_t>(k % outputs);
                          // Products are of sqrt(w) (z - c).
                          const double target =
                              cache_->targets()(piece.first + i, k % outputs) - d[t] - intercept[k];
                          const double rest = std::sqrt(weight) * target - products(i, k);
                          errors[static_cast<std::size_t>(piece.lane) * intercept.size() +
                                 static_cast<std::size_t>(k)] += rest * rest;
                        }
                      }
                    },
                    {.sums = false});
  std::vector<double> total(intercept.size(), 0.0);
  for (std::size_t k = 0; k < errors.size(); ++k) total[k % intercept.size()] += errors[k];
  return total;
}

void PcgFit::save(const Matrix<double>* x) const {
  if (!problem_.checkpoint || (x && !problem_.checkpoint->due())) return;
  ArrayWriter arrays;
  errors_.save(arrays);
  if (x) arrays.add("x", x->view());
  problem_.checkpoint->save("state", arrays);
}

void PcgFit::load() {
  if (!problem_.checkpoint) return;
  const auto kept = problem_.checkpoint->load("state");
  if (!kept) return;
  errors_.load(*kept->arrays);
  if (!kept->arrays->has("x")) {
    note_resumed(options_, fmt::format("{} lambdas were tried before", errors_.known()), outcome_);
    return;
  }
  note_resumed(options_, "from a solution on the way", outcome_);
  start_ = kept->arrays->matrix<double>("x");
  if (start_.rows() != rows_.outputs() || start_.cols() != rows_.features())
    start_ = Matrix<double>();
}

void PcgFit::judge(const std::vector<double>& asked) {
  std::vector<double> lambdas;
  for (const double lambda : asked)
    if (!errors_.ask(lambda)) lambdas.push_back(lambda);
  if (lambdas.empty()) return;
  const TrainingSums training = this->training();
  const double n = training.weight(), share = TrainingSums(*cache_, -1).weight() / n;
  std::vector<Matrix<double>> factors;
  std::vector<BlockCg> solutions;
  factors.reserve(lambdas.size());
  for (const double lambda : lambdas) {
    factors.push_back(sketch_->factor(n * lambda * share));
    solutions.emplace_back(factors.back().view(), n * lambda, training.rhs());
  }
  for (Index pass = 0; pass < kChoicePasses; ++pass) {
    std::vector<BlockCg*> open;
    std::vector<const Matrix<double>*> directions;
    for (BlockCg& cg : solutions)
      if (!cg.broken() && cg.residual() > kChoiceTolerance) {
        open.push_back(&cg);
        directions.push_back(&cg.direction());
      }
    if (open.empty()) break;
    report(rows_.progress(), "choosing lambda", ++passes_, 0, "passes");
    const Matrix<double> products =
        training.gram_times(*cache_, stacked(directions, cache_->features()).view(), false);
    for (std::size_t k = 0; k < open.size(); ++k) {
      const Index begin = static_cast<Index>(k) * cache_->outputs();
      open[k]->advance(products.view().slice(begin, begin + cache_->outputs()));
    }
  }
  std::vector<const Matrix<double>*> weights;
  for (const BlockCg& cg : solutions) weights.push_back(&cg.solution());
  const Matrix<double> all = stacked(weights, cache_->features());
  std::vector<double> intercepts;
  for (const auto* w : weights)
    for (const double b : training.intercepts(w->view())) intercepts.push_back(b);
  const auto errors = held_out_errors(all.view(), intercepts);
  const double rows = held_out_weight() * static_cast<double>(cache_->outputs());
  for (std::size_t k = 0; k < lambdas.size(); ++k) {
    double error = 0;
    std::vector<double> by_target;
    for (Index t = 0; t < cache_->outputs(); ++t) {
      const double squares =
          errors[k * static_cast<std::size_t>(cache_->outputs()) + static_cast<std::size_t>(t)];
      error += squares;
      by_target.push_back(squares / held_out_weight());
    }
    errors_.enter(lambdas[k], error / rows);
    if (options_.lambda || errors_.best() == lambdas[k])
      held_out_ = {lambdas[k], stacked({weights[k]}, cache_->features()),
                   training.intercepts(weights[k]->view()), std::move(by_target)};
  }
  save(nullptr);
}

void PcgFit::choose() {
  const PhaseClock watch(rows_.seconds().lambda);
  judge_ = fold_that_judges(cache_->folds());
  // Two lambdas at a time (plan).
  auto grid = parse_lambda_grid(options_.lambda_grid);
  for (; !grid.empty(); grid.resize(grid.size() - std::min<std::size_t>(2, grid.size())))
    judge({grid.end() - std::min<std::ptrdiff_t>(2, std::ssize(grid)), grid.end()});
  if (options_.lambda_grid.empty()) {
    judge({1e-2 * unit_, 1e-4 * unit_});
    judge({unit_, 1e-6 * unit_});
    if (errors_.best() == unit_) judge({1e2 * unit_, 1e4 * unit_});
    if (errors_.best() == 1e-6 * unit_) judge({1e-8 * unit_});
    for (const double factor : {10.0, std::sqrt(10.0)})
      judge({errors_.best() / factor, errors_.best() * factor});
  }
  outcome_.lambda = errors_.best();
  outcome_.cv_error = errors_.least_error();
  outcome_.path = errors_.path();
  outcome_.validation = held_out_words(std::ssize(cache_->folds()));
  if (!problem_.classification)
    outcome_.quality = explained(beside_constant(errors_by_target(), cache_->folds(), judge_),
                                 cache_->folds()[judge_].weight(), outcome_.validation);
}

void PcgFit::need_held_out() {
  if (held_out_.lambda == outcome_.lambda) return;
  errors_.forget(outcome_.lambda);
  judge({outcome_.lambda});
}

std::vector<double> PcgFit::errors_by_target() {
  if (cache_->outputs() == 1) return {*errors_.ask(outcome_.lambda)};
  need_held_out();
  return held_out_.errors;
}

double PcgFit::held_out_weight() const {
  if (marked_.empty()) return cache_->folds()[judge_].weight();
  double weight = 0;
  for (std::size_t i = 0; i < marked_.size(); ++i)
    if (marked_[i] != 0) weight += cache_->weights()[static_cast<Index>(i)];
  return weight;
}

void PcgFit::judge_given() {
  const Index folds = std::min(options_.folds, rows_.rows());
  const Index fold = rows_.fold_with_rows(folds);
  if (fold < 0) return;
  const rng::Key key = FoldBuffers::key_of(options_.seed);
  marked_.assign(cache_->rows(), 0);
  for (Index i = 0; i < cache_->rows(); ++i)
    marked_[i] = FoldBuffers::fold_of(key, i, problem_.copies, folds) == fold ? 1 : 0;
  const double weight = held_out_weight(), all = TrainingSums(*cache_, -1).weight();
  if (!(weight > 0 && weight < all)) return;
  judge({outcome_.lambda});
  const Index outputs = cache_->outputs();
  TargetErrors errors{errors_by_target(), std::vector<double>(outputs), {}};
  for (Index t = 0; t < outputs; ++t) {
    double sum = 0;
    for (Index i = 0; i < cache_->rows(); ++i)
      if (marked_[i] == 0) sum += cache_->weights()[i] * cache_->targets()(i, t);
    const double mean = sum / (all - weight);
    for (Index i = 0; i < cache_->rows(); ++i)
      if (marked_[i] != 0)
        errors.constant[t] +=
            cache_->weights()[i] * std::pow(cache_->targets()(i, t) - mean, 2) / weight;
    errors.mean.push_back(mean);
  }
  outcome_.quality = explained(errors, weight, held_out_words(folds));
}

void PcgFit::calibrate() {
  need_held_out();
  const auto folds = cache_->fold_of_rows();
  std::vector<Index> rows, place(folds.size());
  for (std::size_t i = 0; i < folds.size(); ++i) {
    place[i] = std::ssize(rows);
    if (folds[i] == judge_) rows.push_back(static_cast<Index>(i));
  }
  Matrix<double> scores(std::ssize(rows), cache_->outputs());
  const auto keep = [&](const FeatureCache::Piece& piece, MatrixView<double> products) {
    for (Index i = 0; i < products.rows && piece.fold == judge_; ++i) {
      const auto row = static_cast<std::size_t>(piece.first + i);
      const double w = cache_->weights()[row];
      for (Index t = 0; t < products.cols; ++t)
        scores(place[row], t) = (w > 0 ? products(i, t) / std::sqrt(w) : 0.0) +
                                held_out_.intercepts[t] + cache_->origin().targets[t];
    }
  };
  product_with_rows(*cache_, held_out_.weights.view(), keep, {.sums = false});
  LeftOutScores left_out;
  left_out.add(scores.view(), rows, cache_->targets(), cache_->weights());
  outcome_.temperature = left_out.temperature();
  outcome_.quality = accuracy(left_out, held_out_words(std::ssize(cache_->folds())));
}

Matrix<double> PcgFit::solve(double lambda) {
  const TrainingSums training(*cache_, -1);
  const double shift = training.weight() * lambda;
  const Matrix<double> factor = sketch_->factor(shift);
  BlockCg cg(factor.view(), shift, training.rhs());
  const double goal = tolerance(options_.precision);
  Index passes = 0;
  if (start_.rows() > 0) {
    const Matrix<double> product = training.gram_times(*cache_, start_.view(), true);
    cg.restart(std::move(start_), product.view());
  }
  double last = std::numeric_limits<double>::infinity();
  for (;;) {
    while (passes < kMostPasses && !cg.broken() && cg.residual() > 0.5 * goal) {
      report(rows_.progress(), "solving", ++passes, 0, "passes");
      cg.advance(training.gram_times(*cache_, cg.direction().view(), false).view());
      save(&cg.solution());
    }
    // The true residual, from the features themselves.
    Matrix<double> x = cg.take_solution();
    const Matrix<double> product = training.gram_times(*cache_, x.view(), true);
    ++passes;
    cg.restart(std::move(x), product.view());
    outcome_.residual = cg.residual();
    if (outcome_.residual <= goal || passes >= kMostPasses || outcome_.residual > 0.5 * last) break;
    last = outcome_.residual;
  }
  outcome_.passes = passes_ + passes;
  if (outcome_.residual > 10 * goal)
    outcome_.warnings.push_back(
        fmt::format("the iterations stopped at a residual of {:.2g} after {} passes: the system is "
                    "beyond {} precision; {}",
                    outcome_.residual, passes, name_of(options_.precision),
                    rounding_advice(options_.precision, !options_.lambda)));
  outcome_.wants_double = outcome_.residual > 10 * goal && options_.precision == Precision::single_;
  return cg.take_solution();
}

/// At the solution of (G + n lambda) w = r, the squared error is |y - mean|^2 - w r - n lambda |w|^2.
std::optional<FitQuality> PcgFit::judge_training(const TrainingSums& sums,
                                                 const Matrix<double>& w) const {
  TargetErrors errors{{}, {}, cache_->origin().targets};
  for (Index t = 0; t < w.rows(); ++t) {
    double total = 0, squares = 0, gain = 0;
    for (const NormalEquations& fold : cache_->folds())
      total += fold.target_sum(t), squares += fold.target_square(t);
    squares -= total * total / sums.weight();
    for (Index j = 0; j < w.cols(); ++j)
      gain += w(t, j) * (sums.rhs()(t, j) + sums.weight() * outcome_.lambda * w(t, j));
    errors.fit.push_back(std::max(0.0, squares - gain) / sums.weight());
    errors.constant.push_back(squares / sums.weight());
  }
  return explained(errors, sums.weight(), kTrainingRows);
}

LinearModel PcgFit::run() {
  read();
  load();
  const PhaseClock watch(rows_.seconds().solve);
  if (options_.lambda) {
    outcome_.lambda = *options_.lambda;
    judge_ = fold_to_hold_out(cache_->folds()).value_or(-1);
  } else {
    choose();
  }
  if (problem_.classification && judge_ >= 0) calibrate();
  if (options_.lambda && !problem_.classification) judge_given();
  const Matrix<double> w = solve(outcome_.lambda);
  const TrainingSums sums(*cache_, -1);
  if (!outcome_.quality) outcome_.quality = judge_training(sums, w);
  LinearModel model{Matrix<double>(w.cols(), w.rows()), sums.intercepts(w.view())};
  for (Index t = 0; t < w.rows(); ++t)
    for (Index j = 0; j < w.cols(); ++j) model.weights(j, t) = w(t, j);
  undo_origin(cache_->origin(), model);
  return model;
}

ExpectedSeconds seconds(const Problem& p, const Speeds& s) {
  constexpr double kPasses = 18, kPassesOfChoice = 30, kPassesOfCalibration = 10, kFactors = 9;
  // Judging a given lambda is left out, as the others leave it out: it makes no weights.
  const double more = !p.options.lambda  ? kPassesOfChoice
                      : p.classification ? kPassesOfCalibration
                                         : 0;
  const auto form = plan(p).form;
  return {feature_pass_seconds(p, s), sketch_seconds(p, form, s) +
                                          (p.options.lambda ? 1 : kFactors) * factor_seconds(p, s) +
                                          (kPasses + more) * pass_seconds(p, form, s)};
}

}  // namespace

SolverEntry pcg_solver() {
  return {"pcg",
          "conjugate gradients preconditioned by a sketch: many rows and many features",
          [](const Problem& p) {
            if (p.options.loss != Loss::squared) return std::string("is for the squared loss");
            if (p.options.validation != Validation::folds)
              return std::string("chooses lambda by folds");
            if (p.options.lambda_per_target)
              return std::string("chooses one lambda for all targets");
            if (p.outputs > p.features) return std::string("needs as many features as outputs");
            return p.rows > p.features ? std::string()
                                       : std::string("is for more rows than features");
          },
          [](const Problem& p) { return plan(p).bytes; },
          seconds,
          [](const Problem& problem, TrainingRows& rows, FitReport& outcome) {
            return PcgFit(problem, rows, outcome).run();
          },
          // How many steps it will take is a guess: it must be worth a quarter.
          {.identity = "3", .handicap = 1.25}};
}

}  // namespace kerf::detail
