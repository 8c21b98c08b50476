// How far a choice between candidates is, round after round.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "kerf/core/progress.h"

namespace kerf::detail {

/// What is told of a round, and what is left of it and of those to come: by the pace of its trials, which
/// take about as long as n^3 for n rows.
class RoundProgress {
 public:
  /// `later`: trials of other rounds, in units of one of this.
  RoundProgress(const Progress& progress, std::size_t round, std::size_t count, double later)
      : progress_(progress),
        stage_(round == 0 ? "choosing the map"
                          : fmt::format("choosing the map, round {}", round + 1)),
        count_(count),
        later_(later) {}

  /// So many trials of the round are over.
  void tell(std::size_t done) const {
    if (!progress_) return;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    const auto trials = static_cast<double>(done);
    const double left = static_cast<double>(count_) - trials + later_;
    progress_({stage_, static_cast<Index>(done), static_cast<Index>(count_), "candidates",
               done == 0 ? -1 : elapsed.count() / trials * left});
  }

 private:
  const Progress& progress_;
  std::string stage_;
  std::size_t count_;
  double later_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kerf::detail
