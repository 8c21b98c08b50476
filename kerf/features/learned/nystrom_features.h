// Nystroem features: the kernel of a row with m landmark rows, whitened.
//
//   z(x) = R^-T k_m(x),   k_m(x) = (k(x, y_1), .., k(x, y_m)),   K_mm + e I = R^T R (Cholesky)
//   so that <z(x), z(y)> = k_m(x)^T (K_mm + e I)^-1 k_m(y)
//
//   landmarks  uniform    m rows drawn without replacement
//              leverage   m rows drawn with probabilities that grow with their ridge leverage
//                         scores l_i = (k(x_i, x_i) - k_s^T (K_ss + p t I)^-1 k_s) / t from a
//                         uniform sample of s rows (at most 1,024; p = s / n), t such that the
//                         sample's effective dimension is s / 2
//              centres    centres of m clusters (cluster_centres.h) of at most 16 m rows (less
//                         where that is more than 2^26 numbers; sparse rows become dense): no rows
//                         of the data, but nearer to them
//   e = 1e-6 of the mean of K_mm's diagonal: what single precision resolves; equal landmarks do no
//   harm.
//
// Kernel:     any exact kernel.  Deterministic given the landmarks, and never above the kernel:
//             k(x, x) - |z(x)|^2 is the part of x that the landmarks do not explain.
// Training:   by K_nm^T K_nm + n lambda K_mm, which whitens no row, where lambda is given, the sums
//             are solved directly and (K_mm^-1)_ii < 200 for all i (mean diagonal 1): this form
//             squares the condition number, and its sums are in single precision (MNIST, 140:
//             probabilities 2e-4 off in the root mean square).  Otherwise on z,
//             a triangular product a block in single precision (m^2 flops a row, as many as the
//             sums take).  Prediction never whitens: R^-1 is folded into the weights and a model is
//             its landmarks and one number a landmark and output.
// Cost:       uniform, centres: one pass to draw, leverage: two; O(m^2 d + m^3) to whiten; O(m d)
//             a row and m^2 while training.  Fewer rows than m: the features that are left are zero.
// Reference:  Williams & Seeger, "Using the Nystroem method to speed up kernel machines",
//             NIPS 2000;
//             Musco & Musco, "Recursive sampling for the Nystroem method", NIPS 2017 (the scores).
// Differs:    one level of recursion, and sampling without replacement (exponential races).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/names.h"
#include "kerf/features/feature_map.h"

namespace kerf::detail {

struct NystromOptions {
  enum class Landmarks { uniform, leverage, centres };
  friend constexpr auto names_of(Landmarks) { return std::array{"uniform", "leverage", "centres"}; }

  std::string kernel = "gaussian";
  Index features = 4096;
  Landmarks landmarks = Landmarks::uniform;
  Params kernel_options;  ///< of all kernels; missing: the default

  static void resolve(OpenOptions& options);
  void describe(OptionVisitor& v);
};

class NystromFeatures {
 public:
  using Options = NystromOptions;
  static constexpr const char* kName = "nystrom";
  static constexpr const char* kOwner = "map nystrom";
  static constexpr const char* kPythonName = "Nystrom";
  static constexpr const char* kSummary =
      "Nystroem features of any exact kernel: the kernel with landmark rows of the data";
  static constexpr bool kConvolves = true;  // some of its kernels do

  /// For every kernel: the maps before it in the registry are better where they can.
  static std::optional<Params> stands_for(std::string_view kernel, const Params& options,
                                          const DataSummary&) {
    return with_kernel(options, kernel);
  }
  /// Arrays "landmarks" (rows x columns) and the compression R^-1.
  static MapState fit(RowSource& rows, const Options& options, rng::Key key,
                      const Progress& progress);
  static std::unique_ptr<FeatureMap> restore(Index in_dim, const Options& options, rng::Key key,
                                             const MapState& state);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options&) { return 0; }
  /// At most 1: |z(x)|^2 lies between 0 and k(x, x).
  static double relative_bias(const Options&) { return 1; }
  static Index bytes(Index in_dim, const Options& options);
  static Index restored_bytes(Index in_dim, const Options& options, const MapState& state);
};

}  // namespace kerf::detail
