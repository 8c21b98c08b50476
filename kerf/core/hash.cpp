// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/hash.h"

#include <cstring>

namespace kerf::detail {

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  // Each lane is a chain of bijections, so that one changed word always changes it; four of them,
  // because a multiplication takes several cycles.
  constexpr std::size_t kLanes = 4, kStep = kLanes * 8;
  constexpr std::uint64_t kFactor = 0x9fb21c651e98df25;
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + kStep <= bytes.size(); at += kStep)
    for (std::size_t k = 0; k < kLanes; ++k) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + at + 8 * k, 8);
      lanes[k] = (lanes[k] ^ word) * kFactor;
      lanes[k] ^= lanes[k] >> 32;
    }
  std::uint64_t hash = mix_bits(bytes.size());
  for (const std::uint64_t lane : lanes) hash = mix_bits(hash ^ lane);
  for (; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at < 8 ? bytes.size() - at : 8);
    hash = mix_bits(hash ^ word);
  }
  return hash;
}

}  // namespace kerf::detail
