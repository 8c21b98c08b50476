// Fastfood: Fourier features whose frequencies are fast transforms.
//
//   pairs or phase of fourier_form.h with  W = (1 / (s sqrt n)) S H G P H B  block by block of n
//   frequencies (structured_projection.h without S), n = d padded to a power of two, at least 16;
//   S_jj gives row j the length that a frequency of the kernel has in n dimensions (gaussian:
//   chi_n), divided by |G|
//
// Unbiased:   every row of W is exactly N(0, I / s^2) (uniform direction, chi length): E = k.
// Error:      that of rff plus the covariance of frequencies of one block, which share G:
//             differences along one column vary as with orf, of two columns as with rff, generic
//             ones with t = |x - y|^2/s^2 by about ((1 - e^-t)^2 + t^2 e^-t)/m (pairs, gaussian), 2
//             to 1.3 times rff's (1 - e^-t)^2/m from t = 0 to 4.  Largest measured: 1.6/m, within the 2/m that relative_variance() states (phase: 1.5/m), which
//             is tested on such rows, not proved.  (Without the padding 2.02/m, at n = 8.)
// Cost:       O(m log d) a row instead of O(m d); 16 bytes a frequency.
// Reference:  Le, Sarlos & Smola, "Fastfood: approximating kernel expansions in loglinear time",
//             ICML 2013 (with Hadamard matrices, its "Hadamard features").
// Differs:    laplacian-l2 and Matern beside gaussian (lengths chi_n / h); padding to at least 16.  Its other
//             variant, a discrete Fourier transform with permuted rows, is not here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/directions/structured_projection.h"
#include "kerf/features/fourier/fourier_form.h"

namespace kerf::detail {

class FastfoodFeatures final : public FourierMap {
 public:
  using Options = RadialMapOptions;
  static constexpr const char* kName = "fastfood";
  static constexpr const char* kOwner = "map fastfood";
  static constexpr const char* kPythonName = "Fastfood";
  static constexpr const char* kSummary =
      "Fourier features by Hadamard transforms: O(m log d) a row, for wide rows";

  FastfoodFeatures(Index in_dim, const Options& options, rng::Key key);
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  StructuredProjection directions_;
  std::vector<float> lengths_;
};

}  // namespace kerf::detail
