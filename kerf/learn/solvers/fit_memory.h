// What memory a fit may take, which solver keeps to it and how many features fit.
//
//   --memory given   that much: a fit that needs more is refused, with what would fit
//   not given        a quarter of what is free.  Where no solver does with so little, the leanest
//                    takes what it needs of the rest, and the report's first line says so.
//
// Counted is what the fit allocates: rows, features, sums, solution and the scratch of BLAS.  Not
// counted is the program itself with its libraries, what a fit of ten rows takes (about 15 MB).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/learn/options/fit_job.h"
#include "kerf/learn/solvers/solver.h"

namespace kerf::detail {

/// Sizes and memory of a fit; `map_options`: complete.  Refers to `options`.
Problem problem_of(const DataSummary& summary, const FeatureMapEntry& map,
                   const Params& map_options, const FitOptions& options, Index memory_limit);
inline Problem problem_of(const FitJob& job, const FeatureMapEntry& map,
                          const Params& map_options) {
  return problem_of(job.summary, map, map_options, job.options, job.memory_limit);
}

struct SolverPlan {
  SolverChoice choice;
  Index bytes = 0;  ///< peak memory of the fit
};
SolverPlan plan_solver(const Problem& problem);

/// Error (memory) if the plan takes more than there is: it names what would fit.  `map_options`: as
/// the user gave them.
void require_fit_memory(const FitJob& job, const FeatureMapEntry& entry, const Params& map_options,
                        const Problem& problem, const SolverPlan& plan);

/// The number of features asked for if a fit with it keeps to the memory, or else the most below it
/// that do, in steps of 64; 0: not even two do.
Index features_that_fit(const FitJob& job, const FeatureMapEntry& entry, const Params& map_options,
                        Index asked);

/// What the first line of a report says: "" if `needed` keeps to the budget, or else how much it is
/// and what `leanest` it is.
std::string memory_note(Index needed, Index limit, const std::string& leanest);

/// Bytes of so many rows, sparse ones as many numbers a row as in the sample.
Index bytes_of_rows(const DataSummary& summary, Index rows,
                    Precision precision = Precision::single_);

/// Error (memory) of fit(), raised without work.
void check_fit_memory(const FitJob& job, const std::string& map, const Params& map_options);

}  // namespace kerf::detail
