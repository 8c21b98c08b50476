// Random directions for arc-cosine features.
//
//   gaussian     rows ~ N(0, I)
//   sphere       rows uniform on the unit sphere: the exact leverage-score distribution of order 1
//                (density ~ |w|^2 exp(-|w|^2/2), of which the feature uses only w/|w|)
//   orthogonal   rows of independent Haar orthogonal matrices, in_dim at a time: every row is
//                uniform on the sphere, rows of one matrix are orthogonal, which lowers the
//                variance
//   structured   fast transforms, each row uniform on the sphere of R^n, n = in_dim padded to a
//                power of two (structured_projection.h): O(count log in_dim) a row of data
//   gibbs        the leverage-score distribution as published: from a normal vector, T sweeps over
//                its coordinates, each drawn given the others; then w/|w|.  It is not quite uniform
//                after T = 1 sweep (d E w_j^2 = 1.07, .., 0.94 at d = 4): keep it for comparison
//
// Cost:       in_dim x count draws (gibbs: 1 + 2 T times as many); orthogonal adds a QR
//             decomposition, 2 in_dim^2 count flops; structured 3 draws a direction.
// Reference:  Zandieh et al., "Scaling neural tangent kernels via sketching and random features",
//             NeurIPS 2021 (leverage scores, Gibbs sweeps); Yu et al., "Orthogonal random
//             features", NIPS 2016; Mezzadri 2007 (Haar: the signs of R's diagonal must be taken
//             out).
// Differs:    the paper inverts the conditional distribution numerically.  Its density
//             ~ (v^2 + s) exp(-v^2/2), s the other coordinates' squares, is a mixture: normal with
//             probability s/(1 + s), else the length of 3 normals with a random sign.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/names.h"
#include "kerf/core/random/random.h"
#include "kerf/features/directions/structured_projection.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

enum class Directions { gaussian, sphere, orthogonal, structured, gibbs };
constexpr auto names_of(Directions) {
  return std::array{"gaussian", "sphere", "orthogonal", "structured", "gibbs"};
}

/// Dimension in which directions of rows (x, bias) live: in_dim, or one more with a bias.
inline Index direction_dim(Index in_dim, double bias) { return bias == 0 ? in_dim : in_dim + 1; }

/// Inner products of rows (x, bias) with random directions; nothing in it unless drawn.
class DirectionSet {
 public:
  DirectionSet() = default;
  /// The coordinate `bias` is appended to every row unless it is 0.  `sweeps`: T of gibbs.
  DirectionSet(Directions kind, Index in_dim, double bias, Index count, rng::Key key,
               Index sweeps = 1);

  Index out_dim() const { return dense_.out_dim() + structured_.out_dim(); }
  /// As Projection::apply.
  void apply(const RowsView& x, const Projection::Receive& receive) const;

  /// c with E <w, x> <w, y> = <x, y> / c in `dim` dimensions: 1 for gaussian, else the dimension.
  static double inverse_variance(Directions kind, Index dim);
  /// E |<w, x>| / |x|.
  static double mean_absolute(Directions kind, Index dim);
  /// Memory while they are drawn and after.
  static Index bytes(Directions kind, Index dim, Index count);
  /// Bias of E <w, x> <w, y>, relative to |x| |y| / c: 0 except for gibbs, where it is an
  /// observation (largest at few dimensions), not a bound.
  static double relative_bias(Directions kind, Index sweeps);

 private:
  Projection dense_;
  StructuredProjection structured_;
};

/// count x dim, row-major: rows orthonormal in groups of dim (the last group may be smaller).
Matrix<float> orthogonal_directions(Index dim, Index count, rng::Key key);

/// Direction `index` after T sweeps.
void gibbs_direction(rng::Key key, std::uint64_t index, Index sweeps, std::span<float> out);

}  // namespace kerf::detail
