// Stochastic gradients: for so many features that not even m^2 numbers fit.
//
//   minimise (1/n) sum_i w_i loss(y_i, W (z_i - c) + b) + lambda |W|^2,   a batch of rows at a
//   time:  W := (W - r g) / (1 + 2 lambda r),  g: gradient of the loss, r by the schedule
//   adagrad:   r_j = eta / sqrt(sum of g_j^2 so far)  (Duchi, Hazan & Singer, JMLR 2011, whose
//   composite step this is)        inverse:  r = eta / (1 + epochs)        constant:  r = eta
//
// Features are made of the inputs of one batch at a time and never stored: c enters as W c and as
// c times the sum of the derivatives.  Rows of a block are dealt out to its batches in turn, so
// that sorted files do no harm.  One fold is held out: its loss, met on the way through each epoch,
// stops the fit when it has not fallen by a thousandth for --patience epochs, and the best epoch's
// weights are kept.  That is all the regularisation unless --lambda is given.  Its scores, which no
// step has seen, calibrate the probabilities of classes (temperature.h), with one more reading.  Regression targets
// are centred and scaled by those of the first block.
//
// Cost:       4 n m k flops and a pass of features an epoch (k scores); 24 m k bytes, one batch of
//             features (4 m batch bytes) and blocks of inputs.
// Error:      that of early-stopped gradient descent; an iterative estimate, not a minimiser.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/quality/classification_loss.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/solvers/sgd_state.h"
#include "kerf/learn/solvers/solver.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/row_products.h"

namespace kerf::detail {
namespace {

constexpr double kWorthwhile = 1e-3;  // relative fall of the held-out loss
constexpr Index kTrialRows = 2048;    // on which rates are tried
constexpr Index kProductRows = 64;    // a piece of the scores of a batch

Index score_count(const Problem& p) {
  return p.options.loss != Loss::squared && p.outputs == 2 ? 1 : p.outputs;
}

/// What the rows held out tell about a fit beside a constant, gathered over an epoch.
struct HeldOutRows {
  bool classification;
  LeftOutScores scores = {};
  double weight = 0;
  std::vector<double> sums = {}, squares = {};  // of the scaled targets

