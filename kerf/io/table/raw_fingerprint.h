// Whether a source still holds the rows that it held before.
//
//   h_b = mix(h_(b-1), all rows of block b): one number after every block of a pass
//
// A file that somebody rewrites during a fit gives other numbers in the next pass, and the fit ends
// with an Error instead of a model of rows that never were one data set.
//
// Error:      a change goes unnoticed with probability 2^-64, if nobody aims at it.
// Cost:       about 1 ns for each 8 bytes of cells; 8 bytes of memory for each block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kerf/io/reader.h"

namespace kerf::detail::io {

/// A number that other rows, or these in another order, will not give.
class RawFingerprint {
 public:
  /// The next rows, as the reader gave them; how they are cut into blocks does not matter.
  void add(const RawBlock& block);
  std::uint64_t value() const;

 private:
  std::uint64_t state_ = 0;
  std::uint64_t odd_ = 0;  // a sum: the labels of a block may list their odd cells last
  Index rows_ = 0;
};

/// The fingerprint of the rows up to the end of each block, in the first pass and those that follow.
class PassGuard {
 public:
  /// Begins a pass.
  void rewind();
  /// The next block; Error (data) if the first pass had another one here.  No rows: the end.
  void add(const RawBlock& block, const std::string& name);
  /// Of all rows of the pass.
  std::uint64_t value() const { return now_.value(); }

 private:
  std::vector<std::uint64_t> blocks_;
  bool is_complete_ = false;  // blocks_ are those of a whole pass
  std::size_t at_ = 0;
  RawFingerprint now_;
};

}  // namespace kerf::detail::io
