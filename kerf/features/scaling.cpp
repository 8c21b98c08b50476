// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/scaling.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/pointwise.h"

namespace kerf::detail {
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

template <class T>
T by_column(const Scaling& scaling, std::size_t column, T x) {
  return scaling.factor.empty() ? x : (x - scaling.centre[column]) * scaling.factor[column];
}

double by_column(const Scaling& scaling, std::size_t column, double x) {
  return scaling.exact_factor.empty()
             ? by_column<double>(scaling, column, x)
             : (x - scaling.exact_centre[column]) * scaling.exact_factor[column];
}

double common_factor(const Scaling& scaling, double /*of*/) {
  return scaling.exact_common_factor != 0 ? scaling.exact_common_factor : scaling.common_factor;
}
float common_factor(const Scaling& scaling, float /*of*/) { return scaling.common_factor; }

/// Remembers both precisions of a column's scaling.
void put_column(double centre, double factor, Scaling& scaling) {
  scaling.exact_centre.push_back(centre);
  scaling.exact_factor.push_back(factor);
  scaling.centre.push_back(static_cast<float>(centre));
  scaling.factor.push_back(static_cast<float>(factor));
}

/// How far a number that is `outside` beyond the range's end stays beyond it.
template <class T>
T drawn_back(T outside, T half, bool& is_far) {
  is_far |= outside > half && half > 0;  // a column that never varied has no range to be far from
  return half > 0 ? -half * std::expm1(-outside / half) : T{0};
}

/// The number v of a column, which its factor has scaled already, in the column's range.
template <class T>
T in_range(const Scaling& scaling, std::size_t column, T v, bool& is_far) {
  const T a = scaling.lower[column], b = scaling.upper[column];
  if (v >= a && v <= b) return v;
  const T half = b / 2 - a / 2;  // not of the difference, which may overflow
  return v > b ? b + drawn_back(v - b, half, is_far) : a - drawn_back(a - v, half, is_far);
}

/// Whether a 0 becomes another number in some column.
bool moves_zeros(const Scaling& scaling) {
  for (std::size_t k = 0; k < scaling.factor.size(); ++k)
    if (by_column(scaling, k, 0.0f) != 0) return true;
  for (std::size_t k = 0; k < scaling.lower.size(); ++k)
    if (scaling.lower[k] > 0 || scaling.upper[k] < 0) return true;
  return false;
}

/// Everything but the length: numbers of one row, value k being of column columns[k], or k.  Whether
/// one is far outside.
template <class T>
bool scale_columns(const Scaling& scaling, std::span<T> values, const std::int32_t* columns) {
  const auto at = [=](std::size_t k) {
    return columns == nullptr ? k : static_cast<std::size_t>(columns[k]);
  };
  bool is_far = false;
  if (!scaling.factor.empty())
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = by_column(scaling, at(k), values[k]);
  if (!scaling.lower.empty())
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = in_range(scaling, at(k), values[k], is_far);
  if (scaling.common_factor != 1)
    for (T& value : values) value *= common_factor(scaling, value);
  return is_far;
}

/// Sparse rows to dense ones.
void spread(RowBlock& block) {
  block.dense.resize(block.sparse.rows(), block.sparse.cols);
  block.dense.fill(0);
  for (Index i = 0; i < block.sparse.rows(); ++i) {
    const SparseRow row = block.sparse.view().row(i);
    for (std::size_t k = 0; k < row.values.size(); ++k)
      block.dense(i, row.columns[k]) = row.values[k];
  }
  block.sparse = {};
  block.wide.resize(0, 0);
  block.is_sparse = false;
}

/// One mean and one deviation for all pixels of a channel.
void scale_channels(const DataSummary& summary, Scaling& scaling) {
  KERF_REQUIRE(summary.image.present(), usage, "{} is for images: say their shape with {}",
               spell("scale", "channel"), spell("image", "HxWxC"));
  const auto channels = static_cast<std::size_t>(summary.image.channels);
  const std::size_t columns = summary.mean.size();
  const std::size_t pixels_of_channel = columns / channels;
  const auto pixels = static_cast<double>(pixels_of_channel);
  std::vector<double> mean(channels, 0.0), square(channels, 0.0);
  for (std::size_t k = 0; k < columns; ++k) {
    mean[k % channels] += summary.mean[k] / pixels;
    square[k % channels] += summary.mean_square[k] / pixels;
  }
  for (std::size_t k = 0; k < columns; ++k) {
    const double m = mean[k % channels], s = square[k % channels];
    const double deviation = std::sqrt(std::max(0.0, s - m * m));
    put_column(m, deviation > kNoVariance * std::sqrt(s) ? 1 / deviation : 0, scaling);
  }
}

}  // namespace