  /// A row of the squared loss, whose scores are those of scaled targets.
  void add(std::span<const double> y, std::span<const double> scaled, const SgdProgress& scale,
           double row_weight) {
    std::vector<double> own(scaled.size());
    sums.resize(scaled.size());
    squares.resize(scaled.size());
    weight += row_weight;
    for (std::size_t k = 0; k < scaled.size(); ++k) {
      const double target = (y[k] - scale.origin.targets[k]) / scale.target_scale[k];
      own[k] = scaled[k] * scale.target_scale[k] + scale.origin.targets[k];
      sums[k] += row_weight * target;
      squares[k] += row_weight * target * target;
    }
    if (classification) scores.add(own, std::ranges::max_element(y) - y.begin(), row_weight);
  }
  std::optional<FitQuality> quality(double loss, const std::string& how) const {
    if (classification) return accuracy(scores, how);
    double constant = 0;
    for (std::size_t k = 0; k < sums.size(); ++k)
      constant += squares[k] / weight - std::pow(sums[k] / weight, 2);
    return explained(loss, constant / static_cast<double>(sums.size()), weight, how);
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
        classification_(problem.classification),
        outputs_(problem.outputs),
        count_(score_count(problem)),
        lambda_(problem.options.lambda.value_or(0)),
        state_(count_, problem.features),
        best_(count_, problem.features),
        folds_(std::min(options_.folds, rows.rows())),
        held_out_(rows.fold_with_rows(folds_)) {
    KERF_REQUIRE(held_out_ >= 0, data,
                 "all rows are in one of {} folds, and sgd holds one out: take more {}", folds_,
                 spell("folds"));
  }

  LinearModel run();

 private:
  using Block = TrainingRows::InputBlock;

  double row_gradient(const Block& block, Index row, std::span<double> scores);
  /// Features of those rows into `batch_`.
  void make_features(const Block& block, std::span<const Index> which);
  /// Products of those rows and the weights into `products_`; returns what is to be added.
  std::vector<double> multiply(const Block& block, std::span<const Index> which,
                               const SgdState& state);
  /// Scores of those rows, then loss and gradients in their place; returns summed loss.
  double evaluate(const Block& block, std::span<const Index> which, const SgdState& s);
  /// All batches of the first `rows` rows of a block; the mean loss before each step.
  double learn(const Block& block, Index rows, SgdState& state, double rate);
  double find_rate(const Block& block);
  void prepare(const Block& block);
  void in_order(const Block& block,
                const std::function<void(std::span<const Index>)>& receive) const;
  void hold_out(const Block& block, double& loss, double& weight);
  std::optional<double> temperature();
  double epoch(Index number);
  void save();
  LinearModel model_of(const SgdState& state) const;

  const FitOptions& options_;
  Loss loss_;
  TrainingRows& rows_;
  FitReport& outcome_;
  Checkpoint* checkpoint_;
  bool classification_;
  Index outputs_, count_;
  double lambda_;
  SgdState state_, best_;
  Index folds_, held_out_;
  SgdProgress progress_;
  InputRows inputs_;  // of a batch
  Matrix<float> batch_, products_;
  std::vector<double> scores_, intercept_gradient_;
  std::optional<HeldOutRows> held_out_rows_;  // while such rows come
  double accuracy_ = 0;                       // of the fold held out, in the last epoch
  double right_ = 0;  // weight of rows whose largest score is their class's, since it was set to 0
};

/// Scores to derivatives, in place; returns the row's loss (of several targets: their mean).
double SgdFit::row_gradient(const Block& block, Index row, std::span<double> scores) {
  const auto y = block.y.row(row);
  double value = 0;
  if (loss_ == Loss::squared) {
    if (held_out_rows_) held_out_rows_->add(y, scores, progress_, block.weights[row]);
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const double rest =
          scores[k] - (y[k] - progress_.origin.targets[k]) / progress_.target_scale[k];
      value += rest * rest / static_cast<double>(scores.size());
      scores[k] = 2 * rest;
    }
    return value;
  }
  const Index label = std::ranges::max_element(y) - y.begin();
  const Index guess = scores.size() == 1 ? (scores[0] > 0 ? 1 : 0)
                                         : std::ranges::max_element(scores) - scores.begin();
  if (guess == label) right_ += block.weights[row];
  if (held_out_rows_) held_out_rows_->scores.add(scores, label, block.weights[row]);
  value = loss_value(loss_, label, scores);
  std::vector<double> out(scores.size());
  loss_gradient(loss_, label, scores, out);
  std::ranges::copy(out, scores.begin());
  return value;
}

void SgdFit::make_features(const Block& block, std::span<const Index> which) {
  const auto size = static_cast<Index>(which.size());
  batch_.resize(size, rows_.features());
  const RowsView x = block.rows.is_sparse ? block.rows.x() : RowsView(block.rows.dense.view());
  inputs_.make_room(x, size);
  for (Index i = 0; i < size; ++i) inputs_.put(i, x, which[i]);
  rows_.features(inputs_.x(), batch_.view());
}

std::vector<double> SgdFit::multiply(const Block& block, std::span<const Index> which,
                                     const SgdState& state) {
  make_features(block, which);
  const auto size = static_cast<Index>(which.size());
  products_.resize(size, count_);
  parallel_for(size, kProductRows, [&](Index begin, Index end) {
    rows_times(batch_.view().slice(begin, end), state.weights.view(),
               products_.view().slice(begin, end));
  });
  std::vector<double> offset(count_);  // b - W c
  parallel_for(count_, 1, [&](Index k, Index) {
    const auto w = state.weights.row(k);
    double sum = 0;
    for (std::size_t j = 0; j < w.size(); ++j) sum += double{w[j]} * progress_.origin.features[j];
    offset[k] = state.intercept[k] - sum;
  });
  return offset;
}

double SgdFit::evaluate(const Block& block, std::span<const Index> which, const SgdState& state) {
  const std::vector<double> offset = multiply(block, which, state);
  const auto size = static_cast<Index>(which.size());
  std::ranges::fill(intercept_gradient_, 0.0);
  double loss = 0;
  for (Index i = 0; i < size; ++i) {
    const Index row = which[i];
    const double w = block.weights[row];
    for (Index k = 0; k < count_; ++k) scores_[k] = products_(i, k) + offset[k];
    loss += w * row_gradient(block, row, scores_);
    for (Index k = 0; k < count_; ++k) {
      const double g = w * scores_[k];
      intercept_gradient_[k] += g;
      products_(i, k) = static_cast<float>(g);
    }
  }
  return loss;
}

double SgdFit::learn(const Block& block, Index rows, SgdState& state, double rate) {
  const Index batches = (rows + options_.sgd.batch - 1) / options_.sgd.batch;
  double loss = 0, weight = 0;
  for (Index b = 0; b < batches; ++b) {
    std::vector<Index> which;
    double batch_weight = 0;
    for (Index i = b; i < rows; i += batches) {
      which.push_back(i);
      batch_weight += block.weights[i];
    }
    if (!(batch_weight > 0)) continue;
    loss += evaluate(block, which, state);
    weight += batch_weight;
    state.step({batch_.view(), products_.view(), intercept_gradient_, progress_.origin.features,
                batch_weight},
               {options_.sgd.schedule == Schedule::adagrad, rate, lambda_});
  }
  return weight > 0 ? loss / weight : 0;
}

/// The rate whose steps bring the loss down most on the first rows.
double SgdFit::find_rate(const Block& block) {
  double norm = 0;  // of the features in the batch that prepare() made
  for (Index i = 0; i < batch_.rows(); ++i)
    for (const float value : batch_.row(i)) norm += double{value} * value;
  norm = std::max(norm / static_cast<double>(batch_.rows()), 1e-30);
  const Index rows = std::min(block.rows.rows(), kTrialRows);
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 5; ++k) {
    const double rate =
        options_.sgd.schedule == Schedule::adagrad
            ? 2 * std::pow(static_cast<double>(batch_.cols()), -(4 - k) / 8.0) / std::sqrt(norm)
            : std::pow(0.25, k) / norm;
    SgdState trial(count_, batch_.cols());
    learn(block, rows, trial, rate);
    const double loss = learn(block, rows, trial, rate);
    if (loss < least) least = loss, best = rate;
  }
  KERF_REQUIRE(best > 0, numeric, "no learning rate brings the loss down: give {}",
               spell("learning-rate"));
  return best;
}

/// From the first block: origin (of its first rows' features), scales of targets.
void SgdFit::prepare(const Block& block) {
  std::vector<Index> first(static_cast<std::size_t>(
      std::min(block.rows.rows(), std::max<Index>(options_.sgd.batch, 256))));
  std::iota(first.begin(), first.end(), Index{0});
  make_features(block, first);
  progress_.origin = origin_of(batch_.view(), block.y);
  for (Index t = 0; t < block.y.cols; ++t) {
    double squares = 0;
    for (Index i = 0; i < block.y.rows; ++i)
      squares += std::pow(block.y(i, t) - progress_.origin.targets[t], 2);
    const double scale = std::sqrt(squares / static_cast<double>(block.y.rows));
    progress_.target_scale.push_back(scale > 0 ? scale : 1.0);
  }
}

/// receive(row numbers) for one batch of a block's rows after the other.
void SgdFit::in_order(const Block& block,
                      const std::function<void(std::span<const Index>)>& receive) const {
  std::vector<Index> which;
  for (Index i = 0; i < block.rows.rows(); ++i) {
    which.push_back(i);
    if (static_cast<Index>(which.size()) < options_.sgd.batch && i + 1 < block.rows.rows())
      continue;
    receive(which);
    which.clear();
  }
}

/// Adds the loss and the weight of all rows of a block.
void SgdFit::hold_out(const Block& block, double& loss, double& weight) {
  in_order(block, [&](std::span<const Index> which) {
    loss += evaluate(block, which, state_);
    for (const Index i : which) weight += block.weights[i];
  });
}

/// Probabilities: the best epoch's scores of the fold held out, which its steps have not seen.
std::optional<double> SgdFit::temperature() {
  LeftOutScores left_out;
  rows_.for_each_input(folds_, held_out_, [&](const Block& block) {
    if (!block.held_out || left_out.enough()) return;
    in_order(block, [&](std::span<const Index> which) {
      const auto offset = multiply(block, which, best_);
      for (Index i = 0; i < std::ssize(which); ++i) {
        for (std::size_t k = 0; k < scores_.size(); ++k) {
          scores_[k] = products_(i, static_cast<Index>(k)) + offset[k];
          if (loss_ == Loss::squared)
            scores_[k] = scores_[k] * progress_.target_scale[k] + progress_.origin.targets[k];
        }
        const Index row = which[i];
        const auto y = block.y.row(row);
        left_out.add(scores_, std::ranges::max_element(y) - y.begin(), block.weights[row]);
      }
    });
  });
  return left_out.temperature();
}

/// One pass; the mean loss of the fold held out.
double SgdFit::epoch(Index number) {
  double loss = 0, weight = 0, right = 0;
  std::optional<HeldOutRows> rows(std::in_place, HeldOutRows{.classification = classification_});
  rows_.for_each_input(folds_, held_out_, [&](const Block& block) {
    const double features = rows_.seconds().features;
    {
      const Stopwatch watch(rows_.seconds().solve);
      if (progress_.origin.features.empty()) prepare(block);
      if (block.held_out) {
        right_ = 0;
        held_out_rows_.swap(rows);
        hold_out(block, loss, weight);
        held_out_rows_.swap(rows);
        right += right_;
      } else {
        if (progress_.rate == 0)
          progress_.rate =
              options_.sgd.learning_rate ? *options_.sgd.learning_rate : find_rate(block);
        const bool falls = options_.sgd.schedule == Schedule::inverse;
        learn(block, block.rows.rows(), state_,
              falls ? progress_.rate / (1 + static_cast<double>(number)) : progress_.rate);
      }
    }
    rows_.seconds().solve -= rows_.seconds().features - features;
  });
  KERF_REQUIRE(weight > 0, data, "the rows held out, one fold of {}, weigh nothing: take fewer {}",
               folds_, spell("folds"));
  accuracy_ = right / weight;
  if (loss / weight < progress_.best)
    outcome_.quality = rows->quality(loss / weight, "one fold held out, met on the way");
  return loss / weight;
}

void SgdFit::save() {
  ArrayWriter arrays;
  progress_.save(arrays);
  state_.save(arrays, "now-");
  best_.save(arrays, "best-");
  checkpoint_->save("state", arrays);
}

LinearModel SgdFit::model_of(const SgdState& state) const {
  const Index m = state.weights.cols();
  const bool two = count_ != outputs_;
  LinearModel model{Matrix<double>(m, outputs_), {}};
  for (Index t = 0; t < outputs_; ++t) {
    const Index k = two ? 0 : t;
    double factor = two ? (t == 0 ? -0.5 : 0.5) : 1.0;
    if (loss_ == Loss::squared) factor = progress_.target_scale[t];
    double b = factor * state.intercept[k];
    if (loss_ == Loss::squared) b += progress_.origin.targets[t];
    for (Index j = 0; j < m; ++j) {
      model.weights(j, t) = factor * state.weights(k, j);
      b -= model.weights(j, t) * progress_.origin.features[j];
    }
    model.intercept.push_back(b);
  }
  return model;
}

LinearModel SgdFit::run() {
  progress_.best = std::numeric_limits<double>::infinity();
  scores_.resize(count_);
  intercept_gradient_.resize(scores_.size());
  if (checkpoint_)
    if (const auto kept = checkpoint_->load("state")) {
      progress_.load(*kept->arrays, state_.weights.cols(), outputs_);
      state_.load(*kept->arrays, "now-");
      best_.load(*kept->arrays, "best-");
    }
  Index& number = progress_.next;
  for (Index pass = 0; pass < number; ++pass) rows_.skip_pass();
  const Index patience = options_.sgd.patience > 0 ? options_.sgd.patience : options_.sgd.epochs;
  while (number < options_.sgd.epochs && progress_.waited < patience) {
    // What is held out is met on the way, the last block of it at the end of the epoch.
    const double loss = epoch(number);
    ++outcome_.passes;
    KERF_REQUIRE(std::isfinite(loss), numeric,
                 "the steps of sgd diverged in epoch {}: take a smaller {}", number + 1,
                 spell("learning-rate"));
    const bool worthwhile = loss < (1 - kWorthwhile) * progress_.best;
    progress_.waited = worthwhile ? 0 : progress_.waited + 1;
    if (loss < progress_.best) {
      progress_.best = loss;
      copy_rows(state_.weights.view(), best_.weights.view());
      best_.intercept = state_.intercept;
    }
    ++number;
    std::string note = fmt::format("epoch {}: held-out loss {:.4f}", number, loss);
    if (loss_ != Loss::squared) note += fmt::format(", accuracy {:.4f}", accuracy_);
    outcome_.notes.push_back(note);
    if (checkpoint_ && checkpoint_->due()) save();
  }
  outcome_.lambda = lambda_;
  outcome_.cv_error = progress_.best;
  outcome_.validation = "one fold held out, met on the way";
  outcome_.metric = loss_ == Loss::squared ? "mean squared error of the scaled targets"
                                           : std::string(name_of(loss_)) + " loss";
  if (classification_) outcome_.temperature = temperature();
  outcome_.notes.push_back(
      fmt::format("learning rate {:.3g}, {} epochs", progress_.rate, outcome_.passes));
  return model_of(best_);
}

Index bytes(const Problem& p) {
  const Index scores = score_count(p);
  const Index block = TrainingRows::input_block_rows(p.inputs, p.rows);
  return p.map_bytes + 3 * block * (4 * p.inputs + 8 * p.outputs) +
         p.features * (24 * scores + 8 * p.outputs + 4 * std::max<Index>(256, p.options.sgd.batch));
}

double seconds(const Problem& p) {
  const double product = 4 * static_cast<double>(p.rows) * static_cast<double>(p.features) *
                         static_cast<double>(score_count(p)) / (0.25 * speed::kSingle * threads());
  return static_cast<double>(p.options.sgd.epochs) * (feature_pass_seconds(p) + product);
}

}  // namespace

SolverEntry sgd_solver() {
  return {"sgd",
          "stochastic gradients: so many features that nothing else fits",
          [](const Problem& p) {
            if (p.rows < 4) return std::string("needs at least 4 rows");
            if (p.options.variance)
              return std::string("has no variances: they are those of a minimiser");
            if (p.options.precision == Precision::double_)
              return std::string("works in single precision");
            const bool chooses = p.options.lambda_per_target || !p.options.lambda_grid.empty() ||
                                 p.options.validation != Validation::folds;
            return std::string(chooses ? "does not choose lambda" : "");
          },
          bytes,
          seconds,
          [](const Problem& problem, TrainingRows& rows, FitReport& outcome) {
            return SgdFit(problem, rows, outcome).run();
          },
          {.identity = "5", .drawback = "which ends short of the least error", .fresh_rows = true},
          list_options<SgdOptions>,
          // Its weights at any moment depend on these.
          [](const FitOptions& o) {
            return fmt::format(", {:.17g} {} {} {} {:.17g}", o.lambda.value_or(0), o.folds,
                               o.sgd.batch, static_cast<int>(o.sgd.schedule),
                               o.sgd.learning_rate.value_or(0));
          }};
}

}  // namespace kerf::detail
