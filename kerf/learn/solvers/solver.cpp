// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/solver.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

constexpr Index kMuchMemory = 8;
constexpr double kLittleTime = 1.5;
constexpr double kInstant = 0.1;  // seconds, below which only an order of size is known

}  // namespace

std::string about_seconds(double seconds) {
  if (seconds < kInstant) return "less than 0.1 s";
  return seconds < 120 ? fmt::format("about {:.2g} s", seconds)
                       : fmt::format("about {:.2g} min", seconds / 60);
}

// A solver's file defines SolverEntry x_solver(), which is declared where it stands in the table.
#define KERF_SOLVER(name)               \
  [] {                                  \
    extern SolverEntry name##_solver(); \
    return name##_solver();             \
  }()

std::span<const SolverEntry> solvers() {
  static const SolverEntry table[] = {
      KERF_SOLVER(cholesky),  //
      KERF_SOLVER(dual),      //
      KERF_SOLVER(pcg),       //
      KERF_SOLVER(newton),    //
      KERF_SOLVER(sgd),       //
      KERF_SOLVER(sparse),    //
  };
  return table;
}

std::span<const char* const> solver_names() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> all = {kAutoSolver};
    for (const SolverEntry& entry : solvers()) all.push_back(entry.name);
    return all;
  }();
  return names;
}

const SolverEntry& find_solver(std::string_view name) {
  for (const SolverEntry& entry : solvers())
    if (entry.name == name) return entry;
  const std::vector<std::string> names(solver_names().begin(), solver_names().end());
  fail(ErrorKind::usage, "there is no solver '{}'{}; solvers are {}", name,
       did_you_mean(name, names), fmt::join(names, ", "));
}

SolverTraits solver_traits(std::string_view name) {
  return name == kAutoSolver ? SolverTraits() : find_solver(name).traits;
}

const SolverEntry& solver_that(bool SolverTraits::*trait) {
  const auto found = std::ranges::find_if(
      solvers(), [&](const SolverEntry& entry) { return entry.traits.*trait; });
  KERF_REQUIRE(found != solvers().end(), usage, "no solver can do what is asked for");
  return *found;
}

void check_solver_options(const FitOptions& options) {
  const Params given = write_options(options);
  for (const SolverEntry& entry : solvers()) {
    if (entry.options == nullptr || options.solver == entry.name) continue;
    const auto own = entry.options();
    const auto is_given = [&](const OptionInfo& o) { return given.at(o.name) != o.default_value; };
    if (std::ranges::none_of(own, is_given)) continue;
    std::string names;
    for (const OptionInfo& option : own)
      names += (names.empty() ? "" : &option == &own.back() ? " and " : ", ") + spell(option.name);
    fail(ErrorKind::usage, "{} are options of {}, not of {}", names, spell("solver", entry.name),
         options.solver);
  }
}

double feature_pass_seconds(const Problem& p, const Speeds& s) {
  const auto n = static_cast<double>(p.rows);
  // Products with the inputs, and some twenty operations more for each feature.
  const double modelled =
      static_cast<double>(p.features) * (2 * static_cast<double>(p.inputs) + 20) / s.sums;
  return n * (s.read_row + (s.feature_row > 0 ? s.feature_row : modelled));
}

double sums_seconds(const Problem& p, const Speeds& s) {
  const auto n = static_cast<double>(p.rows), m = static_cast<double>(p.features);
  return n * m * m / (p.options.precision == Precision::single_ ? s.sums : s.sums_double);
}

double factor_seconds(const Problem& p, const Speeds& s) {
  const auto m = static_cast<double>(p.features);
  return m * m * m / 3 / s.factor;
}

