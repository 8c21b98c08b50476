// TEFM: few features that span what many random features of the data have in common.
//
//   z(x) = Q^T f(x),    f: D = oversample m features of a base map,    Q (D x m) orthonormal
//   columns, the range of  Y = (F^T F)^q F^T T,   F = f of all n rows, T a random n x m matrix:
//     variant g   T Gaussian, power q >= 0, Y orthonormalised between the powers
//     variant s   T^T a block SRHT over the rows (sketch/row_sketch.h), q = 0; as g with fewer
//                 rows than features
//
// Kernel:     that of the base map, projected: Z Z^T = F Q Q^T F^T <= F F^T, close to it when the
//             spectrum of F falls off quickly, which is what makes few features enough.
// Error:      |F - F Q Q^T| is near the (m + 1)-st singular value of F (randomised range finder),
//             and nearer with q; what the base map itself misses of the kernel is added.
//             Fewer columns where the rows span less: at most n, none of directions in which Y is
//             rounding (1e-6 of its longest column).  Features beyond them are 0.
// Cost:       q + 1 passes that make F block by block, never holding it.  Variant g: 2 n D m flops
//             (and 4 q n D m) besides; s: n D (log2 B + m / B) additions; then one QR, 4 D m^2
//             flops by matrix products.  Memory 20 D m bytes and a block of 1,024 rows of F.
// Prediction: Q is folded into the weights: a model is the base map's seed and one number for each
//             of the D features and each output.
// Reference:  Zhu et al., "Training-efficient feature map for shift-invariant kernels", IJCAI 2016;
//             Halko, Martinsson & Tropp, "Finding structure with randomness", 2011.
// Differs:    any base map, not only random Fourier features; variant s as a block SRHT, so that
//             rows stream.  The fit does not depend on how the rows are cut into blocks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/names.h"
#include "kerf/features/feature_map.h"

namespace kerf::detail {

struct TefmOptions {
  enum class Variant { g, s };
  friend constexpr auto names_of(Variant) { return std::array{"g", "s"}; }

  Index features = 4096;
  std::string base = "rff";
  Index oversample = 4;
  Variant variant = Variant::g;
  Index power = 0;
  std::string kernel = "auto";
  std::optional<double> bandwidth, bias;
  Index depth = 1;
  std::string base_options;

  /// What the base map leaves open it settles itself, with the features that it has here.
  static void resolve(OpenOptions& options);
  void describe(OptionVisitor& v) {
    v.integer("features", features, {1, 1 << 22}, "number of features");
    v.text("base", base, "map whose features are compressed: any but nystrom and tefm");
    v.integer("oversample", oversample, {1, 1024}, "features before the compression, per feature");
    v.choice("variant", variant, "g: Gaussian range finder; s: by an SRHT of the rows");
    v.integer("power", power, {0, 8}, "power steps of variant g: passes over the rows, less error");
    v.text("kernel", kernel, "kernel of the base map; auto: its default");
    v.automatic("bandwidth", bandwidth, kAnyPositive, "of base maps that have one");
    v.automatic("bias", bias, {0, 1e150}, "of base maps that have one");
    v.as_is("0");
    v.integer("depth", depth, {1, 64}, "of base maps that have one");
    v.text("base-options", base_options, "other options of the base map, as in order=0,form=phase");
  }
};

class TefmFeatures {
 public:
  using Options = TefmOptions;
  static constexpr const char* kName = "tefm";
  static constexpr const char* kOwner = "map tefm";
  static constexpr const char* kPythonName = "TEFM";
  static constexpr const char* kSummary =
      "features of any base map, compressed to the subspace that matters for the data";

  /// The compression Q only.
  static MapState fit(RowSource& rows, const Options& options, rng::Key key,
                      const Progress& progress);
  static std::unique_ptr<FeatureMap> restore(Index in_dim, const Options& options, rng::Key key,
                                             const MapState& state);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  /// Of the base map: the projection adds no variance, but takes something away.
  static double relative_variance(const Options& options);
  static double relative_bias(const Options&) { return 1; }
  static Index bytes(Index in_dim, const Options& options);
  static Index bytes_to_fit(Index in_dim, const Options& options, Index rows);
  static Index restored_bytes(Index in_dim, const Options& options, const MapState& state);

  /// The base map's registry line and its options; Error (usage) for one that cannot be a base.
  static const FeatureMapEntry& base_map(const Options& options);
  static Params base_params(const Options& options);
};

}  // namespace kerf::detail
