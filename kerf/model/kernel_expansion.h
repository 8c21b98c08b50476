// A function that is a sum of kernels centred at rows which the model keeps.
//
//   f(x) = b + sum_j a_j k(x, x_j)
//
// Cost:       one Gram block a block of rows: O(n d) a row for n kept rows of d columns.
// Memory:     kExpansionRows x n numbers besides the kept rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kerf/core/rows/matrix.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

/// Rows of a Gram block of predictions.
inline constexpr Index kExpansionRows = 512;

/// out (rows of x) x (columns of dual) = f, the kernel's values in double.
void kernel_expansion(const Kernel& kernel, const RowsView& kept, MatrixView<const double> dual,
                      std::span<const double> intercept, const RowsView& x, MatrixView<double> out);

// ---- how a recipe spells it: map "exact", options of the kernel and its name --------------------

inline constexpr const char* kExactMap = "exact";

/// The kernel's name: option "kernel"; Error (usage) when there is none.
std::string exact_kernel_name(const Params& options);
/// The options that belong to the kernel.
Params exact_kernel_params(const Params& options);

}  // namespace kerf::detail
