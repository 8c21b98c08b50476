// A fast hash of bytes, to notice that data are others than before.  Not for enemies.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

namespace kerf::detail {

/// The finaliser of SplitMix64 (Steele, Lea & Flood, 2014): one value follows from every other.
inline std::uint64_t mix_bits(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// Of all bytes and their number; about 0.1 ns a byte.
std::uint64_t hash_bytes(std::span<const std::byte> bytes);

/// Of the numbers as they stand in memory: 0 and -0 differ.
template <class T>
std::uint64_t hash_values(std::span<const T> values) {
  return hash_bytes(std::as_bytes(values));
}

}  // namespace kerf::detail
