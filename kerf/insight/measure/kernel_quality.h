// How good a feature map is on a sample: its kernel matrix against the exact one, entry by entry
// and as learning sees it.
//
//   K: exact on n rows, Ka = Z Z^T, s = n lambda
//   entries        mean and root mean square of |Ka - K|, the largest, correlation of Ka and K
//   relative_frobenius = |Ka - K|_F / |K|_F;  spectral_error = |Ka - K|_2 / |K|_2
//   epsilon, condition_number, smallest, largest    as in spectral.h
//   statistical_dimension s_lambda = tr K (K + sI)^-1 = n - s |R^-1|_F^2,  R^T R = K + sI
//   spectrum       eigenvalues of K and Ka: all up to kDenseRows rows, else the leading ones
//
// What it means: for targets f + noise of variance v, ridge regression with K has a risk of at most
//   bound(K) = (s/n) f^T (K + sI)^-1 f + v s_lambda(K)/n,   and for e = epsilon < 1
//   bound(Ka) <= bound(K) / (1 - e) + v e/(1 + e) rank(Ka)/n
// (f^T (Ka + sI)^-1 f <= f^T (K + sI)^-1 f / (1 - e), and s_lambda(Ka) <= (s_lambda(K) + e
// rank(Ka))/(1 + e) because eigenvalues obey the same two inequalities).
//
// Error:      extreme eigenvalues by Lanczos' method (lanczos.h), relative to about 1e-5; the rest
//             as a dense computation in double: n 1e-16 |K|_2 / s.
// Cost:       Cholesky and triangular inverse of n x n, 2/3 n^3 flops, once; for each map n^2 m for
//             Ka and 4 n^2 a step of Lanczos, some tens of steps; 24 n^2 bytes.
// Reference:  Avron et al., "Random Fourier features for kernel ridge regression", ICML 2017, lemma
//             2 (the risk); Zandieh et al., NeurIPS 2021, Figure 1 of its first version.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/insight/measure/spectral.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

/// Rows up to which all eigenvalues are computed.
inline constexpr Index kDenseRows = 1024;
/// Eigenvalues asked for beyond.
inline constexpr Index kLeadingEigenvalues = 60;

struct EntryErrors {
  double mean = 0, rms = 0;  ///< of |Ka - K| over all n^2 entries
  double max = 0;
  Index max_row = 0, max_col = 0;  ///< where, in the sample
  double correlation = 1;          ///< of the entries of Ka and K; 0 if one is constant, 1 if both
};

struct KernelQuality {
  EntryErrors entries;
  SpectralQuality spectral;
  double risk_factor = 0;  ///< 1 / (1 - epsilon); infinite if epsilon >= 1: the bound says nothing
  double risk_noise = 0;   ///< epsilon / (1 + epsilon) rank / n: what a noise of variance 1 adds
  bool converged = true;   ///< Lanczos' method settled
  std::vector<double> spectrum;  ///< of Ka, descending, when asked for
};

/// The exact side, prepared once for any number of maps.
class ExactSide {
 public:
  /// `ridge` > 0 is absolute: n lambda.
  ExactSide(const Kernel& kernel, const RowsView& rows, double ridge,
            const Progress& progress = {});
  /// The matrix itself, n x n and symmetric.
  ExactSide(Matrix<double> exact, double ridge, const Progress& progress = {});

  Index rows() const { return exact_.rows(); }
  double ridge() const { return ridge_; }
  const Matrix<double>& matrix() const { return exact_; }
  double statistical_dimension() const { return statistical_dimension_; }
  double trace() const { return trace_; }
  double frobenius() const { return frobenius_; }
  double norm() const { return norm_; }  ///< largest eigenvalue

  /// Eigenvalues of K, descending (kDenseRows).
  std::vector<double> spectrum() const;
  /// z: the features of the same rows.
  KernelQuality compare(MatrixView<const float> z, bool with_spectrum = false) const;

  /// Memory of all this for n rows with m features.
  static Index bytes(Index rows, Index features);

 private:
  void prepare(const Progress& progress);
  EntryErrors entry_errors(const Matrix<double>& approximate, double& frobenius) const;

  Matrix<double> exact_;
  Matrix<double> inverse_factor_;  // R^-1, upper
  double ridge_;
  double statistical_dimension_ = 0, trace_ = 0, frobenius_ = 0, norm_ = 0;
};

}  // namespace kerf::detail
