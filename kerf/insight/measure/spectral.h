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
// What that means for ridge regression: kernel_quality.h, which has the same numbers without
// eigenvalue problems, for larger n; this is the plain way, and its oracle.
//
// Error:      about n 1e-16 (|K|_2 / s).
// Cost:       three eigenvalue problems and two products of n x n matrices, 16 n^2 bytes twice.
// Reference:  Avron et al., "Random Fourier features for kernel ridge regression", ICML 2017;
//             Zandieh et al., NeurIPS 2021, section 3.3 and Figure 1 of its first version.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

struct SpectralQuality {
  double epsilon = 0;
  double condition_number = 1;
  double smallest = 1, largest = 1;  ///< eigenvalues of the preconditioned matrix
  double statistical_dimension = 0;
  double relative_frobenius = 0;
  double spectral_error = 0;
};

/// Both matrices n x n and symmetric; `ridge` > 0 is absolute: n lambda.
SpectralQuality compare_spectra(MatrixView<const double> exact,
                                MatrixView<const double> approximate, double ridge);

}  // namespace kerf::detail
