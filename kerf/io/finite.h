// Whether all of many values are finite.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

namespace kerf::detail::io {

/// One sum of value * 0 per lane: it becomes NaN exactly when a value is not finite.  Separate
/// lanes because a compiler must not reorder the terms of one sum, and would add them one by one.
template <class T>
bool all_finite(std::span<const T> values) {
  constexpr std::size_t kLanes = 16;
  T lanes[kLanes] = {};
  const std::size_t whole = values.size() / kLanes * kLanes;
  const T* const data = values.data();
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += data[i + k] * 0;
  T sum = 0;
  for (std::size_t i = whole; i < values.size(); ++i) sum += data[i] * 0;
  for (const T lane : lanes) sum += lane;
  return sum == 0;
}

}  // namespace kerf::detail::io
