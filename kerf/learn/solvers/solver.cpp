// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/solver.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

constexpr Index kMuchMemory = 8;
constexpr double kLittleTime = 1.5;

/// "3.2 s", "2.1 min": as precise as a model of cost deserves.
std::string about(double seconds) {
  return seconds < 120 ? fmt::format("{:.2g} s", seconds) : fmt::format("{:.2g} min", seconds / 60);
}

}  // namespace

std::span<const SolverEntry> solvers() {
  static const SolverEntry table[] = {
      cholesky_solver(), dual_solver(), pcg_solver(),
      newton_solver(),   sgd_solver(),  sparse_solver(),
  };
  return table;
}

double feature_pass_seconds(const Problem& p) {
  const double elements = static_cast<double>(p.rows) * static_cast<double>(p.features);
  // Products with the inputs, and some twenty operations more for each feature.
  return elements * (2 * static_cast<double>(p.inputs) + 20) / (speed::kSingle * threads());
}

SolverChoice choose_solver(const Problem& problem) {
  KERF_REQUIRE(problem.options.loss == Loss::squared || problem.classification, usage,
               "--loss {} is for classification; regression has the squared loss",
               kLossNames[static_cast<int>(problem.options.loss)]);
  const Solver asked = problem.options.solver;
  if (asked != Solver::automatic) {
    const auto entry = std::ranges::find(solvers(), asked, &SolverEntry::solver);
    const std::string refusal = entry->refuses(problem);
    KERF_REQUIRE(refusal.empty(), usage, "--solver {} {}", entry->name(), refusal);
    return {&*entry, "as asked"};
  }
  struct Candidate {
    const SolverEntry* entry;
    double seconds;
    Index bytes;
  };
  std::vector<Candidate> candidates;
  std::string refusals;
  for (const SolverEntry& entry : solvers()) {
    const std::string refusal = entry.refuses(problem);
    if (refusal.empty())
      candidates.push_back({&entry, entry.seconds(problem), entry.bytes(problem)});
    else
      refusals += fmt::format("{}{} {}", refusals.empty() ? "" : "; ", entry.name(), refusal);
  }
  KERF_REQUIRE(!candidates.empty(), usage, "no solver has all that is asked for: {}", refusals);
  const auto fits = [&](const Candidate& c) { return c.bytes <= problem.memory; };
  const auto is = [](Solver solver) {
    return [=](const Candidate& c) { return c.entry->solver == solver; };
  };
  if (candidates.size() > 1) std::erase_if(candidates, is(Solver::sgd));
  // Fewer rows than features: sums in single precision are singular but for their rounding.
  const bool another = std::ranges::any_of(
      candidates, [&](const Candidate& c) { return !is(Solver::cholesky)(c) && fits(c); });
  if (another && problem.rows <= problem.features &&
      problem.options.precision == Precision::single_)
    std::erase_if(candidates, is(Solver::cholesky));
  // How many steps pcg will take is a guess: it must be worth a quarter.
  const auto handicap = [&](const Candidate& c) {
    return is(Solver::pcg)(c) ? 1.25 * c.seconds : c.seconds;
  };
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
  const Candidate& best = candidates.front();
  std::string reason = fmt::format("about {} expected", about(best.seconds));
  for (const Candidate& other : std::span(candidates).subspan(1)) {
    if (!fits(other))
      reason += fmt::format(", {} needs {}", other.entry->name(), human_bytes(other.bytes));
    else if (handicap(other) < 100 * best.seconds)  // others nobody would consider
      reason += fmt::format(", {} {}{}", other.entry->name(), about(other.seconds),
                            other.seconds < best.seconds ? " if it takes few steps" : "");
  }
  return {best.entry, reason};
}

}  // namespace kerf::detail
