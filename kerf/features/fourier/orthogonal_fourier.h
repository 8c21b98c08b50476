// Fourier features whose frequencies are orthogonal, d at a time.
//
//   pairs or phase of fourier_form.h with w_j = r_j u_j:  r_j the length that the kernel's
//   frequencies have (gaussian: chi_d / s), and
//     orthogonal   u_j the rows of independent Haar orthogonal d x d matrices
//     structured   u_j the rows of fast rotations (butterfly_rotation.h), r_j for its padded
//                  dimension
//
// Unbiased:   E <phi(x), phi(y)> = k(x, y): each w_j has the law of rff's, for both.
// Error:      orthogonal angles repel each other: below that of rff, by far for m >= 2 d and |x - y|
//             up to some bandwidths (m = 2 d, |x - y| = s: a seventh), about equal beyond.
//             orthogonal: largest measured 1.06/m (pairs).  structured: the same for most rows; for
//             differences of few columns, some bandwidths long, up to 1.5/m (pairs).  Both within
//             the 2/m that relative_variance() states (1.5/m for phase), which is tested on such
//             rows, not proved.
// Cost:       orthogonal: a row as rff; 2 d^2 m flops to draw.  structured: O(m log d) a row, and
//             O(m log d) draws.
// Reference:  Yu et al., "Orthogonal random features", NIPS 2016.
// Differs:    structured rows are exactly uniform, and have chi lengths too (the paper: H D3 H D2 H
//             D1 and sqrt(d) for all, a bias of 0.02 for generic rows of 32 columns and of 0.1 for
//             differences of two columns); laplacian-l2 and Matern beside gaussian.  Kernels that are no
//             function of the Euclidean distance have no such features.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/directions/butterfly_rotation.h"
#include "kerf/features/fourier/fourier_form.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

struct OrthogonalFourierOptions : RadialMapOptions {
  enum class Directions { orthogonal, structured };
  friend constexpr auto names_of(Directions) { return std::array{"orthogonal", "structured"}; }

  Directions directions = Directions::orthogonal;

  void describe(OptionVisitor& v) {
    RadialMapOptions::describe(v);
    v.choice("directions", directions,
             "orthogonal: rows of random orthogonal matrices; structured: fast transforms");
  }
};

class OrthogonalFourierFeatures final : public FourierMap {
 public:
  using Options = OrthogonalFourierOptions;
  static constexpr const char* kName = "orf";
  static constexpr const char* kOwner = "map orf";
  static constexpr const char* kPythonName = "OrthogonalRFF";
  static constexpr const char* kSummary =
      "Fourier features with orthogonal frequencies: less variance than rff";

  OrthogonalFourierFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::optional<Params> stands_for(std::string_view kernel, const Params& options,
                                          const DataSummary& summary);
  static void bounds(const BoundInputs& in, std::vector<FeatureBound>& out) {
    fourier_bounds(in, "proved for rff, whose variance bounds this map's", out);
  }
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  Projection dense_;  // empty for structured directions,
  ButterflyRotation rotation_;
  std::vector<float> lengths_;  // of which these are the lengths
};

}  // namespace kerf::detail
