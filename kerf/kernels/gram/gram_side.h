// One side of a Gram matrix: its rows, and what every tile wants to know of each (gram.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <vector>

#include "kerf/core/view.h"
#include "kerf/kernels/gram/gram_tile.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

/// Blocks of rows that begin and end at multiples of this waste no work.
inline constexpr Index kGramTile = 512;

template <class T>
struct GramSide {
  RowsView rows;
  std::vector<double> factor;  ///< angle: 1 / |x|, 0 for a zero row
  std::vector<T> scale;        ///< angle: |x| or 1, 0 for a zero row
  std::vector<T> square;       ///< |p|^2
  Index tile = 0;              ///< rows of a tile

  GramSide() = default;
  GramSide(const PairForm& form, const RowsView& rows);

  /// c of gram.h: the mean of (a sample of) the prepared rows.
  std::vector<T> centre(const PairForm& form) const;
  PackedForm<T> packed(const PairForm& form, std::span<const T> centre) const;
  /// Of the rows as they are packed, so that the rounding of packing cancels in D; or of the rows
  /// themselves, for sparse products.
  void set_squares(const PairForm& form, std::span<const T> centre, bool of_packed);
};

extern template struct GramSide<float>;
extern template struct GramSide<double>;

/// Out of T's range is infinity.
template <class T>
T narrow(double value) {
  return value > std::numeric_limits<T>::max() ? std::numeric_limits<T>::infinity()
                                               : static_cast<T>(value);
}

}  // namespace kerf::detail
