// `kerf plan`: the smallest number of features that meets a target, what it costs, and how to ask
// for it.
//
// The targets: epsilon or the relative error of the kernel matrix (Frobenius norm) on a sample of
// the rows (kernel_quality.h), or the error on held-out rows of whole fits.
//
// Measured: values v of `seeds` maps at m = 32, 64, 128, ..., each time with new seeds.  A line
//   log v = a - b log m,  by least squares through the sizes within a factor of 5 of the last,
// and the prediction limit of one more value at m,
//   u(m) = exp(a - b log m + t sd sqrt(1 + h(m))),  t: Student's 97.5 % quantile,
// (validation errors: the same of v in place of log v, because they may be 0 and spread alike at
// every size) give the least m with u(m) <= target.  As soon as that m is at most twice the largest measured,
// it is measured itself and the line drawn again, until it holds.  Where m would be larger than
// `most`, it is extrapolated with a slope b of at most 1/2, theory's, and the answer says so.  A
// validation error that no longer falls is reported as out of reach.
//
// The promise: a map with another seed, on another sample, meets the target; how often it does is
// measured by experiments/plan_promise.py.
// Cost:       about 3 to 4 times that of the last size.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kerf/insight/measure/sampled_map.h"
#include "kerf/insight/plan/bounds.h"
#include "kerf/learn/options/fit_options.h"
#include "kerf/learn/ridge/machine_speed.h"

namespace kerf::detail {

struct PlanOptions {
  double epsilon = 0, kernel_error = 0, validation_error = 0;
  std::optional<double> lambda;
  double delta = 0.1, holdout = 0.2;
  Index sample = 1000, seeds = 5, most = 16384;
  ScaleKind scale = ScaleKind::automatic;
  Index seed = 1;

  void describe(OptionVisitor& v) {
    v.real("epsilon", epsilon, {0, 1e6}, "target: spectral epsilon at lambda; 0: not asked for");
    v.real("kernel-error", kernel_error, {0, 1e6},
           "target: relative error of the kernel matrix, Frobenius norm");
    v.real("validation-error", validation_error, {0, 1e300},
           "target: part of the held-out rows that is wrong, or 1 - r2 of a regression");
    v.automatic("lambda", lambda, kAnyPositive,
                "ridge penalty, as in fit; auto: 1e-4, and chosen by each fit for a validation "
                "error");
    v.real("delta", delta, {1e-9, 0.999}, "chance of failure that theory's bounds allow");
    v.real("holdout", holdout, {0.01, 0.9}, "part of the rows that a validation error is of");
    v.integer("sample", sample, {2, 100000}, "rows to measure on, for epsilon and kernel error");
    v.integer("seeds", seeds, {2, 1000}, "maps to draw for each number of features");
    v.integer("most", most, {2, 1 << 20},
              "largest number of features to measure; of a validation error no more than rows");
    v.choice("scale", scale, "how columns are scaled, as in fit");
    v.integer("seed", seed, {0, 9007199254740992.0}, "seed of the sample and of the first map");
  }
};

/// Time and memory of a fit to all rows.
struct FitCost {
  Index features = 0;
  double seconds = 0;  ///< expected of a fit, as the fit itself will say
  Index memory = 0;
  std::string solver;
};

struct Plan {
  struct Size {
    Index features = 0;
    std::vector<double> values;  ///< of the goal, one a seed
    double limit = 0;            ///< what another map stays below, when last looked at
  };
  PlanGoal goal = PlanGoal::epsilon;
  double target = 0;
  std::string map;
  Params options;  ///< of the answer, or of the largest size; nothing automatic
  Index rows = 0, cols = 0, sample = 0;
  std::optional<double> lambda;      ///< of the measurements; none: chosen by each fit
  std::optional<double> fit_lambda;  ///< of the fit that is recommended; none: chosen by it
  std::optional<double> statistical_dimension;  ///< none: no kernel was looked at
  std::vector<Size> sizes;                      ///< measured, ascending
  std::optional<Index> features;                ///< the answer; none: out of reach
  bool extrapolated = false;
  double slope = 0;    ///< -b of the last line
  std::string reason;  ///< how the answer came about, in words
  std::vector<FeatureBound> bounds;
  std::vector<FitCost> costs;              ///< of the sizes measured and of the answer, ascending
  std::vector<std::string> warnings = {};  ///< of maps whose features are all 0
  double seconds = 0;
};

Plan make_plan(RowSource& source, const DataSummary& summary, const std::string& map,
               const Params& map_options, const PlanOptions& options, Index memory_limit = 0,
               const Progress& progress = {});

/// What a fit to all rows takes at these speeds; `options`: the map's, complete.
FitCost fit_cost(const DataSummary& summary, const FeatureMapEntry& map, const Params& options,
                 const FitOptions& fit, const Speeds& speeds, Index memory_limit);

/// `fit`: the command that was recommended; `command` repeats the plan.
std::string plan_report(const Plan& plan, const std::string& fit, const std::string& command);

}  // namespace kerf::detail
