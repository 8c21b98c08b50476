// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/skeleton/skeleton_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/rows/image_text.h"

namespace kerf::detail {
namespace {

constexpr Index kLanes = 16;  // pairs at a time
using Lanes = std::array<double, kLanes>;

/// Columns that were one text column: in every row one of them is 1, so that their means sum to 1.
std::vector<std::vector<Index>> one_hot_groups(const DataSummary& summary) {
  std::vector<std::vector<Index>> groups;
  double sum = 1;
  for (std::size_t k = 0; k < summary.one_hot.size(); ++k) {
    if (!summary.one_hot[k]) {
      sum = 1;
      continue;
    }
    if (sum > 1 - 1e-9) {
      groups.emplace_back();
      sum = 0;
    }
    groups.back().push_back(static_cast<Index>(k));
    sum += summary.mean[k];
  }
  return groups;
}

std::size_t numbers_of(const BaseSpace& base) {
  switch (base.kind) {
    case BaseKind::sign:
    case BaseKind::categorical:
      return 1;
    case BaseKind::circle:
      return 2;
    default:
      return base.columns.size();
  }
}

/// The class of a row: a code modulo n, or the largest one-hot column; -1: none.
double class_of(const BaseSpace& base, std::span<const double> row) {
  const auto column = [&](std::size_t k) { return row[base.columns[k]]; };
  if (base.columns.size() == 1) {
    const auto levels = static_cast<double>(base.levels);
    const double code = std::fmod(std::floor(column(0)), levels);
    return code < 0 ? code + levels : code;
  }
  std::size_t best = 0;
  for (std::size_t k = 1; k < base.columns.size(); ++k)
    if (column(k) > column(best)) best = k;
  return column(best) > 0 ? static_cast<double>(best) : -1.0;
}

/// out[l] = base kernel of the left numbers with lane l of the right ones.
void base_values(const BaseSpace& base, const double* left, const Lanes* right, Lanes& out) {
  const std::size_t count = numbers_of(base);
  if (base.kind == BaseKind::categorical) {
    for (std::size_t l = 0; l < kLanes; ++l)
      out[l] = left[0] >= 0 && left[0] == right[0][l] ? 1 : 0;
    return;
  }
  out.fill(0);
  if (base.kind != BaseKind::gaussian) {  // inner products
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t l = 0; l < kLanes; ++l) out[l] += left[k] * right[k][l];
    return;
  }
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double difference = left[k] - right[k][l];
      out[l] += difference * difference;
    }
  for (double& value : out) value = std::exp(-value / 2);
}

}  // namespace

void SkeletonOptions::resolve(OpenOptions& options) {
  options.settle_image("image");
  if (const auto text = options.params().find("skeleton"); text != options.params().end())
    text->second = fill_table_skeleton(load_skeleton_text(text->second), options.summary().cols,
                                       one_hot_groups(options.summary()));
}

namespace {

ImageShape shape_of(const SkeletonOptions& options, Index columns) {
  return options.image != "auto" ? parse_image_shape(options.image)
         : columns > 0           ? ImageShape{1, 1, columns}
                                 : ImageShape{};
}

}  // namespace

SkeletonSize SkeletonOptions::size(Index columns) const {
  return skeleton_size(skeleton, shape_of(*this, columns));
}

Skeleton SkeletonOptions::build(Index columns) const {
  Skeleton built = parse_skeleton(skeleton, shape_of(*this, columns));
  KERF_REQUIRE(columns == 0 || built.columns() == columns, data,
               "the skeleton is for rows of {} numbers, but these have {}", built.columns(),
               columns);
  return built;
}

SkeletonKernel::SkeletonKernel(Skeleton skeleton) : skeleton_(std::move(skeleton)) {
  for (const SkeletonNode& node : skeleton_.nodes()) {
    offset_.push_back(numbers_);
    if (node.is_input) numbers_ += numbers_of(node.base);
  }
}