SolverChoice choose_solver(const Problem& problem) {
  KERF_REQUIRE(problem.options.loss == Loss::squared || problem.classification, usage,
               "{} is for classification; regression has the squared loss",
               spell("loss", name_of(problem.options.loss)));
  if (problem.options.solver != kAutoSolver) {
    const SolverEntry& entry = find_solver(problem.options.solver);
    const std::string refusal = entry.refuses(problem);
    KERF_REQUIRE(refusal.empty(), usage, "{} {}", spell("solver", entry.name), refusal);
    return {&entry, {}, true};
  }
  using Candidate = SolverChoice::Candidate;
  const Speeds assumed = assumed_speeds();
  std::vector<Candidate> candidates;
  std::string refusals;
  for (const SolverEntry& entry : solvers()) {
    const std::string refusal = entry.refuses(problem);
    if (refusal.empty())
      candidates.push_back({&entry, entry.seconds(problem, assumed).total(), entry.bytes(problem)});
    else
      refusals += fmt::format("{}{} {}", refusals.empty() ? "" : "; ", entry.name, refusal);
  }
  KERF_REQUIRE(!candidates.empty(), usage, "no solver has all that is asked for: {}", refusals);
  const auto fits = [&](const Candidate& c) { return c.bytes <= problem.memory; };
  const auto has_drawback = [](const Candidate& c) { return c.entry->traits.drawback != nullptr; };
  const auto wants_rows = [](const Candidate& c) { return c.entry->traits.wants_many_rows; };
  if (!std::ranges::all_of(candidates, has_drawback)) std::erase_if(candidates, has_drawback);
  const bool another = std::ranges::any_of(
      candidates, [&](const Candidate& c) { return !wants_rows(c) && fits(c); });
  if (another && problem.rows <= problem.features &&
      problem.options.precision == Precision::single_)
    std::erase_if(candidates, wants_rows);
  const auto handicap = [](const Candidate& c) { return c.entry->traits.handicap * c.seconds; };
  std::ranges::sort(candidates, [&](const Candidate& a, const Candidate& b) {
    if (fits(a) != fits(b)) return fits(a);
    return fits(a) ? handicap(a) < handicap(b) : a.bytes < b.bytes;
  });
  // Many times the memory is worth it only for much less time.
  const auto lean = std::ranges::find_if(candidates, [&](const Candidate& c) {
    return kMuchMemory * c.bytes <= candidates.front().bytes &&
           c.seconds <= kLittleTime * candidates.front().seconds;
  });
  if (lean != candidates.end()) std::rotate(candidates.begin(), lean, lean + 1);
  const SolverEntry* best = candidates.front().entry;
  const double seconds = candidates.front().seconds;
  candidates.erase(candidates.begin());
  // Others nobody would consider.
  std::erase_if(candidates,
                [&](const Candidate& c) { return fits(c) && handicap(c) >= 100 * seconds; });
  return {best, std::move(candidates)};
}

void note_resumed(const FitOptions& options, const std::string& what, FitReport& outcome) {
  outcome.notes.push_back(
      fmt::format("went on from {}: {}", spell("checkpoint", options.checkpoint), what));
}

double feature_row_seconds(const FeatureMap& map, const RowsView& sample) {
  constexpr double kEnough = 1e-3;  // seconds: a shorter time is not a measurement
  constexpr int kRounds = 3;        // the best counts: others may be using the machine
  Matrix<float> z;
  const auto seconds_of = [&](Index rows) {
    z.resize(rows, map.out_dim());
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      map.transform(sample.slice(0, rows), z.view());
    }
    return seconds;
  };
  Index rows = std::min<Index>(1, sample.rows());
  if (rows == 0) return 0;
  double best = seconds_of(rows);
  while (best < kEnough && rows < sample.rows()) {
    rows = std::min(8 * rows, sample.rows());
    best = seconds_of(rows);
  }
  for (int round = 1; round < kRounds && best < 100 * kEnough; ++round)
    best = std::min(best, seconds_of(rows));
  return best / static_cast<double>(rows);
}

std::string reason_for(const SolverChoice& choice, const Problem& problem, const Speeds& speeds) {
  const double seconds = choice.entry->seconds(problem, speeds).total();
  std::string reason =
      fmt::format("{}{} expected", choice.asked_for ? "as asked, " : "", about_seconds(seconds));
  for (const SolverChoice::Candidate& other : choice.others) {
    if (other.bytes > problem.memory) {
      reason += fmt::format(", {} needs {}", other.entry->name, human_bytes(other.bytes));
      continue;
    }
    const double its = other.entry->seconds(problem, speeds).total();
    reason += fmt::format(", {} {}{}", other.entry->name, about_seconds(its),
                          its < seconds ? " if it takes few steps" : "");
  }
  return reason;
}

}  // namespace kerf::detail
