// The contract of exact kernels: the values that feature maps must reproduce.
//
// Kernels are the oracle: obvious code, double precision, and no header of features or sketch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kerf/core/matrix.h"
#include "kerf/core/options.h"

namespace kerf {

/// A positive semi-definite function k(x, y).  Immutable, safe from several threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// k(x, y); the rows must have the same length.
  double operator()(std::span<const double> x, std::span<const double> y) const;

  /// out(i, j) = k(x_i, y_j): every entry from the function above.
  void gram(MatrixView<const double> x, MatrixView<const double> y, MatrixView<double> out) const;

 private:
  virtual double value(std::span<const double> x, std::span<const double> y) const = 0;
};

/// One line of the registry.
struct KernelEntry {
  const char* name;
  const char* summary;
  std::vector<OptionInfo> (*options)();
  /// Reads and checks the options; "auto" must have been resolved to a number.
  std::unique_ptr<Kernel> (*make)(const Params& params);
};

std::span<const KernelEntry> kernels();
/// The entry of that name; an unknown name is an Error (usage) with the nearest match.
const KernelEntry& find_kernel(std::string_view name);

/// The number behind an automatic option; Error (usage) if it is still "auto".
double resolved(const std::optional<double>& value, std::string_view owner, std::string_view name);

}  // namespace kerf
