// What happens to a row's numbers between the file and the feature map.
//
//   standard   (x_k - mean_k) / sd_k; a column without variance becomes 0, a one-hot column stays
//   channel    images: (x - mean_c) / sd_c with mean and deviation of channel c over all pixels
//   rms        x_k / sqrt(mean x_k^2): sparse rows stay sparse
//   unit       x / |x| (a zero row stays 0); bytes are divided by 255 first
//   none       bytes are divided by 255, nothing else
//   auto       images: unit, or channel for maps and kernels that convolve; other tables: standard;
//              sparse rows: what sparse_choice.h prefers, where there are targets; else rms
//
// Then, in a fit, a column's numbers outside [a, b], those of training, are drawn back: a kernel that
// grows with its rows (ntk, nngp, arccos of order 1, polynomials) would extrapolate without bound, and
// the features of one that does not have an error there that nothing was fitted to:
//   x > b  to  b + w (1 - exp((b - x) / w)),  w = (b - a) / 2;  x < a likewise
// Numbers of training keep their bits; the function is smooth, increases, and stays within w of
// [a, b].  A number is far outside if it is more than w outside.  Not for unit rows, images
// and sparse rows: a word that training had once has no range.
//
// Last comes the learned metric, where there is one (metric.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/features/metric.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

enum class ScaleKind { automatic, standard, channel, rms, unit, none };
constexpr auto names_of(ScaleKind) {
  return std::array{"auto", "standard", "channel", "rms", "unit", "none"};
}

struct Scaling {
  std::vector<float> centre;  ///< subtracted first; empty: nothing
  std::vector<float> factor;  ///< multiplied next; empty: nothing
  float common_factor = 1;    ///< for every column
  bool unit_rows = false;     ///< last: divide a row by its length
  /// Range of each column after its factor; empty: numbers are not drawn back to it.
  std::vector<float> lower, upper;
  /// The same before rounding, for rows in double (RowBlock::wide); empty, 0: as above.
  std::vector<double> exact_centre = {}, exact_factor = {};
  double exact_common_factor = 0;
  std::shared_ptr<const Metric> metric = nullptr;  ///< after all that; null: none

  /// Scales the block's rows in place, and says how many have a number far outside the range.
  /// Sparse rows become dense where zeros do not stay zeros.
  Index apply(RowBlock& block) const;
  /// The range of training.
  void keep_range(const DataSummary& summary);
  /// The same, these rows (not scaled yet) among it.
  void widen_range(const RowBlock& block);
  /// sqrt(mean |x|^2) of the scaled rows: the automatic bias.
  double typical_norm(const DataSummary& summary) const;
};

/// The rule `auto` comes to for this data.
ScaleKind resolve_scale(ScaleKind kind, const DataSummary& summary);
/// The same for a map or kernel that looks at neighbouring pixels, or does not.
ScaleKind resolve_scale(ScaleKind kind, const DataSummary& summary, bool convolves);

/// Throws Error (usage) if sparse rows would have to be centred.
Scaling make_scaling(ScaleKind kind, const DataSummary& summary);

/// Rows of another source, scaled: what a map is fitted to.
class ScaledSource final : public RowSource {
 public:
  /// Both must outlive it.
  ScaledSource(RowSource& rows, const Scaling& scaling) : rows_(rows), scaling_(scaling) {}

  Index cols() const override { return rows_.cols(); }
  void rewind() override { rows_.rewind(); }
  bool next(RowBlock& block) override {
    if (!rows_.next(block)) return false;
    scaling_.apply(block);
    return true;
  }
  double part_read() const override { return rows_.part_read(); }

 private:
  RowSource& rows_;
  const Scaling& scaling_;
};

}  // namespace kerf::detail
