// Every kernel, one line each.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "kerf/core/require.h"
#include "kerf/kernels/distance/shift_invariant.h"
#include "kerf/kernels/image/cntk.h"
#include "kerf/kernels/kernel.h"
#include "kerf/kernels/network/arc_cosine.h"
#include "kerf/kernels/network/ntk.h"
#include "kerf/kernels/skeleton/skeleton_kernel.h"

namespace kerf::detail {
namespace {

template <class K>
constexpr KernelEntry entry() {
  return {K::kName, K::kSummary, list_options<typename K::Options>,
          [](const Params& params) -> std::unique_ptr<Kernel> {
            const std::string owner = std::string("kernel ") + K::kName;
            return std::make_unique<K>(read_options<typename K::Options>(params, owner));
          }};
}

constexpr KernelEntry kKernels[] = {
    entry<GaussianKernel>(),     //
    entry<LaplacianKernel>(),    //
    entry<LaplacianL2Kernel>(),  //
    entry<CauchyKernel>(),       //
    entry<ArcCosineKernel>(),    //
    entry<NngpKernel>(),         //
    entry<NtkKernel>(),          //
    entry<SkeletonKernel>(),     //
    entry<CntkKernel>(),         //
};

}  // namespace

std::span<const KernelEntry> kernels() { return kKernels; }

const KernelEntry& find_kernel(std::string_view name) {
  std::vector<std::string> names;
  for (const KernelEntry& kernel : kKernels) {
    if (kernel.name == name) return kernel;
    names.emplace_back(kernel.name);
  }
  fail(ErrorKind::usage, "there is no kernel '{}'{}; the kernels are {}", name,
       did_you_mean(name, names), fmt::join(names, ", "));
}

}  // namespace kerf::detail
