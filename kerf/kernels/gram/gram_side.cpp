// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/gram_side.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

constexpr Index kCentreRows = 1024;  // rows whose mean is the centre, at most
constexpr Index kPairTile = 16;      // rows of a block of pairs, at most

}  // namespace

template <class T>
GramSide<T>::GramSide(const PairForm& form, const RowsView& all)
    : rows(all), tile(std::min<Index>(kGramTile, (all.rows() + 31) / 32 * 32)) {
  if (form.geometry == PairGeometry::any)  // few rows: every pair may be long work for a thread
    tile = std::clamp<Index>(rows.rows() / 64, 1, kPairTile);
  if (form.geometry != PairGeometry::angle) return;
  factor.resize(rows.rows());
  scale.resize(factor.size());
  parallel_for(rows.rows(), 256, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double norm = std::sqrt(squared_norm(rows, i) + form.bias * form.bias);
      factor[i] = norm > 0 ? 1 / norm : 0;
      scale[i] = form.homogeneous ? narrow<T>(norm) : T(norm > 0 ? 1 : 0);
    }
  });
}

template <class T>
std::vector<T> GramSide<T>::centre(const PairForm& form) const {
  const Index cols = packed(form, {}).cols(rows);
  std::vector<double> sums(cols, 0.0);
  std::vector<double> row(rows.cols());
  const Index step = std::max<Index>(1, (rows.rows() + kCentreRows - 1) / kCentreRows);
  const Index count = (rows.rows() + step - 1) / step;
  for (Index i = 0; i < rows.rows(); i += step) {
    const double by = factor.empty() ? 1 : factor[i];
    copy_row(rows, i, row);
    for (std::size_t k = 0; k < row.size(); ++k) sums[k] += row[k] * by;
    if (form.bias != 0) sums.back() += form.bias * by;
  }
  std::vector<T> mean(sums.size());
  for (std::size_t k = 0; k < sums.size(); ++k)
    mean[k] = static_cast<T>(sums[k] / static_cast<double>(std::max<Index>(1, count)));
  return mean;
}

template <class T>
PackedForm<T> GramSide<T>::packed(const PairForm& form, std::span<const T> centre) const {
  PackedForm<T> out;
  out.before = factor;
  if (form.geometry == PairGeometry::squared_distance) out.after = form.scale;
  if (form.geometry == PairGeometry::angle) out.bias = form.bias;
  out.centre = centre;
  return out;
}

template <class T>
void GramSide<T>::set_squares(const PairForm& form, std::span<const T> centre, bool of_packed) {
  const PackedForm<T> how = packed(form, centre);
  const Index cols = how.cols(rows);
  square.resize(rows.rows());
  parallel_for(rows.rows(), 256, [&](Index begin, Index end) {
    std::vector<T> row(of_packed ? cols : 0);
    for (Index i = begin; i < end; ++i) {
      if (!of_packed) {
        square[i] = form.geometry == PairGeometry::angle
                        ? T(factor[i] > 0 ? 1 : 0)
                        : narrow<T>(squared_norm(rows, i) * form.scale * form.scale);
        continue;
      }
      pack_rows(rows, i, i + 1, how, 0, cols, row.data(), cols);
      double sums[4] = {};
      for (std::size_t k = 0; k < row.size(); ++k)
        sums[k % 4] += static_cast<double>(row[k]) * static_cast<double>(row[k]);
      square[i] = narrow<T>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
  });
}

template struct GramSide<float>;
template struct GramSide<double>;

}  // namespace kerf::detail
