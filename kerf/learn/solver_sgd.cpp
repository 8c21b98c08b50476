// Stochastic gradients: for so many features that not even m^2 numbers fit.
//
//   minimise (1/n) sum_i w_i loss(y_i, W (z_i - c) + b) + lambda |W|^2,   a batch of rows at a
//   time: adagrad:   W_j -= eta g_j / sqrt(sum of g_j^2 so far)         (Duchi, Hazan & Singer,
//   JMLR 2011) inverse:   W -= eta / (1 + epochs) g          constant:  W -= eta g
//
// Rows of a block are dealt out to its batches in turn, so that sorted files do no harm.  One fold
// is held out: its loss, met on the way through each epoch, stops the fit when it has not fallen by
// a thousandth for two epochs, and the best epoch's weights are kept.  That is all the
// regularisation unless --lambda is given.  Regression targets are centred and scaled by those of
// the first block.
//
// Cost:       4 n m k flops and a pass of features an epoch (k scores); 16 m k bytes and a block.
// Error:      that of early-stopped gradient descent; an iterative estimate, not a minimiser.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"
#include "kerf/learn/row_products.h"
#include "kerf/learn/solver.h"

namespace kerf {
namespace {

constexpr Index kHeldOut = 0;
constexpr double kWorthwhile = 1e-3;  // relative fall of the held-out loss
constexpr Index kPatience = 2;        // epochs without one

Index score_count(const Problem& p) {
  return p.options.loss != Loss::squared && p.outputs == 2 ? 1 : p.outputs;
}

/// Weights and what the schedule remembers.
struct State {
  Matrix<float> weights, squares;  // score in each row
  std::vector<double> intercept, intercept_squares;

  State(Index scores, Index features)
      : weights(scores, features),
        squares(scores, features),
        intercept(static_cast<std::size_t>(scores), 0.0),
        intercept_squares(static_cast<std::size_t>(scores), 0.0) {
    weights.fill(0);
    squares.fill(0);
  }
};

class SgdFit {
 public:
  SgdFit(const Problem& problem, TrainingRows& rows, FitReport& outcome)
      : options_(problem.options),
        loss_(problem.options.loss),
        rows_(rows),
        outcome_(outcome),
        checkpoint_(problem.checkpoint),
        outputs_(problem.outputs),
        count_(score_count(problem)),
        lambda_(problem.options.lambda.value_or(0)),
        state_(count_, problem.features),
        best_(count_, problem.features) {}

  LinearModel run();

 private:
  double row_gradient(const TrainingRows::Block& block, Index row, std::span<double> scores) const;
  /// Scores of the rows in `batch_`, then loss and gradients in their place; returns summed loss.
  double evaluate(const TrainingRows::Block& block, std::span<const Index> which, const State& s);
  void step(State& state, double rate, double weight);
  /// All batches of a block; the mean loss before each step.
  double learn(const TrainingRows::Block& block, State& state, double rate);
  double find_rate(const TrainingRows::Block& block);
  void prepare(const TrainingRows::Block& block);
  double epoch(Index number);
  void save(Index next, double best, Index waited);
  LinearModel model_of(const State& state) const;

