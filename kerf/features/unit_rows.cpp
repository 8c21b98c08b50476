// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/unit_rows.h"

#include <cmath>

namespace kerf::detail {
namespace {

/// In the order of the columns: zeros change nothing, so dense and sparse rows have equal bits.
double length(std::span<const float> x, double bias) {
  double sum = 0;
  for (const float v : x) sum += double{v} * v;
  return std::sqrt(sum + bias * bias);
}

void fill_dense(std::span<const float> x, double bias, double scale, std::span<float> out) {
  for (std::size_t j = 0; j < x.size(); ++j) out[j] = static_cast<float>(x[j] * scale);
  if (bias != 0) out.back() = static_cast<float>(bias * scale);
}

}  // namespace

void UnitRows::assign(const RowsView& x, double bias) {
  is_sparse_ = x.is_sparse();
  norms_.clear();
  sparse_.clear();
  sparse_.cols = x.cols() + (bias == 0 ? 0 : 1);
  if (!is_sparse_) dense_.resize(x.rows(), sparse_.cols);
  for (Index i = 0; i < x.rows(); ++i) {
    const auto values = is_sparse_ ? x.sparse().row(i).values : x.dense().row(i);
    norms_.push_back(length(values, bias));
    const double scale = norm(i) > 0 ? 1 / norm(i) : 0;
    if (is_sparse_)
      push_sparse(x.sparse().row(i), bias, scale);
    else
      fill_dense(values, bias, scale, dense_.row(i));
  }
}

void UnitRows::push_sparse(const SparseRow& x, double bias, double scale) {
  for (std::size_t k = 0; k < x.values.size(); ++k)
    sparse_.push(x.columns[k], static_cast<float>(x.values[k] * scale));
  if (bias != 0)
    sparse_.push(static_cast<std::int32_t>(sparse_.cols - 1), static_cast<float>(bias * scale));
  sparse_.end_row();
}

}  // namespace kerf::detail
