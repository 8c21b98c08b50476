// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/learned/kernel_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kerf/kernels/gram/gram.h"
#include "kerf/kernels/gram/gram_simd.h"

namespace kerf::detail {
namespace {

constexpr float kNear = 0.1f;  // pairs nearer, or more opposite, are computed again (gram.h)

float narrow(double value) {
  return value > std::numeric_limits<float>::max() ? std::numeric_limits<float>::infinity()
                                                   : static_cast<float>(value);
}

double sum_of_squares(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  return sum;
}

}  // namespace

KernelColumns::KernelColumns(std::unique_ptr<Kernel> kernel, Matrix<float> rows)
    : FeatureMap(rows.cols(), rows.rows()),
      kernel_(std::move(kernel)),
      form_(kernel_->form()),
      product_(form_.geometry == PairGeometry::angle ||
               form_.geometry == PairGeometry::squared_distance),
      rows_(std::move(rows)) {
  if (!product_) return;
  const bool angle = form_.geometry == PairGeometry::angle;
  centre_.assign(in_dim() + (angle && form_.bias != 0 ? 1 : 0), 0.0f);
  Matrix<float> packed;
  pack(rows_.view(), packed, factors_);
  std::vector<double> mean(centre_.size(), 0.0);
  for (Index j = 0; j < packed.rows(); ++j)
    for (std::size_t k = 0; k < mean.size(); ++k)
      mean[k] += packed(j, static_cast<Index>(k)) / static_cast<double>(packed.rows());
  const double scale = angle ? 1 : form_.scale;
  for (std::size_t k = 0; k < mean.size(); ++k) {
    const auto centre = static_cast<float>(mean[k] / scale);
    centre_[k] = std::isfinite(centre) ? centre : 0.0f;
  }
  pack(rows_.view(), packed, factors_);
  for (Index j = 0; j < packed.rows(); ++j)
    squares_.push_back(narrow(sum_of_squares(packed.row(j))));
  for (const double factor : factors_)
    scales_.push_back(factor == 0 ? 0 : form_.homogeneous ? narrow(1 / factor) : 1);
  products_ = Projection(packed.cols(), packed.rows(), [&](Index j, std::span<float> direction) {
    std::ranges::copy(packed.row(j), direction.begin());
    return 0.0f;
  });
}

void KernelColumns::pack(const RowsView& x, Matrix<float>& packed,
                         std::vector<double>& factors) const {
  PackedForm<float> form;
  factors.clear();
  if (form_.geometry == PairGeometry::angle) {
    for (Index i = 0; i < x.rows(); ++i) {
      const double norm = std::sqrt(squared_norm(x, i) + form_.bias * form_.bias);
      factors.push_back(norm > 0 ? 1 / norm : 0);
    }
    form.before = factors;
    form.bias = form_.bias;
  } else {
    form.after = form_.scale;
  }
  form.centre = centre_;
  const Index cols = form.cols(x);
  packed.resize(x.rows(), cols);
  pack_rows(x, 0, x.rows(), form, 0, cols, packed.data(), cols);
}

void KernelColumns::transform_rows(const RowsView& x, MatrixView<float> out) const {
  if (!product_) return gram<float>(*kernel_, x, RowsView(rows_.view()), out);
  thread_local Matrix<float> packed;
  thread_local std::vector<double> factors;
  thread_local std::vector<float> squares;
  pack(x, packed, factors);
  squares.clear();
  for (Index i = 0; i < x.rows(); ++i) squares.push_back(narrow(sum_of_squares(packed.row(i))));
  products_.apply(RowsView(std::as_const(packed).view()),
                  [&](Index i, Index first, std::span<float> products) {
                    const auto at = static_cast<std::size_t>(i);
                    finish(x, i, factors.empty() ? 1 : factors[at], squares[at], first, products,
                           out.row(i).subspan(first, products.size()));
                  });
}

void KernelColumns::finish(const RowsView& x, Index i, double factor, float square, Index first,
                           std::span<float> products, std::span<float> out) const {
  const bool angle = form_.geometry == PairGeometry::angle;
  thread_local std::vector<float> other;
  thread_local std::vector<std::int32_t> close;
  other.resize(products.size());
  close.resize(products.size());
  const float far = angle ? 4 - 2 * kNear : std::numeric_limits<float>::infinity();
  const Index redone =
      gram_simd::distances(products.data(), std::ssize(products), square, squares_.data() + first,
                           kNear, far, angle, close.data());
  if (angle)
    for (std::size_t j = 0; j < products.size(); ++j) other[j] = std::max(0.0f, 2 - products[j]);
  for (Index k = 0; k < redone; ++k) {
    const auto j = static_cast<std::size_t>(close[k]);
    redo(x, i, factor, first + static_cast<Index>(j), products[j], other[j]);
  }
  kernel_->pointwise(products, std::span<const float>(other).first(angle ? products.size() : 0),
                     out);
  if (!angle) return;
  const float x_scale = factor == 0 ? 0 : form_.homogeneous ? narrow(1 / factor) : 1;
  for (std::size_t j = 0; j < out.size(); ++j)
    out[j] *= x_scale * scales_[static_cast<std::size_t>(first) + j];
}

/// The numbers of one pair from the difference, or the sum, of its rows.
void KernelColumns::redo(const RowsView& x, Index i, double factor, Index j, float& number,
                         float& other) const {
  const RowsView y(rows_.view());
  if (form_.geometry != PairGeometry::angle) {
    number = narrow(squared_difference(x, i, 1, y, j, 1) * form_.scale * form_.scale);
    return;
  }
  const double sign = number > 1 ? -1 : 1;  // obtuse: the sum of the rows is the small one
  const double y_factor = sign * factors_[j];
  const double bias = form_.bias * (factor - y_factor);
  const double half = 0.5 * (squared_difference(x, i, factor, y, j, y_factor) + bias * bias);
  const auto rest = static_cast<float>(std::max(0.0, 2 - half));
  number = sign > 0 ? static_cast<float>(half) : rest;
  other = sign > 0 ? rest : static_cast<float>(half);
}

}  // namespace kerf::detail
