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
#include "kerf/kernels/network/linear_kernel.h"
#include "kerf/kernels/network/ntk.h"
#include "kerf/kernels/skeleton/skeleton_kernel.h"

namespace kerf::detail {
namespace {

constexpr KernelEntry kKernels[] = {
    kernel_entry<GaussianKernel>(),     //
    kernel_entry<LaplacianKernel>(),    //
    kernel_entry<LaplacianL2Kernel>(),  //
    kernel_entry<CauchyKernel>(),       //
    kernel_entry<Matern32Kernel>(),     //
    kernel_entry<Matern52Kernel>(),     //
    kernel_entry<LinearKernel>(),       //
    kernel_entry<ArcCosineKernel>(),    //
    kernel_entry<NngpKernel>(),         //
    kernel_entry<NtkKernel>(),          //
    kernel_entry<SkeletonKernel>(),     //
    kernel_entry<CntkKernel>(),         //
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

void resolve_as_kernel(std::string_view name, OpenOptions& options) {
  for (const KernelEntry& kernel : kKernels)
    if (kernel.name == name && kernel.resolve != nullptr) kernel.resolve(options);
}

}  // namespace kerf::detail
