// What a long fit leaves on disk, so that it survives being killed, and sums to solve again from.
//
// A folder with one file for each part of the state ("sums-0", "sums-1", ..., "state"), each
// written whole or not at all, with a checksum and the identity of the fit: another map, seed or
// data set is refused instead of mixed in.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "kerf/model/model_arrays.h"

namespace kerf::detail {

class Checkpoint {
 public:
  struct Identity {
    std::string recipe;  ///< of the map
    std::string data;    ///< and everything else that the state depends on; "": any
  };

  /// Makes the folder, and clears it of what a save left that was killed.  `interval`: seconds between
  /// saves.
  Checkpoint(std::string folder, Identity identity, double interval);

  /// Whether the last save was long enough ago (and took a small part of the time since).
  bool due() const;
  void save(const std::string& name, const ArrayWriter& arrays);

  struct State {
    std::string bytes;
    std::unique_ptr<ArrayReader> arrays;
  };
  /// The part of that name, or nothing; Error (data) if it is damaged or of another fit.
  std::optional<State> load(const std::string& name) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string path(const std::string& name) const;

  std::string folder_;
  Identity identity_;
  double interval_;
  Clock::time_point last_;
  double cost_ = 0;  // seconds of the last save
};

}  // namespace kerf::detail
