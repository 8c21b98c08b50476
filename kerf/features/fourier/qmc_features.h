// Fourier features whose frequencies are a quasi-Monte Carlo sequence.
//
//   pairs or phase of fourier_form.h with w_j = F^-1(u_j) coordinate by coordinate, F the law of a
//   frequency's coordinate (gaussian: normal, laplacian: Cauchy, cauchy: Laplace); laplacian-l2,
//   matern32, matern52: g/h, h from one dimension more, the first.  The dimensions of u are cut into groups of
//   g = log2 N (at least 3, at most 10; N: number of frequencies); those of a group are the first N
//   points of a Sobol sequence in g dimensions, scrambled, and taken in a random order of its own
//
// Scrambling: digits of coordinate k are multiplied by a random lower triangular matrix with ones
//             on its diagonal, then shifted (exclusive or) by random digits: the points remain a
//             digital net of the same quality, and each is uniform on the cube (of 2^32 steps a
//             side).
// Unbiased:   E <phi(x), phi(y)> = k(x, y).
// Error:      far below that of rff where x - y has its columns in one group (d <= 10 at 2,048
//             features: 1/30 at |x - y| = s, d = 8), somewhat below it otherwise (0.7 at d = 16, 0.85
//             at d = 32).  Where a group's points are worse than random ones, for some pairs of
//             columns at some lengths, the largest measured is 1.9/m (pairs), within the 2/m that
//             relative_variance() states, which is tested on such rows, not proved.  Best for a
//             number of frequencies that is a power of two.
// Cost:       a row as rff.
// Reference:  Yang, Sindhwani, Avron & Mahoney, "Quasi-Monte Carlo feature maps for shift-invariant
//             kernels", ICML 2014; Owen, "Latin supercube sampling for very high dimensional
//             simulations", 1998 (groups); Joe & Kuo 2008 (direction numbers, from Boost); Matousek,
//             "On the L2-discrepancy for anchored boxes", 1998 (the scrambling).
// Differs:    scrambled, so that it is unbiased and a seed means something; the sequence starts at
//             its point 0, which Boost leaves out; groups: in one sequence of d dimensions pairs of
//             later dimensions are so badly spread at the usual N that single kernel values vary up
//             to 40 times as much as with rff (d = 200; differences of two columns).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/rows/matrix.h"
#include "kerf/features/fourier/fourier_form.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

class QmcFeatures final : public FourierMap {
 public:
  using Options = FourierMapOptions;
  static constexpr const char* kName = "qmc";
  static constexpr const char* kOwner = "map qmc";
  static constexpr const char* kPythonName = "QuasiRFF";
  static constexpr const char* kSummary =
      "Fourier features with quasi-Monte Carlo frequencies (scrambled Sobol points)";

  QmcFeatures(Index in_dim, const Options& options, rng::Key key);
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  Projection turns_;
};

/// Dimensions of a group of so many points.
Index sobol_group(Index count);

/// Points 0 .. count - 1, count x dim, as digits: a coordinate is (digits + 1/2) / 2^32.
Matrix<std::uint32_t> scrambled_sobol(Index dim, Index count, rng::Key key);

}  // namespace kerf::detail
