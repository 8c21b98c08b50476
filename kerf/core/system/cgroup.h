// What a container grants this process: memory and processor time of its control group.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/view.h"

namespace kerf::detail {

/// Bytes that the group may still take, or the largest Index without a limit: its limit less its
/// use, where pages of files do not count as used, because the kernel drops them when memory is
/// wanted.  (A job that has just read its data would else seem to have none left.)
Index cgroup_memory(const std::string& root = "/sys/fs/cgroup");

/// Cores that the group's share of time is worth, rounded up, or 0 without a limit.
int cgroup_cores(const std::string& root = "/sys/fs/cgroup");

}  // namespace kerf::detail