  const FitOptions& options_;
  Loss loss_;
  TrainingRows& rows_;
  FitReport& outcome_;
  Checkpoint* checkpoint_;
  Index outputs_, count_;
  double lambda_;
  State state_, best_;
  Origin origin_;
  std::vector<double> target_scale_;
  double rate_ = 0;
  Matrix<float> batch_, products_, gradient_;
  std::vector<double> scores_, intercept_gradient_;
};

/// Scores to derivatives, in place; returns the row's loss.
double SgdFit::row_gradient(const TrainingRows::Block& block, Index row,
                            std::span<double> scores) const {
  const auto y = block.y.row(row);
  double value = 0;
  if (loss_ == Loss::squared) {
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const double rest = scores[k] - (y[k] - origin_.targets[k]) / target_scale_[k];
      value += rest * rest;
      scores[k] = 2 * rest;
    }
    return value;
  }
  const Index label = std::ranges::max_element(y) - y.begin();
  value = loss_value(loss_, label, scores);
  std::vector<double> out(scores.size());
  loss_gradient(loss_, label, scores, out);
  std::ranges::copy(out, scores.begin());
  return value;
}

double SgdFit::evaluate(const TrainingRows::Block& block, std::span<const Index> which,
                        const State& state) {
  const auto size = static_cast<Index>(which.size());
  batch_.resize(size, block.z.cols);
  for (Index i = 0; i < size; ++i)
    std::ranges::copy(block.z.row(which[static_cast<std::size_t>(i)]), batch_.row(i).begin());
  products_.resize(size, count_);
  const blas::ThreadScope scope(threads());
  rows_times(batch_.view(), state.weights.view(), products_.view());
  std::ranges::fill(intercept_gradient_, 0.0);
  double loss = 0;
  for (Index i = 0; i < size; ++i) {
    const Index row = which[static_cast<std::size_t>(i)];
    const double w = block.weights.empty() ? 1.0 : block.weights[static_cast<std::size_t>(row)];
    for (Index k = 0; k < count_; ++k)
      scores_[static_cast<std::size_t>(k)] =
          products_(i, k) + state.intercept[static_cast<std::size_t>(k)];
    loss += w * row_gradient(block, row, scores_);
    for (Index k = 0; k < count_; ++k) {
      const double g = w * scores_[static_cast<std::size_t>(k)];
      intercept_gradient_[static_cast<std::size_t>(k)] += g;
      products_(i, k) = static_cast<float>(g);
    }
  }
  return loss;
}

void SgdFit::step(State& state, double rate, double weight) {
  const blas::ThreadScope scope(threads());
  gradient_.resize(count_, batch_.cols());
  times_rows(products_.view(), batch_.view(), gradient_.view());
  const bool adaptive = options_.sgd.schedule == Schedule::adagrad;
  const auto scale = static_cast<float>(1 / weight), ridge = static_cast<float>(2 * lambda_);
  const auto eta = static_cast<float>(rate);
  parallel_for(gradient_.cols(), 4096, [&](Index begin, Index end) {
    for (Index k = 0; k < count_; ++k)
      for (Index j = begin; j < end; ++j) {
        float& w = state.weights(k, j);
        const float g = gradient_(k, j) * scale + ridge * w;
        if (!adaptive) {
          w -= eta * g;
          continue;
        }
        float& sum = state.squares(k, j);
        sum += g * g;
        if (sum > 0) w -= eta * g / std::sqrt(sum);
      }
  });
  for (std::size_t k = 0; k < state.intercept.size(); ++k) {
    const double g = intercept_gradient_[k] / weight;
    state.intercept_squares[k] += g * g;
    // A constant feature of 1 for the intercept.
    if (state.intercept_squares[k] > 0)
      state.intercept[k] -= 0.1 * g / std::sqrt(state.intercept_squares[k]);
  }
}

double SgdFit::learn(const TrainingRows::Block& block, State& state, double rate) {
  const Index batches = (block.z.rows + options_.sgd.batch - 1) / options_.sgd.batch;
  double loss = 0, weight = 0;
  for (Index b = 0; b < batches; ++b) {
    std::vector<Index> which;
    double batch_weight = 0;
    for (Index i = b; i < block.z.rows; i += batches) {
      which.push_back(i);
      batch_weight += block.weights.empty() ? 1.0 : block.weights[static_cast<std::size_t>(i)];
    }
    if (!(batch_weight > 0)) continue;
    loss += evaluate(block, which, state);
    weight += batch_weight;
    step(state, rate, batch_weight);
  }
  return weight > 0 ? loss / weight : 0;
}

/// The rate whose steps bring the loss down most on the first rows.
double SgdFit::find_rate(const TrainingRows::Block& block) {
  double norm = 0;
  for (Index i = 0; i < block.z.rows; ++i)
    for (const float value : block.z.row(i)) norm += double{value} * value;
  norm = std::max(norm / static_cast<double>(block.z.rows), 1e-30);
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 5; ++k) {
    const double rate =
        options_.sgd.schedule == Schedule::adagrad
            ? 2 * std::pow(static_cast<double>(block.z.cols), -(4 - k) / 8.0) / std::sqrt(norm)
            : std::pow(0.25, k) / norm;
    State trial(count_, block.z.cols);
    learn(block, trial, rate);
    const double loss = learn(block, trial, rate);
    if (loss < least) least = loss, best = rate;
  }
  KERF_REQUIRE(best > 0, numeric, "no learning rate brings the loss down: give --learning-rate");
  return best;
}

