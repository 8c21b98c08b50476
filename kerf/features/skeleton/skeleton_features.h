// Random features of compositional kernels (computation skeletons).
//
//   column j:  weight_j R_j(x) cos(2 pi t_j(x) + b_j),    t_j an integer combination of few phases
//   as drawn by skeleton_draw.h, without duplicates.  If the skeleton has fewer distinct features
//   than columns, the last columns are 0.
//
// Unbiased:   E <phi(x), phi(y)> = k(x, y), the kernel of the skeleton (kernels/skeleton_kernel.h).
// Error:      Var <= 2 B / M for M features, B = Skeleton::second_moment() (1 without spheres).
// Cost:       proportional to the number of base factors, C(S) an average draw
//             (bench/skeleton_bench.cpp), the rows vectorised.  Memory: 13 bytes a feature and 8 a
//             factor, redrawn from the key on load.
// Reference:  Daniely, Frostig, Gupta, Singer, "Random features for compositional kernels", 2017.
// Differs:    see skeleton_draw.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_map.h"
#include "kerf/features/skeleton/skeleton_draw.h"
#include "kerf/kernels/skeleton/skeleton_kernel.h"

namespace kerf::detail {

struct SkeletonMapOptions {
  Index features = 4096;
  SkeletonOptions kernel;
  RealForm form = RealForm::phase;
  SphereForm sphere = SphereForm::pair;
  bool deduplicate = true;
  bool hybrid = false;

  static void resolve(OpenOptions& options) { SkeletonOptions::resolve(options); }
  void describe(OptionVisitor& v) {
    v.integer("features", features, {1, 1 << 24}, "number of distinct features");
    kernel.describe(v);
    v.choice("real-form", form,
             "a feature's cosine or sine, by chance; or both as a pair of columns");
    v.choice("sphere-form", sphere,
             "features of sphere bases: two neighbouring coordinates, or one");
    v.flag("deduplicate", deduplicate, "merge equal features, so that more are drawn");
    v.flag("hybrid", hybrid,
           "baseline: a random Fourier feature for each node exp over circles, not a product");
  }
};

class SkeletonFeatures final : public FeatureMap {
 public:
  using Options = SkeletonMapOptions;
  static constexpr const char* kName = "skeleton";
  static constexpr const char* kOwner = "map skeleton";
  static constexpr const char* kPythonName = "SkeletonFeatures";
  static constexpr const char* kSummary = "compositional kernels: products along random paths";

  SkeletonFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

  const Skeleton& skeleton() const { return skeleton_; }
  const SkeletonTable& table() const { return table_; }

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;
  /// The lines of all atoms, and of the numbers of gaussian factors.
  void fill_lines(const Matrix<float>& columns, Index stride, float* atoms, float* numbers) const;
  void fill_atom(const SkeletonAtom& atom, const Matrix<float>& columns,
                 std::span<float> out) const;

  Skeleton skeleton_;
  SkeletonTable table_;
};

}  // namespace kerf::detail
