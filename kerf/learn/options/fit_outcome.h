// What a fit says about itself, and what it gives: the words that solvers, choices and faces share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kerf/learn/options/fit_options.h"
#include "kerf/model/model.h"

namespace kerf::detail {

/// Lambdas that were tried and the one that was taken (learn/lambda).
struct LambdaChoice {
  struct Point {
    double lambda, cv_error;
  };
  double lambda = 0;
  double cv_error = 0;
  std::vector<Point> path;         ///< everything tried, by lambda
  std::vector<double> per_target;  ///< one for each target, where that was asked for
  std::vector<double> target_errors =
      {};  ///< of each target, whose mean cv_error is; none: not known
};

/// A kernel and the map that stands for it in a choice (learn/choice).
struct MapCandidate {
  std::string map;
  Params options;  ///< what distinguishes it and nothing automatic; no number of features
  /// "ntk, depth 2, bias 1": lengths in units of the data's own (median distance, typical length).
  std::string label;
  std::string kernel;     ///< its name: a round drops no kernel's last candidate
  Params kernel_options;  ///< what distinguishes it as options of the kernel
  /// The numbers of its label, as the kernel declared them.
  std::vector<KernelCandidate::Setting> settings = {};
  int beyond = 0;  ///< steps beyond the grid that the kernel declared
};

struct MapChoice {
  /// One rung: how many rows, how many features (0: the exact kernel).
  struct Round {
    Index rows = 0, features = 0;
  };
  struct Trial {
    MapCandidate candidate;
    std::vector<double> errors;  ///< mean squared error of each round it took part in
    int lambda_step = 0;         ///< best lambda of the last of them (leave_one_out.h)
  };
  std::vector<Round> rounds;
  std::vector<Trial> trials;  ///< best first
  std::string reason;         ///< why the first one won, in a sentence
  double seconds = 0;

  const MapCandidate& winner() const { return trials.front().candidate; }
};

/// What became of learning a metric (learn/fit/metric_fit.h).
struct MetricReport {
  bool taken = false;
  std::string reason;        ///< what was learned, and what it was compared with, in words
  double error = 0;          ///< mean squared error with it, of rows that it never saw
  double error_without = 0;  ///< the same without
  Index learned_rows = 0, judged_rows = 0;
  double seconds = 0, read_seconds = 0;
};

struct FitReport {
  /// Where the time went: every second is in one of them, or in other().
  struct Seconds {
    double open = 0;  ///< the first pass over the data, which finds out what they are
    double choose = 0, read = 0, features = 0, accumulate = 0, lambda = 0, solve = 0, calibrate = 0;
    double total = 0;

    double other() const;
    struct Part {
      const char *name, *words;
      double seconds;
    };
    /// In their order, other() last.
    std::vector<Part> parts() const;
    /// Everything but the total.
    void add(const Seconds& more);
  };
  Seconds seconds;
  double lambda = 0;
  std::vector<double> lambda_per_target;                     ///< empty: one for all
  std::string metric = "mean squared error of the targets";  ///< that cv_error is
  std::optional<double> temperature;  ///< classification: probabilities are softmax of it x scores
  std::optional<double> cv_error;     ///< mean squared error, left out rows; none: lambda given
  std::string validation;             ///< how cv_error was found, in words
  std::optional<FitQuality> quality;  ///< beside a constant (fit_quality.h)
  std::vector<LambdaChoice::Point> path;  ///< lambdas tried
  ScaleKind scale = ScaleKind::none;      ///< what auto came to
  std::string solver;                     ///< its name
  std::string solver_reason;              ///< why this one, in words
  double expected_seconds = 0;          ///< of features and solver, before they began; 0: not known
  Index estimated_memory = 0;           ///< before the fit began
  std::string memory_note;              ///< for the first line of a report, or "" (fit_memory.h)
  Index passes = 0;                     ///< over the features after the first; 0: a direct solver
  double residual = 0;                  ///< of an iterative solver, relative and preconditioned
  std::vector<std::string> notes;       ///< how the solver went about it
  std::vector<std::string> warnings;    ///< what the user should know about the result
  bool wants_double = false;            ///< one of them is that single precision was too little
  std::optional<MapChoice> map_choice;  ///< --map auto: what was tried and why it won
  std::optional<MetricReport> metric_report;  ///< none: nothing was tried
  /// --features auto: every number of features tried.
  struct Growth {
    Index features;
    double cv_error, seconds;
  };
  std::vector<Growth> growth;
  std::string growth_reason;  ///< why it stopped, in words

  void take(LambdaChoice choice) {
    lambda = choice.lambda;
    cv_error = choice.cv_error;
    path = std::move(choice.path);
    lambda_per_target = std::move(choice.per_target);
  }
};

inline double FitReport::Seconds::other() const {
  const double known = open + choose + read + features + accumulate + lambda + solve + calibrate;
  return total > known ? total - known : 0;
}

inline std::vector<FitReport::Seconds::Part> FitReport::Seconds::parts() const {
  return {{"open", "first look at the data", open},
          {"choose", "choosing the kernel", choose},
          {"read", "reading", read},
          {"features", "features", features},
          {"accumulate", "sums", accumulate},
          {"lambda", "choosing lambda", lambda},
          {"solve", "solving", solve},
          {"calibrate", "calibrating", calibrate},
          {"other", "the rest", other()}};
}

inline void FitReport::Seconds::add(const Seconds& more) {
  open += more.open;
  choose += more.choose;
  read += more.read;
  features += more.features;
  accumulate += more.accumulate;
  lambda += more.lambda;
  solve += more.solve;
  calibrate += more.calibrate;
}

struct FitResult {
  Model model;
  FitReport report;
};

}  // namespace kerf::detail