/// From the first block: origin, scales of targets, rate.
void SgdFit::prepare(const TrainingRows::Block& block) {
  origin_ = origin_of(block.z, block.y);
  for (Index t = 0; t < block.y.cols; ++t) {
    double squares = 0;
    for (Index i = 0; i < block.y.rows; ++i)
      squares += std::pow(block.y(i, t) - origin_.targets[static_cast<std::size_t>(t)], 2);
    const double scale = std::sqrt(squares / static_cast<double>(block.y.rows));
    target_scale_.push_back(scale > 0 ? scale : 1.0);
  }
  scores_.resize(static_cast<std::size_t>(count_));
  intercept_gradient_.resize(scores_.size());
}

/// One pass; the mean loss of the fold held out.
double SgdFit::epoch(Index number) {
  double loss = 0, weight = 0;
  rows_.for_each(std::min(options_.folds, rows_.rows()), [&](const TrainingRows::Block& block) {
    const Stopwatch watch(rows_.seconds().solve);
    if (origin_.features.empty()) prepare(block);
    centre_and_weight(origin_, {}, block.z);
    if (block.fold == kHeldOut) {
      std::vector<Index> all;
      for (Index i = 0; i < block.z.rows; ++i) {
        all.push_back(i);
        weight += block.weights.empty() ? 1.0 : block.weights[static_cast<std::size_t>(i)];
      }
      loss += evaluate(block, all, state_);
      return;
    }
    if (rate_ == 0)
      rate_ = options_.sgd.learning_rate ? *options_.sgd.learning_rate : find_rate(block);
    const bool falls = options_.sgd.schedule == Schedule::inverse;
    learn(block, state_, falls ? rate_ / (1 + static_cast<double>(number)) : rate_);
  });
  return weight > 0 ? loss / weight : 0;
}

void SgdFit::save(Index next, double best, Index waited) {
  ArrayWriter arrays;
  const std::vector<double> numbers = {static_cast<double>(next), best, static_cast<double>(waited),
                                       rate_};
  const std::vector<double> origin(origin_.features.begin(), origin_.features.end());
  arrays.add("numbers", std::span<const double>(numbers));
  arrays.add("origin", std::span<const double>(origin));
  arrays.add("targets", std::span<const double>(origin_.targets));
  arrays.add("scales", std::span<const double>(target_scale_));
  for (const auto& [prefix, state] : {std::pair("now-", &state_), std::pair("best-", &best_)}) {
    const std::string name = prefix;
    arrays.add((name + "weights").c_str(), state->weights.view());
    arrays.add((name + "squares").c_str(), state->squares.view());
    arrays.add((name + "intercept").c_str(), std::span<const double>(state->intercept));
    arrays.add((name + "intercept-squares").c_str(),
               std::span<const double>(state->intercept_squares));
  }
  checkpoint_->save("state", arrays);
}

LinearModel SgdFit::model_of(const State& state) const {
  const Index m = state.weights.cols();
  const bool two = count_ != outputs_;
  LinearModel model{Matrix<double>(m, outputs_), {}};
  for (Index t = 0; t < outputs_; ++t) {
    const Index k = two ? 0 : t;
    double factor = two ? (t == 0 ? -0.5 : 0.5) : 1.0;
    if (loss_ == Loss::squared) factor = target_scale_[static_cast<std::size_t>(t)];
    double b = factor * state.intercept[static_cast<std::size_t>(k)];
    if (loss_ == Loss::squared) b += origin_.targets[static_cast<std::size_t>(t)];
    for (Index j = 0; j < m; ++j) {
      model.weights(j, t) = factor * state.weights(k, j);
      b -= model.weights(j, t) * origin_.features[static_cast<std::size_t>(j)];
    }
    model.intercept.push_back(b);
  }
  return model;
}

