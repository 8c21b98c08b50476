// Random features of a computation skeleton: Algorithm 1 (RFSS), canonical, without duplicates.
//
//   RFSS(v): at an input node a base feature; at an inner node draw a degree l ~ (a_i) of s_v, then
//   l times choose an in-edge uniformly and recurse; the feature is the product.
//   Base features of a space (i the imaginary unit):
//     sign sg(x);  circle exp(+- i a x);  gaussian exp(i a <w, x>);  categorical exp(2 pi i w x/n),
//     w uniform on 0 .. n - 1;  sphere of d columns, pair: sqrt(d/2) (x_j +- i x_{j+1}), j cyclic,
//     or coordinate: sqrt(d) x_j, of x / |x|.
//   Such a product is psi = R exp(2 pi i t), R a product of few real numbers and t an integer
//   combination of few phases: stored as its integers.  Conjugates have the same real part, so the
//   exponents' sign is fixed; a feature with t = 0 is real and needs no phase b.
//   Real form: sqrt 2 R cos(2 pi t + b), b uniform on {0, pi/2}; or both columns R cos, R sin.
//   Duplicates are merged: weight sqrt(count / q) gives exactly the unmerged estimate.  Draws go on
//   until one WOULD need a column too many; that one is dropped, q counts the kept ones.
//
// Unbiased:   given the stopping time and the kept draws in any order, the first draw is any of
//             them with the same probability; so E count_f / q = P(f).  (Keeping the last draw is
//             biased.)  By the same argument the estimate is the conditional mean of that from the
//             first M draws alone: its variance is at most theirs.
// Error:      Var <phi(x), phi(y)> <= 2 B / M for M columns, B = Skeleton::second_moment(): 1
//             without spheres.
// Cost:       O(C(S)) a draw; 8 bytes for each base factor and 13 a feature; gaussian factors 8
//             bytes for each of their columns, and they never merge.
// Reference:  Daniely, Frostig, Gupta, Singer 2017, Algorithm 1, Comment 1, section 6.
// Differs:    the stopping rule, and the hybrid baseline: a node exp over circles is a Gaussian
//             kernel of the points on the circles, for which one random Fourier feature is drawn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "kerf/core/names.h"
#include "kerf/core/random/random.h"
#include "kerf/kernels/skeleton/skeleton.h"

namespace kerf::detail {

enum class RealForm { phase, pair };
constexpr auto names_of(RealForm) { return std::array{"phase", "pair"}; }
enum class SphereForm { pair, coordinate };
constexpr auto names_of(SphereForm) { return std::array{"pair", "coordinate"}; }

/// A number of a row that products are made of.  Phases (in turns) come first, real factors next.
struct SkeletonAtom {
  enum class Kind { circle, category, sphere_angle, sign, sphere_radius, sphere_coordinate };
  Kind kind;
  Index node;      ///< input node of the skeleton
  Index position;  ///< sphere: j
  bool is_phase() const { return kind <= Kind::sphere_angle; }
};

enum class ColumnKind : std::uint8_t { real, cosine, sine };

/// The features, column by column.
struct SkeletonTable {
  std::vector<SkeletonAtom> atoms;                                  ///< phases first
  std::vector<std::uint32_t> first_factor = {0}, first_term = {0};  ///< of each column, and the end
  /// Of each factor: a column's phases first, ascending where it has no gaussian factors.
  std::vector<std::uint32_t> atom;
  std::vector<std::int32_t> exponent;
  /// Gaussian factors: t += coefficient * number, where numbers are the columns of the row, then
  /// the cosines, then the sines of all phases.
  std::vector<std::uint32_t> number;
  std::vector<float> coefficient;
  std::vector<float> weight;  ///< of each column, sqrt 2 included
  std::vector<ColumnKind> kind;
  Index draws = 0;          ///< q
  double base_factors = 0;  ///< of the draws, on average: C(S) is its expectation

  Index columns() const { return static_cast<Index>(weight.size()); }
  Index bytes() const;
};

struct DrawOptions {
  Index columns = 4096;
  RealForm form = RealForm::phase;
  SphereForm sphere = SphereForm::pair;
  bool deduplicate = true;
  bool hybrid = false;
};

/// Up to options.columns columns: fewer only if the skeleton does not have more features within
/// 1,000 draws a column.
SkeletonTable draw_skeleton(const Skeleton& skeleton, const DrawOptions& options, rng::Key key);

/// "sqrt(2) cos(2 a[3] - a[17])": column j in words, for people.
std::string describe_feature(const SkeletonTable& table, const Skeleton& skeleton, Index j);

}  // namespace kerf::detail
