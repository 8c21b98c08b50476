// The contract of solvers, their table, and the choice among them by a model of their cost.
//
// A solver turns a stream of features and targets into weights; each is one file solver_*.cpp and
// one line of the table in solver.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/learn/rows/checkpoint.h"
#include "kerf/learn/rows/training_rows.h"

namespace kerf::detail {

/// The size of a fit: all that memory and time depend on.
struct Problem {
  Index rows, inputs, features, outputs;
  Index map_bytes = 0;  ///< memory of the feature map
  Index memory = 0;     ///< to keep to (memory_budget() of core/memory.h)
  const FitOptions& options;
  bool classification = false;
  Checkpoint* checkpoint = nullptr;        ///< none: nothing is kept
  Index copies = 1;                        ///< consecutive rows made of one example
  const Matrix<float>* penalty = nullptr;  ///< P of the penalty w^T P w; none: the identity
  Index most = 0;                          ///< that may be used where nothing keeps to `memory`
  Index entries = 0;  ///< of all sparse rows, about, where features are the rows themselves; else 0
};

/// What others ask of a solver.
struct SolverTraits {
  /// How checkpoints know it, if not by its name: those of early versions have numbers.
  const char* identity = nullptr;
  /// What it does worse than the others, in words: auto takes it only where no other can do what is
  /// asked for.
  const char* drawback = nullptr;
  /// Its time is a guess: it must be worth so many times what is expected.
  double handicap = 1;
  /// Sums of fewer rows than features in single precision are singular but for their rounding: auto
  /// leaves them to others that fit.
  bool wants_many_rows = false;
  bool keeps_sums = false;         ///< in a checkpoint: what `kerf refit` solves again
  bool takes_penalty = false;      ///< Problem::penalty, where lambda is given
  bool takes_sparse_rows = false;  ///< Problem::entries: rows that are their own features
  bool among_rows = false;         ///< one number a row, as the exact kernel has
  bool block_by_block = false;     ///< rows may come after the fit (incremental.h)
  bool fresh_rows = false;         ///< passes over the rows many times, which may differ each time
};

struct SolverEntry {
  const char* name;
  const char* summary;
  /// Why it cannot solve this problem, in words; "" if it can.
  std::string (*refuses)(const Problem&);
  /// Peak memory, the feature map and blocks of the pass included.
  Index (*bytes)(const Problem&);
  /// Expected time, for comparison with the other solvers only.
  double (*seconds)(const Problem&);
  LinearModel (*fit)(const Problem&, TrainingRows&, FitReport&);
  SolverTraits traits = {};
  /// Options of a fit that are of no other solver; null: none.
  std::vector<OptionInfo> (*options)() = nullptr;
  /// What its state in a checkpoint depends on besides the data and the map, beginning with ", ";
  /// null: nothing.
  std::string (*state_identity)(const FitOptions&) = nullptr;
};

std::span<const SolverEntry> solvers();
/// The entry of that name; an unknown name is an Error (usage) with the nearest match.
const SolverEntry& find_solver(std::string_view name);
/// Its traits; those of no solver for "auto".
SolverTraits solver_traits(std::string_view name);
/// The first solver of the table that has this trait.
const SolverEntry& solver_that(bool SolverTraits::*trait);
/// Error (usage) if options are given that are another solver's.
void check_solver_options(const FitOptions& options);

struct SolverChoice {
  const SolverEntry* entry;
  std::string reason;
};

/// The solver asked for (Error (usage) if it cannot), or the quickest that keeps to the memory, or
/// the leanest where none does: whether that is too much is for the caller to say.  One that has a
/// drawback is taken only if it is named or nothing else can do what is asked for.
SolverChoice choose_solver(const Problem& problem);

/// The speeds that the models of cost assume of each thread.  Only ratios matter for the choice.
namespace speed {
inline constexpr double kSingle = 70e9;  ///< flops a second of matrix products in single precision
inline constexpr double kThin = 20e9;    ///< the same where one matrix has a few columns only
inline constexpr double kDouble = 30e9;
inline constexpr double kMemory = 8e9;  ///< bytes a second
}  // namespace speed

/// Time of one pass that computes the features of all rows.
double feature_pass_seconds(const Problem& problem);

}  // namespace kerf::detail
