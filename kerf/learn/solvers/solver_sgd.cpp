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
#include "kerf/learn/solvers/sgd.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr double kWorthwhile = 1e-3;  // relative fall of the held-out loss
constexpr Index kTrialRows = 2048;    // on which rates are tried

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
        held_out_(rows.fold_with_rows(folds_)),
        batches_(problem, rows, progress_) {
    KERF_REQUIRE(held_out_ >= 0, data,
                 "all rows are in one of {} folds, and sgd holds one out: take more {}", folds_,
                 spell("folds"));
  }

  LinearModel run();

 private:
  using Block = TrainingRows::InputBlock;

  double find_rate(const Block& block);
  void prepare(const Block& block);
  void hold_out(const Block& block, double& loss, double& weight);
  std::optional<double> temperature();
  double epoch(Index number);
  std::string held_out_words() const {
    return fmt::format("one fold of {} held out, scored during the best epoch", folds_);
  }
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
  SgdBatches batches_;
  double accuracy_ = 0;  // of the fold held out, in the last epoch
};

/// The rate whose steps bring the loss down most on the first rows.
double SgdFit::find_rate(const Block& block) {
  const auto batch = batches_.features();  // that prepare() made
  const Index features = batch.cols;
  double norm = 0;
  for (Index i = 0; i < batch.rows; ++i)
    for (const float value : batch.row(i)) norm += double{value} * value;
  norm = std::max(norm / static_cast<double>(batch.rows), 1e-30);
  const Index rows = std::min(block.rows.rows(), kTrialRows);
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 5; ++k) {
    const double rate =
        options_.sgd.schedule == Schedule::adagrad
            ? 2 * std::pow(static_cast<double>(features), -(4 - k) / 8.0) / std::sqrt(norm)
            : std::pow(0.25, k) / norm;
    SgdState trial(count_, features);
    batches_.learn(block, rows, trial, rate);
    const double loss = batches_.learn(block, rows, trial, rate);
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
  batches_.make_features(block, first);
  progress_.origin = origin_of(batches_.features(), block.y);
  for (Index t = 0; t < block.y.cols; ++t) {
    double squares = 0;
    for (Index i = 0; i < block.y.rows; ++i)
      squares += std::pow(block.y(i, t) - progress_.origin.targets[t], 2);
    const double scale = std::sqrt(squares / static_cast<double>(block.y.rows));
    progress_.target_scale.push_back(scale > 0 ? scale : 1.0);
  }
}

/// Adds the loss and the weight of all rows of a block.
void SgdFit::hold_out(const Block& block, double& loss, double& weight) {
  batches_.in_order(block, [&](std::span<const Index> which) {
    loss += batches_.evaluate(block, which, state_);
    for (const Index i : which) weight += block.weights[i];
  });
}

/// Probabilities: the best epoch's scores of the fold held out, which its steps have not seen.
std::optional<double> SgdFit::temperature() {
  LeftOutScores left_out;
  rows_.for_each_input(folds_, held_out_, [&](const Block& block) {
    const PhaseClock watch(rows_.seconds().solve);
    if (!block.held_out || left_out.enough()) return;
    batches_.in_order(block, [&](std::span<const Index> which) {
      const auto offset = batches_.multiply(block, which, best_);
      for (Index i = 0; i < std::ssize(which); ++i) {
        const auto scores = batches_.scores(i, offset);
        if (loss_ == Loss::squared)
          for (std::size_t k = 0; k < scores.size(); ++k)
            scores[k] = scores[k] * progress_.target_scale[k] + progress_.origin.targets[k];
        const Index row = which[i];
        const auto y = block.y.row(row);
        left_out.add(scores, std::ranges::max_element(y) - y.begin(), block.weights[row]);
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
    {
      const PhaseClock watch(rows_.seconds().solve);
      if (progress_.origin.features.empty()) prepare(block);
      if (block.held_out) {
        batches_.right = 0;
        batches_.held_out.swap(rows);
        hold_out(block, loss, weight);
        batches_.held_out.swap(rows);
        right += batches_.right;
      } else {
        if (progress_.rate == 0)
          progress_.rate =
              options_.sgd.learning_rate ? *options_.sgd.learning_rate : find_rate(block);
        const bool falls = options_.sgd.schedule == Schedule::inverse;
        batches_.learn(block, block.rows.rows(), state_,
                       falls ? progress_.rate / (1 + static_cast<double>(number)) : progress_.rate);
      }
    }
  });
  KERF_REQUIRE(weight > 0, data, "the rows held out, one fold of {}, weigh nothing: take fewer {}",
               folds_, spell("folds"));
  accuracy_ = right / weight;
  if (loss / weight < progress_.best) outcome_.quality = rows->quality(held_out_words());
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
  if (checkpoint_)
    if (const auto kept = checkpoint_->load("state")) {
      progress_.load(*kept->arrays, state_.weights.cols(), outputs_);
      state_.load(*kept->arrays, "now-");
      best_.load(*kept->arrays, "best-");
      note_resumed(options_, fmt::format("{} epochs were made before", progress_.next), outcome_);
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
  outcome_.validation = held_out_words();
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

ExpectedSeconds seconds(const Problem& p, const Speeds& s) {
  const double product = 4 * static_cast<double>(p.rows) * static_cast<double>(p.features) *
                         static_cast<double>(score_count(p)) / (0.25 * s.sums);
  const double epoch = feature_pass_seconds(p, s) + product;
  return {epoch, static_cast<double>(p.options.sgd.epochs - 1) * epoch};
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
