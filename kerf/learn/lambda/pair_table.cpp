// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda/pair_table.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/kernels/gram/gram_tile.h"
#include "kerf/kernels/gram/pointwise_kernel.h"

namespace kerf::detail {
namespace {

/// Not a kernel, but what gram.h makes kernels of: the number itself.
class PairNumber final : public PointwiseKernel<PairNumber> {
 public:
  explicit PairNumber(PairGeometry geometry) : geometry_(geometry) {}

  PairForm form() const override { return {.geometry = geometry_}; }
  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T>, std::span<T> out) const {
    if (out.data() != number.data()) std::ranges::copy(number, out.begin());
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      sum += geometry_ == PairGeometry::l1_distance ? std::abs(x[k] - y[k])
                                                    : (x[k] - y[k]) * (x[k] - y[k]);
    return sum;
  }
  PairGeometry geometry_;
};

Matrix<double> pair_numbers(const RowsView& rows, PairGeometry geometry) {
  Matrix<double> numbers(rows.rows(), rows.rows());
  gram<double>(PairNumber(geometry), rows, rows, numbers.view());
  return numbers;
}

/// Below the diagonal what stands above it.
void mirror(MatrixView<double> a) {
  parallel_for(a.rows, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < i; ++j) a(i, j) = a(j, i);
  });
}

}  // namespace

PairTable::PairTable(const RowsView& rows)
    : rows_(rows), distances_(pair_numbers(rows, PairGeometry::squared_distance)) {
  for (Index i = 0; i < rows.rows(); ++i) squares_.push_back(squared_norm(rows, i));
}

const Matrix<double>& PairTable::l1_distances() const {
  if (l1_distances_.rows() == 0) l1_distances_ = pair_numbers(rows_, PairGeometry::l1_distance);
  return l1_distances_;
}

void PairTable::gram(const Kernel& kernel, Index count, MatrixView<double> out) const {
  const PairForm form = kernel.form();
  const bool angle = form.geometry == PairGeometry::angle;
  const bool l1 = form.geometry == PairGeometry::l1_distance;
  if (!angle && !l1 && form.geometry != PairGeometry::squared_distance) {
    const RowsView rows = rows_.slice(0, count);
    return kerf::detail::gram<double>(kernel, rows, rows, out);
  }
  const Matrix<double>& table = l1 ? l1_distances() : distances_;
  const double scale = l1 ? form.scale : form.scale * form.scale;
  std::vector<double> length(count);
  for (std::size_t i = 0; i < length.size(); ++i)
    length[i] = std::sqrt(squares_[i] + form.bias * form.bias);

  parallel_for(count, 16, [&](Index begin, Index end) {
    std::vector<double> number, other;
    for (Index i = begin; i < end; ++i) {
      const auto size = static_cast<std::size_t>(count - i);
      const auto first = static_cast<std::size_t>(i);
      number.resize(size);
      other.resize(angle ? size : 0);
      const auto d2 = table.row(i).subspan(first, size);
      const double p = length[first];
      for (std::size_t j = 0; j < size; ++j) {
        if (!angle) {
          number[j] = d2[j] * scale;
          continue;
        }
        const double q = length[first + j], product = 2 * p * q;
        // A row of length zero has no angle; its kernel is 0 by the factor below.
        number[j] = product > 0 ? std::clamp((d2[j] - (p - q) * (p - q)) / product, 0.0, 2.0) : 1;
        other[j] = product > 0 ? std::clamp(((p + q) * (p + q) - d2[j]) / product, 0.0, 2.0) : 1;
      }
      const auto row = out.row(i).subspan(first, size);
      kernel.pointwise(number, other, row);
      for (std::size_t j = 0; angle && j < size; ++j) {
        const double product = p * length[first + j];
        row[j] *= form.homogeneous ? product : (product > 0 ? 1 : 0);
      }
    }
  });
  mirror(out);
}

}  // namespace kerf::detail
