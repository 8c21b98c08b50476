// The options of ntk-rf, which two files implement (ntk_random_features.h, split_network.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "kerf/core/options.h"
#include "kerf/core/spelling.h"
#include "kerf/features/directions/directions.h"
#include "kerf/kernels/network/ntk.h"

namespace kerf::detail {

enum class NetworkKernel { ntk, nngp };
constexpr auto names_of(NetworkKernel) { return std::array{"ntk", "nngp"}; }

enum class ProductSketch { tensorsrht, tensorsketch, none };
constexpr auto names_of(ProductSketch) { return std::array{"tensorsrht", "tensorsketch", "none"}; }

enum class SplitKind { automatic, on, off };
constexpr auto names_of(SplitKind) { return std::array{"auto", "true", "false"}; }

// What maps of fully-connected networks ask alike.

inline void describe_bias(OptionVisitor& v, std::optional<double>& bias) {
  v.automatic("bias", bias, {0, 1e30},
              "constant coordinate appended to every row; auto: the typical length of a row");
  v.as_is("0");
}
inline void describe_depth(OptionVisitor& v, Index& depth, Index& features) {
  v.integer("depth", depth, {1, kMaxDepth}, "number of hidden layers");
  v.integer("features", features, {1, 1 << 24}, "number of features");
}
inline void describe_network_kernel(OptionVisitor& v, NetworkKernel& kernel) {
  v.choice("kernel", kernel,
           "kernel of the network: all layers trained (ntk) or the last one only (nngp)");
}
/// Maps whose directions may be drawn by Gibbs sampling.
inline void describe_gibbs(OptionVisitor& v, Index& sweeps) {
  v.integer("gibbs-sweeps", sweeps, {1, 100}, "sweeps of " + spell("directions", "gibbs"));
  v.only_with("directions", {"gibbs"});
}

struct NtkMapOptions {
  NetworkKernel kernel = NetworkKernel::ntk;
  Index depth = 2;
  Index features = 4096;
  Directions directions = Directions::sphere;
  ProductSketch sketch = ProductSketch::tensorsrht;
  bool shared_directions = true;
  SplitKind split = SplitKind::automatic;
  bool signs = true;
  Index m0 = 0;
  Index ms = 0;
  Index gibbs_sweeps = 1;
  std::optional<double> bias;

  static void resolve(OpenOptions& options);
  void describe(OptionVisitor& v) {
    describe_network_kernel(v, kernel);
    describe_depth(v, depth, features);
    v.choice("directions", directions, "how random directions are drawn");
    v.choice("sketch", sketch, "how the tensor product of a layer is sketched; none: kept whole");
    v.choice("split", split,
             "exact linear parts apart from random even and odd ones: less variance; auto: where "
             "rows have at most 1/16 as many columns as there are features, and ntk of at most 512 "
             "features");
    v.flag("shared-directions", shared_directions,
           "step and ReLU features of a layer use the same directions");
    v.flag("signs", signs,
           "a constant and random signs in place of step features: less variance; split: always");
    v.integer(
        "m0", m0, {0, 1 << 24},
        "step features (signs) of a layer; 0: a quarter of the features (split false: as many as "
        "ReLU features; sketch none: what fits)");
    v.integer("ms", ms, {0, 1 << 24},
              "features that are sketched products; 0: half of them (split: what is best)");
    describe_gibbs(v, gibbs_sweeps);
    describe_bias(v, bias);
  }
};

}  // namespace kerf::detail
