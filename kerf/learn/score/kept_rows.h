// Values of rows for figures that need them all at once (medians, ranks), in bounded memory.
//
// All of them while they are no more than kMostKept; then a row stays with the chance 2^-k, by a
// random number of its own: a uniform sample, the same for any cut into blocks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "kerf/core/random/random.h"

namespace kerf::detail {

inline constexpr Index kMostKept = Index{1} << 20;

template <class T>
class KeptRows {
 public:
  explicit KeptRows(Index most = kMostKept) : most_(most) {}

  /// Rows in any order, each once.
  void add(Index row, const T& value) {
    const double chance = rng::uniform(rng::Key{0x5C03E}, static_cast<std::uint64_t>(row));
    if (chance >= share_) return;
    kept_.push_back({chance, value});
    while (std::ssize(kept_) > most_) {
      share_ /= 2;
      std::erase_if(kept_, [&](const Kept& one) { return one.chance >= share_; });
    }
  }
  std::vector<T> values() const {
    std::vector<T> out;
    for (const Kept& one : kept_) out.push_back(one.value);
    return out;
  }

 private:
  struct Kept {
    double chance;
    T value;
  };
  Index most_;
  double share_ = 1;
  std::vector<Kept> kept_;
};

}  // namespace kerf::detail
