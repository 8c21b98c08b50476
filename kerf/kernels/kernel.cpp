// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/kernel.h"

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {

double Kernel::operator()(std::span<const double> x, std::span<const double> y) const {
  KERF_REQUIRE(x.size() == y.size(), usage, "a kernel of rows of {} and {} columns", x.size(),
               y.size());
  return value(x, y);
}

void Kernel::gram(MatrixView<const double> x, MatrixView<const double> y,
                  MatrixView<double> out) const {
  KERF_REQUIRE(x.cols == y.cols, usage, "a kernel of rows of {} and {} columns", x.cols, y.cols);
  KERF_REQUIRE(out.rows == x.rows && out.cols == y.rows, usage,
               "a {} x {} matrix for the kernel of {} rows against {}", out.rows, out.cols, x.rows,
               y.rows);
  parallel_for(x.rows, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < y.rows; ++j) out(i, j) = value(x.row(i), y.row(j));
  });
}

void Kernel::pairs(MatrixView<const double> x, MatrixView<const double> y,
                   MatrixView<float> out) const {
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < y.rows; ++j) out(i, j) = static_cast<float>(value(x.row(i), y.row(j)));
}
void Kernel::pairs(MatrixView<const double> x, MatrixView<const double> y,
                   MatrixView<double> out) const {
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < y.rows; ++j) out(i, j) = value(x.row(i), y.row(j));
}

void Kernel::pointwise(std::span<const float>, std::span<const float>, std::span<float>) const {
  fail(ErrorKind::usage, "this kernel is no function of one number per pair of rows");
}
void Kernel::pointwise(std::span<const double>, std::span<const double>, std::span<double>) const {
  fail(ErrorKind::usage, "this kernel is no function of one number per pair of rows");
}

double resolved(const std::optional<double>& value, std::string_view owner, std::string_view name) {
  KERF_REQUIRE(value.has_value(), usage,
               "{}: {} has to be worked out from data first; give the data or a number", owner,
               spell(name, "auto"));
  return *value;
}

}  // namespace kerf::detail