LinearModel SgdFit::run() {
  double best = std::numeric_limits<double>::infinity();
  Index first = 0, waited = 0;
  if (checkpoint_)
    if (const auto kept = checkpoint_->load("state")) {
      ArrayReader& arrays = *kept->arrays;
      const auto numbers = arrays.vector<double>("numbers");
      first = static_cast<Index>(numbers.at(0));
      best = numbers.at(1);
      waited = static_cast<Index>(numbers.at(2));
      rate_ = numbers.at(3);
      const auto origin = arrays.vector<double>("origin");
      origin_.features.assign(origin.begin(), origin.end());
      origin_.targets = arrays.vector<double>("targets");
      target_scale_ = arrays.vector<double>("scales");
      scores_.resize(static_cast<std::size_t>(count_));
      intercept_gradient_.resize(scores_.size());
      for (auto& [prefix, state] : {std::pair("now-", &state_), std::pair("best-", &best_)}) {
        const std::string name = prefix;
        state->weights = arrays.matrix<float>((name + "weights").c_str());
        state->squares = arrays.matrix<float>((name + "squares").c_str());
        state->intercept = arrays.vector<double>((name + "intercept").c_str());
        state->intercept_squares = arrays.vector<double>((name + "intercept-squares").c_str());
      }
    }
  for (Index number = first; number < options_.sgd.epochs && waited < kPatience; ++number) {
    // The held-out loss of an epoch is met on the way, so it speaks for the weights before its end.
    const double loss = epoch(number);
    ++outcome_.passes;
    KERF_REQUIRE(std::isfinite(loss), numeric,
                 "the steps of sgd diverged in epoch {}: take a smaller --learning-rate",
                 number + 1);
    waited = loss < (1 - kWorthwhile) * best ? 0 : waited + 1;
    if (loss < best) {
      best = loss;
      std::copy_n(state_.weights.data(), state_.weights.rows() * state_.weights.cols(),
                  best_.weights.data());
      best_.intercept = state_.intercept;
    }
    if (checkpoint_ && checkpoint_->due()) save(number + 1, best, waited);
  }
  outcome_.lambda = lambda_;
  outcome_.cv_error = best;
  outcome_.validation = "one fold held out, met on the way";
  outcome_.metric = loss_ == Loss::squared
                        ? "mean squared error of the scaled targets"
                        : std::string(kLossNames[static_cast<int>(loss_)]) + " loss";
  if (loss_ == Loss::logistic) outcome_.temperature = 1;
  outcome_.notes.push_back(fmt::format("learning rate {:.3g}, {} epochs", rate_, outcome_.passes));
  return model_of(best_);
}

Index bytes(const Problem& p) {
  const Index scores = score_count(p);
  const Index folds = std::min(p.options.folds, p.rows);
  return p.map_bytes + TrainingRows::bytes(p.rows, p.inputs, p.features, p.outputs, folds) +
         p.features * (24 * scores + 8 * p.outputs + 4 * p.options.sgd.batch);
}

double seconds(const Problem& p) {
  const double product = 4 * static_cast<double>(p.rows) * static_cast<double>(p.features) *
                         static_cast<double>(score_count(p)) / (0.25 * speed::kSingle * threads());
  // Stops short of the minimiser: chosen only where nothing else fits.
  return 1e6 + static_cast<double>(p.options.sgd.epochs) * (feature_pass_seconds(p) + product);
}

}  // namespace

SolverEntry sgd_solver() {
  return {Solver::sgd,
          "stochastic gradients: so many features that nothing else fits",
          [](const Problem& p) {
            if (p.rows < 4) return std::string("needs at least 4 rows");
            const bool chooses =
                p.options.lambda_per_target || p.options.validation != Validation::folds;
            return std::string(chooses ? "does not choose lambda" : "");
          },
          bytes,
          seconds,
          [](const Problem& problem, TrainingRows& rows, FitReport& outcome) {
            return SgdFit(problem, rows, outcome).run();
          }};
}

}  // namespace kerf
