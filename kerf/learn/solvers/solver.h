// The contract of solvers, their table, and the choice among them by a model of their cost.
//
// A solver turns a stream of features and targets into weights; each is one file solver_*.cpp and
// one line of the table in solver.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/learn/ridge/machine_speed.h"
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

/// How long a fit takes, in seconds: the first pass over the rows, with reading and features and what is
/// kept of them, and all that comes after it.
struct ExpectedSeconds {
  double pass = 0, rest = 0;
  double total() const { return pass + rest; }
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
  /// Expected time: choices count with assumed_speeds(), words for people with measured ones.
  ExpectedSeconds (*seconds)(const Problem&, const Speeds&);
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
  struct Candidate {
    const SolverEntry* entry;
    double seconds;  ///< expected, at the speeds that are assumed
    Index bytes;
  };
  const SolverEntry* entry;
  std::vector<Candidate> others = {};  ///< that could have been taken, the next best first
  bool asked_for = false;              ///< by its name
};

/// The solver asked for (Error (usage) if it cannot), or the quickest that keeps to the memory, or
/// the leanest where none does: whether that is too much is for the caller to say.  One that has a
/// drawback is taken only if it is named or nothing else can do what is asked for.
SolverChoice choose_solver(const Problem& problem);

/// Says in the notes that the fit went on from its checkpoint, with `what` was done before.
void note_resumed(const FitOptions& options, const std::string& what, FitReport& outcome);

/// "about 3.2 s", "less than 0.1 s": as precise as a model of cost deserves.
std::string about_seconds(double seconds);

/// The choice in words, with times as they are expected at these speeds: "as asked, about 2 s expected".
std::string reason_for(const SolverChoice& choice, const Problem& problem, const Speeds& speeds);

/// Measured on some of the rows, scaled, in a few milliseconds if the map is quick; 0: there are none.
double feature_row_seconds(const FeatureMap& map, const RowsView& sample);

/// Time of one pass that reads all rows and computes their features.
double feature_pass_seconds(const Problem& problem, const Speeds& speeds);
/// Time of sums over all rows, in the precision of the fit, and of a factor.
double sums_seconds(const Problem& problem, const Speeds& speeds);
double factor_seconds(const Problem& problem, const Speeds& speeds);

}  // namespace kerf::detail
