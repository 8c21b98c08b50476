// Fourier features whose frequencies are a quasi-Monte Carlo sequence.
//
//   pairs or phase of fourier_form.h with w_j = F^-1(u_j) coordinate by coordinate, u_j point j of
//   a Sobol sequence in d dimensions, scrambled; F the law of a frequency's coordinate (gaussian:
//   normal, laplacian: Cauchy, cauchy: Laplace); laplacian-l2: g/|h|, h from one dimension more
//
// Scrambling: digits of coordinate k are multiplied by a random lower triangular matrix with ones
//             on its diagonal, then shifted (exclusive or) by random digits: the points remain a
//             digital net of the same quality, and each is uniform on the cube (of 2^32 steps a
//             side).
// Unbiased:   E <phi(x), phi(y)> = k(x, y).
// Error:      Var about that of rff (2/m, 1.5/m) where many dimensions matter, far below it where
//             few do; best for a number of frequencies that is a power of two.
// Cost:       a row as rff; at most 3,667 dimensions, the generator's.
// Reference:  Yang, Sindhwani, Avron & Mahoney, "Quasi-Monte Carlo feature maps for shift-invariant
//             kernels", ICML 2014; Joe & Kuo 2008 (direction numbers, from Boost); Matousek,
//             "On the L2-discrepancy for anchored boxes", 1998 (the scrambling).
// Differs:    scrambled, so that it is unbiased and a seed means something; the sequence starts at
//             its point 0, which Boost leaves out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/matrix.h"
#include "kerf/core/projection.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/fourier_form.h"

namespace kerf {

class QmcFeatures final : public FeatureMap {
 public:
  using Options = FourierMapOptions;
  static constexpr const char* kName = "qmc";
  static constexpr const char* kOwner = "map qmc";
  static constexpr const char* kPythonName = "QuasiRFF";
  static constexpr const char* kSummary =
      "Fourier features with quasi-Monte Carlo frequencies (scrambled Sobol points)";

  QmcFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options) { return fourier_kernel(options); }
  static double relative_variance(const Options& options) { return fourier_variance(options); }
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  FourierForm form_;
  Projection turns_;
};

/// Points 0 .. count - 1, count x dim, as digits: a coordinate is (digits + 1/2) / 2^32.
Matrix<std::uint32_t> scrambled_sobol(Index dim, Index count, rng::Key key);

}  // namespace kerf
