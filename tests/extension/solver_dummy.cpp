// A solver for the test of additions: another one, under its own name.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/solver.h"

namespace kerf::detail {
namespace {

const SolverEntry& other() { return solver_that(&SolverTraits::keeps_sums); }

}  // namespace

SolverEntry dummy_solver() {
  return {"dummy-solver",
          "another solver under its own name",
          [](const Problem& p) { return other().refuses(p); },
          [](const Problem& p) { return other().bytes(p); },
          [](const Problem& p, const Speeds& s) { return other().seconds(p, s); },
          [](const Problem& p, TrainingRows& rows, FitReport& report) {
            report.notes.emplace_back("the dummy solver was here");
            return other().fit(p, rows, report);
          },
          {.drawback = "which is a dummy"}};
}

}  // namespace kerf::detail
