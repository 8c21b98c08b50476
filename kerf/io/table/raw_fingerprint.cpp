// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/raw_fingerprint.h"

#include <bit>

#include "kerf/core/hash.h"
#include "kerf/core/require.h"

namespace kerf::detail::io {
namespace {

std::uint64_t hash_row(const RawBlock& block, Index i) {
  if (block.sparse.rows() > 0) {
    const SparseRow row = block.sparse.view().row(i);
    return mix_bits(hash_values(row.values) ^ mix_bits(hash_values(row.columns)));
  }
  if (block.pixels.rows() > 0) return hash_values<std::uint8_t>(block.pixels.row(i));
  return hash_values<double>(block.cells.row(i));
}

}  // namespace

void RawFingerprint::add(const RawBlock& block) {
  for (Index i = 0; i < block.rows; ++i) {
    state_ = mix_bits(state_ ^ hash_row(block, i));
    const auto labels = std::ssize(block.labels) / block.rows;
    for (Index t = i * labels; t < (i + 1) * labels; ++t)
      state_ = mix_bits(state_ ^ std::bit_cast<std::uint64_t>(block.labels[t]));
    if (!block.weights.empty())
      state_ = mix_bits(state_ ^ std::bit_cast<std::uint64_t>(block.weights[i]));
  }
  for (const OddCell& cell : block.odd) {
    if (cell.is_number) continue;  // a pass may ask for its text or not; its value is in the row
    const std::string_view text = block.text(cell);
    const auto place = mix_bits(static_cast<std::uint64_t>(rows_ + cell.row)) ^
                       static_cast<std::uint64_t>(cell.column);
    odd_ += mix_bits(hash_values(std::span(text.data(), text.size())) ^ mix_bits(place));
  }
  rows_ += block.rows;
}

std::uint64_t RawFingerprint::value() const {
  return mix_bits(state_ ^ mix_bits(odd_ ^ static_cast<std::uint64_t>(rows_)));
}

void PassGuard::rewind() {
  if (!is_complete_) blocks_.clear();
  at_ = 0;
  now_ = {};
}

void PassGuard::add(const RawBlock& block, const std::string& name) {
  bool same = true;
  if (block.rows == 0) {
    same = !is_complete_ || at_ == blocks_.size();
    is_complete_ = true;
  } else {
    now_.add(block);
    if (!is_complete_) blocks_.push_back(now_.value());
    same = at_ < blocks_.size() && blocks_[at_] == now_.value();
    ++at_;
  }
  KERF_REQUIRE(same, data,
               "{} changed while it was in use: from row {} on it does not hold the rows that were "
               "read first; start again when nobody writes to it",
               name, block.first_row);
}

}  // namespace kerf::detail::io