void SkeletonKernel::prepare(std::span<const double> row, std::span<double> out) const {
  const auto& nodes = skeleton_.nodes();
  for (std::size_t v = 0; v < nodes.size(); ++v) {
    if (!nodes[v].is_input) continue;
    const BaseSpace& base = nodes[v].base;
    const auto to = out.subspan(offset_[v], numbers_of(base));
    const double first = row[base.columns[0]];
    switch (base.kind) {
      case BaseKind::sign:
        to[0] = first >= 0 ? 1 : -1;
        break;
      case BaseKind::circle:
        to[0] = std::cos(base.scale * first);
        to[1] = std::sin(base.scale * first);
        break;
      case BaseKind::categorical:
        to[0] = class_of(base, row);
        break;
      case BaseKind::gaussian:
        for (std::size_t k = 0; k < to.size(); ++k) {
          to[k] = base.scale * row[base.columns[k]];
          if (base.factor.empty()) continue;
          to[k] = 0;  // L^T x
          for (std::size_t j = 0; j < to.size(); ++j)
            to[k] += base.factor[j][k] * row[base.columns[j]];
        }
        break;
      case BaseKind::sphere: {
        double largest = 0, norm = 0;
        for (const Index column : base.columns) largest = std::max(largest, std::abs(row[column]));
        for (std::size_t k = 0; k < to.size(); ++k) {
          to[k] = largest > 0 ? row[base.columns[k]] / largest : 0;
          norm += to[k] * to[k];
        }
        for (double& value : to) value /= norm > 0 ? std::sqrt(norm) : 1;
        break;
      }
    }
  }
}

template <class T>
void SkeletonKernel::block(MatrixView<const double> x, MatrixView<const double> y,
                           MatrixView<T> out) const {
  KERF_REQUIRE(x.cols == skeleton_.columns() && y.cols == skeleton_.columns(), data,
               "the skeleton is for rows of {} numbers, but these have {}", skeleton_.columns(),
               x.cols);
  const auto& nodes = skeleton_.nodes();
  std::vector<double> left(numbers_), one(numbers_);
  std::vector<Lanes> right(numbers_), value(nodes.size());
  for (Index begin = 0; begin < y.rows; begin += kLanes) {
    const Index count = std::min<Index>(kLanes, y.rows - begin);
    for (Index l = 0; l < kLanes; ++l) {  // the last row again where there are no more
      prepare(y.row(begin + std::min(l, count - 1)), one);
      for (std::size_t k = 0; k < numbers_; ++k) right[k][l] = one[k];
    }
    for (Index i = 0; i < x.rows; ++i) {
      prepare(x.row(i), left);
      for (std::size_t v = 0; v < nodes.size(); ++v) {
        const SkeletonNode& node = nodes[v];
        if (node.is_input) {
          base_values(node.base, left.data() + offset_[v], right.data() + offset_[v], value[v]);
          continue;
        }
        Lanes sum = {};
        for (const Index from : node.in) {
          const Lanes& below = value[from];
          for (std::size_t l = 0; l < kLanes; ++l) sum[l] += below[l];
        }
        const auto edges = static_cast<double>(node.in.size());
        for (std::size_t l = 0; l < static_cast<std::size_t>(count); ++l)
          value[v][l] = node.activation(sum[l] / edges);
      }
      for (Index l = 0; l < count; ++l) out(i, begin + l) = static_cast<T>(value.back()[l]);
    }
  }
}

void SkeletonKernel::pairs(MatrixView<const double> x, MatrixView<const double> y,
                           MatrixView<float> out) const {
  block(x, y, out);
}
void SkeletonKernel::pairs(MatrixView<const double> x, MatrixView<const double> y,
                           MatrixView<double> out) const {
  block(x, y, out);
}

double SkeletonKernel::value(std::span<const double> x, std::span<const double> y) const {
  const auto size = static_cast<Index>(x.size());
  double out = 0;
  block<double>({x.data(), 1, size}, {y.data(), 1, size}, {&out, 1, 1});
  return out;
}

}  // namespace kerf::detail
