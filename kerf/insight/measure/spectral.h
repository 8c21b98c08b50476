// How close a feature map's kernel matrix is to the exact one, as learning sees it.
//
//   K: exact, Ka = Z Z^T: approximate, s > 0: the ridge added to both (n lambda)
//   epsilon: the least e with (1 - e)(K + sI) <= Ka + sI <= (1 + e)(K + sI)   (<=: of matrices)
//          = max(largest - 1, 1 - smallest) of the eigenvalues of (K + sI)^-1/2 (Ka + sI) (K +
//          sI)^-1/2
//   condition_number = largest / smallest of the same: 1 is perfect
//   statistical_dimension = tr K (K + sI)^-1: how many features a model with that ridge can use
//   relative_frobenius = |Ka - K|_F / |K|_F;  spectral_error = |Ka - K|_2 / |K|_2
//
// What that means for ridge regression, and how the numbers are found: kernel_quality.h; the plain way,
// by eigenvalues of whole matrices, is its oracle (tests/oracle/compare_spectra.h).
//
// Reference:  Avron et al., "Random Fourier features for kernel ridge regression", ICML 2017;
//             Zandieh et al., NeurIPS 2021, section 3.3 and Figure 1 of its first version.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kerf::detail {

struct SpectralQuality {
  double epsilon = 0;
  double condition_number = 1;
  double smallest = 1, largest = 1;  ///< eigenvalues of the preconditioned matrix
  double statistical_dimension = 0;
  double relative_frobenius = 0;
  double spectral_error = 0;
};

}  // namespace kerf::detail
