// The feature maps that the program, Python and model files know: one line per map.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/features/fourier/fastfood_features.h"
#include "kerf/features/fourier/fourier_features.h"
#include "kerf/features/fourier/orthogonal_fourier.h"
#include "kerf/features/fourier/qmc_features.h"
#include "kerf/features/image/cntk_gradient_features.h"
#include "kerf/features/image/cntk_random_features.h"
#include "kerf/features/image/cntk_sketch_features.h"
#include "kerf/features/learned/compact_features.h"
#include "kerf/features/learned/nystrom_features.h"
#include "kerf/features/learned/tefm_features.h"
#include "kerf/features/linear_features.h"
#include "kerf/features/network/arc_cosine_features.h"
#include "kerf/features/network/gradient_features.h"
#include "kerf/features/network/ntk_poly_features.h"
#include "kerf/features/network/ntk_random_features.h"
#include "kerf/features/network/ntk_sketch_features.h"
#include "kerf/features/skeleton/skeleton_features.h"

namespace kerf::detail {
namespace {

constexpr FeatureMapEntry kFeatureMaps[] = {
    feature_map_entry<FourierFeatures>(),            // rff
    feature_map_entry<OrthogonalFourierFeatures>(),  // orf
    feature_map_entry<FastfoodFeatures>(),           // fastfood
    feature_map_entry<QmcFeatures>(),                // qmc
    feature_map_entry<CompactFeatures>(),            // compact
    feature_map_entry<ArcCosineFeatures>(),          // arccos
    feature_map_entry<NtkRandomFeatures>(),          // ntk-rf
    feature_map_entry<NtkPolyFeatures>(),            // ntk-poly
    feature_map_entry<NtkSketchFeatures>(),          // ntk-sketch
    feature_map_entry<GradientFeatures>(),           // grad-rf
    feature_map_entry<CntkRandomFeatures>(),         // cntk-rf
    feature_map_entry<CntkSketchFeatures>(),         // cntk-sketch
    feature_map_entry<CntkGradientFeatures>(),       // cntk-grad-rf
    feature_map_entry<LinearFeatures>(),             // linear
    feature_map_entry<NystromFeatures>(),            // nystrom
    feature_map_entry<TefmFeatures>(),               // tefm
    feature_map_entry<SkeletonFeatures>(),           // skeleton
};

}  // namespace

std::span<const FeatureMapEntry> feature_maps() { return kFeatureMaps; }

const FeatureMapEntry& find_feature_map(std::string_view name) {
  const auto found =
      std::ranges::find(kFeatureMaps, name, [](const auto& e) { return std::string_view(e.name); });
  if (found != std::end(kFeatureMaps)) return *found;
  std::vector<std::string> names;
  for (const auto& entry : kFeatureMaps) names.emplace_back(entry.name);
  fail(ErrorKind::usage, "there is no feature map '{}'{}; maps are {}", name,
       did_you_mean(name, names), fmt::join(names, ", "));
}

}  // namespace kerf::detail
