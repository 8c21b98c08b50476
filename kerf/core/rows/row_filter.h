// Part of a stream's rows, as a stream: what is held out of training, and the rest.
//
//   row r is held out if uniform(key, r) < part
//
// so the same rows for any block size, and neither side is stored.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/random/random.h"
#include "kerf/core/rows/row_source.h"

namespace kerf::detail {

/// The rows of `all` (which must outlive this) that are held out, or those that are not.
class HoldoutSource final : public RowSource {
 public:
  HoldoutSource(RowSource& all, double part, rng::Key key, bool held_out)
      : all_(all), part_(part), key_(key), held_out_(held_out) {}

  Index cols() const override { return all_.cols(); }
  void rewind() override;
  bool next(RowBlock& block) override;
  double part_read() const override { return all_.part_read(); }

 private:
  RowSource& all_;
  double part_;
  rng::Key key_;
  bool held_out_;
  Index rows_ = 0;  // handed out so far
};

/// The rows of `block` for which keep[i] holds, in order, in place.
void keep_rows(RowBlock& block, const std::vector<bool>& keep);

/// Row order[i] becomes row i.
RowBlock reordered(const RowBlock& block, std::span<const Index> order);

}  // namespace kerf::detail
