// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/scaling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/parallel.h"
#include "kerf/core/pointwise.h"
#include "kerf/core/require.h"

namespace kerf {
namespace {

constexpr Index kPieceRows = 64;

/// A standard deviation below this part of the column's size is rounding, not variation.
constexpr double kNoVariance = 1e-6;

void to_unit_length(std::span<float> row) {
  const double norm = std::sqrt(squared_norm(row));
  if (norm == 0) return;
  for (float& value : row) value = static_cast<float>(value / norm);
}

void to_unit_length(std::span<double> row) {
  double square = 0;
  for (const double value : row) square += value * value;
  if (square == 0) return;
  for (double& value : row) value /= std::sqrt(square);
}

bool is_one_hot(const DataSummary& summary, std::size_t column) {
  return !summary.one_hot.empty() && summary.one_hot[column];
}

/// One mean and one deviation for all pixels of a channel.
void scale_channels(const DataSummary& summary, Scaling& scaling) {
  KERF_REQUIRE(summary.image.present(), usage,
               "--scale channel is for images: say their shape with --image HxWxC");
  const auto channels = static_cast<std::size_t>(summary.image.channels);
  const std::size_t columns = summary.mean.size();
  const double pixels = static_cast<double>(columns / channels);
  std::vector<double> mean(channels, 0.0), square(channels, 0.0);
  for (std::size_t k = 0; k < columns; ++k) {
    mean[k % channels] += summary.mean[k] / pixels;
    square[k % channels] += summary.mean_square[k] / pixels;
  }
  for (std::size_t k = 0; k < columns; ++k) {
    const double m = mean[k % channels], s = square[k % channels];
    const double deviation = std::sqrt(std::max(0.0, s - m * m));
    scaling.centre.push_back(static_cast<float>(m));
    scaling.factor.push_back(
        deviation > kNoVariance * std::sqrt(s) ? static_cast<float>(1 / deviation) : 0.0f);
  }
}

}  // namespace

void Scaling::apply(RowBlock& block) const {
  if (block.is_sparse) {
    CsrMatrix& x = block.sparse;
    for (std::size_t k = 0; k < x.values.size(); ++k) {
      if (!factor.empty()) x.values[k] *= factor[static_cast<std::size_t>(x.columns[k])];
      x.values[k] *= common_factor;
    }
    for (Index i = 0; unit_rows && i < x.rows(); ++i) {
      const auto begin = x.offsets[static_cast<std::size_t>(i)];
      const auto end = x.offsets[static_cast<std::size_t>(i) + 1];
      to_unit_length({x.values.data() + begin, static_cast<std::size_t>(end - begin)});
    }
    return;
  }
  const auto scale = [&](auto row) {
    if (!factor.empty())
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = (row[k] - centre[k]) * factor[k];
    if (common_factor != 1)
      for (auto& value : row) value *= common_factor;
    if (unit_rows) to_unit_length(row);
  };
  parallel_for(block.dense.rows(), kPieceRows, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      scale(block.dense.row(i));
      if (block.wide.rows() > 0) scale(block.wide.row(i));
    }
  });
}

double Scaling::typical_norm(const DataSummary& summary) const {
  if (unit_rows) return 1;
  double total = 0;
  for (std::size_t k = 0; k < summary.mean_square.size(); ++k) {
    const double shift = centre.empty() ? 0 : centre[k];
    const double scale = (factor.empty() ? 1.0 : factor[k]) * common_factor;
    const double square = summary.mean_square[k] + shift * (shift - 2 * summary.mean[k]);
    total += std::max(0.0, square) * scale * scale;
  }
  return total > 0 ? std::sqrt(total) : 1;
}

ScaleKind resolve_scale(ScaleKind kind, const DataSummary& summary) {
  if (kind != ScaleKind::automatic) return kind;
  if (summary.is_sparse) return ScaleKind::rms;
  return summary.image.present() || summary.is_bytes ? ScaleKind::unit : ScaleKind::standard;
}

ScaleKind resolve_scale(ScaleKind kind, const DataSummary& summary,
                        std::span<const OptionInfo> options) {
  const bool convolves = std::ranges::find(options, "filter", &OptionInfo::name) != options.end();
  if (kind == ScaleKind::automatic && convolves && summary.image.present() && !summary.is_sparse)
    return ScaleKind::channel;
  return resolve_scale(kind, summary);
}

/// Numbers below 1.2e-38 lose digits as floats, and those below 1e-45 are 0.
static void require_visible_columns(const DataSummary& summary) {
  for (std::size_t k = 0; k < summary.mean_square.size(); ++k) {
    const double size = std::max(std::abs(summary.mean[k]), std::sqrt(summary.mean_square[k]));
    KERF_REQUIRE(size == 0 || size >= std::numeric_limits<float>::min(), data,
                 "the values of input column {} are about {:.2g}, below the range of single "
                 "precision, in which features are computed: multiply the column by {:.0e}, or "
                 "leave it out",
                 k, size, 1 / size);
  }
}

Scaling make_scaling(ScaleKind kind, const DataSummary& summary) {
  kind = resolve_scale(kind, summary);
  require_visible_columns(summary);
  Scaling scaling;
  const bool by_column = kind != ScaleKind::unit && kind != ScaleKind::none;
  if (summary.is_bytes && !by_column) scaling.common_factor = 1.0f / 255;
  scaling.unit_rows = kind == ScaleKind::unit;
  if (kind == ScaleKind::channel) scale_channels(summary, scaling);
  if (kind != ScaleKind::standard && kind != ScaleKind::rms) return scaling;

  KERF_REQUIRE(kind == ScaleKind::rms || !summary.is_sparse, usage,
               "--scale standard would centre sparse rows and fill them; take --scale rms");
  const std::size_t columns = summary.mean.size();
  scaling.centre.assign(columns, 0.0f);
  scaling.factor.assign(columns, 1.0f);
  for (std::size_t k = 0; k < columns; ++k) {
    if (is_one_hot(summary, k)) continue;
    const double root_mean_square = std::sqrt(summary.mean_square[k]);
    const double mean = kind == ScaleKind::standard ? summary.mean[k] : 0;
    const double deviation = std::sqrt(std::max(0.0, summary.mean_square[k] - mean * mean));
    const bool varies = deviation > kNoVariance * root_mean_square;
    scaling.centre[k] = static_cast<float>(mean);
    scaling.factor[k] = varies ? static_cast<float>(1 / deviation) : 0.0f;
  }
  return scaling;
}

}  // namespace kerf