Index Scaling::apply(RowBlock& block) const {
  if (block.is_sparse && (metric != nullptr || moves_zeros(*this))) spread(block);
  std::atomic<Index> far_rows = 0;
  parallel_for(block.rows(), kPieceRows, [&](Index begin, Index end) {
    Index far = 0;
    for (Index i = begin; i < end; ++i) {
      std::span<float> values;
      const std::int32_t* columns = nullptr;
      if (block.is_sparse) {
        const auto first = static_cast<std::size_t>(block.sparse.offsets[i]);
        const auto last =
            static_cast<std::size_t>(block.sparse.offsets[static_cast<std::size_t>(i) + 1]);
        values = std::span(block.sparse.values).subspan(first, last - first);
        columns = block.sparse.columns.data() + first;
      } else {
        values = block.dense.row(i);
        if (block.wide.rows() > 0) {
          scale_columns(*this, block.wide.row(i), nullptr);
          if (unit_rows) to_unit_length(block.wide.row(i));
          if (metric) metric->apply(block.wide.row(i));
        }
      }
      if (scale_columns(*this, values, columns)) ++far;
      if (unit_rows) to_unit_length(values);
      if (metric) metric->apply(values);
    }
    far_rows += far;
  });
  return far_rows;
}

void Scaling::keep_range(const DataSummary& summary) {
  const std::size_t columns = summary.least.size();
  if (columns != summary.mean.size() || unit_rows || summary.is_sparse || summary.image.present() ||
      summary.is_bytes)
    return;
  for (std::size_t k = 0; k < columns; ++k) {
    lower.push_back(by_column(*this, k, static_cast<float>(summary.least[k])));
    upper.push_back(by_column(*this, k, static_cast<float>(summary.greatest[k])));
  }
  const auto is_finite = [](float v) { return std::isfinite(v); };
  if (std::ranges::all_of(lower, is_finite) && std::ranges::all_of(upper, is_finite)) return;
  lower.clear();
  upper.clear();
}

void Scaling::widen_range(const RowBlock& block) {
  if (lower.empty()) return;
  const auto add = [&](std::size_t k, float x) {
    const float v = by_column(*this, k, x);
    lower[k] = std::min(lower[k], v);
    upper[k] = std::max(upper[k], v);
  };
  if (block.is_sparse)  // zeros are in the range already
    for (std::size_t k = 0; k < block.sparse.values.size(); ++k)
      add(block.sparse.columns[k], block.sparse.values[k]);
  for (Index i = 0; !block.is_sparse && i < block.rows(); ++i)
    for (std::size_t k = 0; k < lower.size(); ++k) add(k, block.dense.row(i)[k]);
}

double Scaling::typical_norm(const DataSummary& summary) const {
  if (metric) {  // of the sample: moments of columns do not tell
    RowBlock rows;
    MemorySource(summary.sample.x(), {}, summary.sample.rows()).next(rows);
    apply(rows);
    double total = 0;
    for (Index i = 0; i < rows.rows(); ++i) total += squared_norm(rows.dense.row(i));
    return total > 0 ? std::sqrt(total / static_cast<double>(rows.rows())) : 1;
  }
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

ScaleKind resolve_scale(ScaleKind kind, const DataSummary& summary, bool convolves) {
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
                 k, size, std::min(1e300, 1 / size));
  }
}

Scaling make_scaling(ScaleKind kind, const DataSummary& summary) {
  kind = resolve_scale(kind, summary);
  require_visible_columns(summary);
  Scaling scaling;
  const bool by_column = kind != ScaleKind::unit && kind != ScaleKind::none;
  if (summary.is_bytes && !by_column) {
    scaling.common_factor = 1.0f / 255;
    scaling.exact_common_factor = 1.0 / 255;
  }
  scaling.unit_rows = kind == ScaleKind::unit;
  if (kind == ScaleKind::channel) scale_channels(summary, scaling);
  if (kind != ScaleKind::standard && kind != ScaleKind::rms) return scaling;

  KERF_REQUIRE(kind == ScaleKind::rms || !summary.is_sparse, usage,
               "{} would centre sparse rows and fill them; take {}", spell("scale", "standard"),
               spell("scale", "rms"));
  const std::size_t columns = summary.mean.size();
  for (std::size_t k = 0; k < columns; ++k) {
    if (is_one_hot(summary, k)) {
      put_column(0, 1, scaling);
      continue;
    }
    const double root_mean_square = std::sqrt(summary.mean_square[k]);
    const double mean = kind == ScaleKind::standard ? summary.mean[k] : 0;
    const double deviation = std::sqrt(std::max(0.0, summary.mean_square[k] - mean * mean));
    const bool varies = deviation > kNoVariance * root_mean_square;
    put_column(mean, varies ? 1 / deviation : 0, scaling);
  }
  return scaling;
}

}  // namespace kerf::detail
