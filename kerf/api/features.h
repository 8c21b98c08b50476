// Feature maps and the exact kernels that they reproduce.
//
//   const kerf::FeatureMap map(kerf::maps::Rff{.kernel = "laplacian", .bandwidth = 5}, x.cols());
//   kerf::Matrix<float> z = map.transform(x.view());       // <z_i, z_j> is about kernel(x_i, x_j)
//   kerf::Matrix<double> k = map.kernel().gram(x.view());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kerf/api/matrix.h"
#include "kerf/api/options.h"

namespace kerf {

/// A positive semi-definite function of two rows, exact, in double.  A handle: copies share the kernel,
/// which never changes.  Safe from several threads at once.
class KERF_API Kernel {
 public:
  /// Error (usage) for an unknown name, a wrong option, or one that is "auto": there are no rows to work
  /// it out from.
  explicit Kernel(const KernelSpec& kernel);
  double operator()(std::span<const double> x, std::span<const double> y) const;
  /// out(i, j) = k(x_i, y_j), as many rows and columns as x and y have rows.
  Matrix<double> gram(const Rows& x, const Rows& y) const;
  Matrix<double> gram(const Rows& x) const;

  struct Inside;
  explicit Kernel(std::shared_ptr<const Inside> inside);

 private:
  std::shared_ptr<const Inside> inside_;
};

/// phi with <phi(x), phi(y)> close to a kernel k(x, y): row by row, the same bits for the same name,
/// options, seed and row, for any number of threads.  A handle, as Kernel.
class KERF_API FeatureMap {
 public:
  /// A map of rows of so many columns.  Error (usage) for options that are "auto", and for a map that
  /// learns from rows: these want the other constructor.
  FeatureMap(const MapSpec& map, Index columns, std::uint64_t seed = 1);
  /// Of rows like these, as they are: automatic options are worked out, what can be learned is learned.
  FeatureMap(const MapSpec& map, const Rows& rows, std::uint64_t seed = 1);

  Index columns() const;
  Index features() const;
  const std::string& name() const;
  const Params& options() const;  ///< every one, nothing automatic
  /// out(i, :) = phi(x_i); Error (data) if shapes do not fit or a number is not finite.
  void transform(const Rows& x, MatrixView<float> out) const;
  Matrix<float> transform(const Rows& x) const;
  /// What it reproduces, and v with Var <phi(x), phi(y)> <= v k(x, x) k(y, y).
  Kernel kernel() const;
  double relative_variance() const;
  /// Of the rows that it was made for: columns that lose digits in single precision, features all 0.
  const std::vector<std::string>& warnings() const;

 private:
  struct Inside;
  std::shared_ptr<const Inside> inside_;
};

/// Names for MapSpec and KernelSpec.
KERF_API std::vector<std::string> map_names();
KERF_API std::vector<std::string> kernel_names();

}  // namespace kerf
