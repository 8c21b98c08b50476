// The random columns of OSNAP as a function of (key, position): shared by sketches of rows' entries
// (count_sketch.h, which keeps them in tables) and of streams of rows (row_sketch.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "kerf/core/random/random.h"

namespace kerf::detail {

struct OsnapEntry {
  std::int32_t place;
  float sign;  // +-scale / sqrt c
};

class OsnapColumns {
 public:
  OsnapColumns(Index out_dim, Index nonzeros, rng::Key key, double scale)
      : out_dim_(out_dim),
        nonzeros_(nonzeros),
        place_key_(key.child("place")),
        sign_key_(key.child("sign")),
        factor_(static_cast<float>(scale / std::sqrt(static_cast<double>(nonzeros)))) {}

  /// Nonzero number index % c of column index / c.
  OsnapEntry entry(Index index) const {
    const Index range = index % nonzeros_;
    const Index first = range * out_dim_ / nonzeros_, last = (range + 1) * out_dim_ / nonzeros_;
    const auto i = static_cast<std::uint64_t>(index);
    const auto place = rng::below(place_key_, i, static_cast<std::uint64_t>(last - first));
    return {static_cast<std::int32_t>(first + static_cast<Index>(place)),
            factor_ * static_cast<float>(rng::sign(sign_key_, i))};
  }

 private:
  Index out_dim_, nonzeros_;
  rng::Key place_key_, sign_key_;
  float factor_;
};

}  // namespace kerf::detail
