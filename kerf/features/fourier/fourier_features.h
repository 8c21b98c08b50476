// Random Fourier features of shift-invariant kernels.
//
//   pairs or phase of fourier_form.h, with w_j independent, drawn from the kernel's Fourier
//   transform
//
// Unbiased:   E <phi(x), phi(y)> = k(x, y).
// Error:      pairs: Var = (1 + k(2x, 2y) - 2 k^2)/m <= 2/m, and 0 for x = y;
//             phase: Var <= 1.5/m and 0.5/m for x = y.
// Cost:       O(m d) a dense row, O(m nnz) a sparse one (pairs: half of that); m d/2 or m d floats.
// Reference:  Rahimi & Recht, "Random features for large-scale kernel machines", NIPS 2007;
//             Sutherland & Schneider, "On the error of random Fourier features", UAI 2015 (pairs).
// Differs:    nothing; frequencies are kept in turns, w/2pi, so that reducing an angle is exact.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/fourier/fourier_form.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

class FourierFeatures final : public FourierMap {
 public:
  using Options = FourierMapOptions;
  static constexpr const char* kName = "rff";
  static constexpr const char* kOwner = "map rff";
  static constexpr const char* kPythonName = "RFF";
  static constexpr const char* kSummary =
      "random Fourier features of Gaussian, Laplacian, Matern and Cauchy kernels";
  static constexpr const char* kFormula =
      "``z(x) = sqrt(2/m) (cos <w_j, x>, sin <w_j, x>), j = 1 .. m/2``, with w_j drawn from"
      " the Fourier transform of the kernel:\n"
      "``gaussian`` exp(-\\|x-y\\|^2 / 2 s^2), ``laplacian`` exp(-\\|x-y\\|_1 / s), "
      "``laplacian-l2`` exp(-\\|x-y\\| / s),\n"
      "``cauchy`` prod 1 / (1 + (x_k-y_k)^2 / s^2), ``matern32`` (1 + r) exp(-r) with r = sqrt(3) "
      "\\|x-y\\| / s,\n"
      "``matern52`` (1 + r + r^2/3) exp(-r) with r = sqrt(5) \\|x-y\\| / s; s is the bandwidth.  "
      "The variance of "
      "<z(x), z(y)> is at most 2/m.";

  FourierFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::optional<Params> stands_for(std::string_view kernel, const Params& options,
                                          const DataSummary& summary);
  static void bounds(const BoundInputs& in, std::vector<FeatureBound>& out) {
    fourier_bounds(in, "", out);
  }
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  Projection turns_;
};

}  // namespace kerf::detail
