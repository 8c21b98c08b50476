// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/system/cgroup.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace kerf::detail {
namespace {

constexpr Index kUnlimited = std::numeric_limits<Index>::max();

/// First number in a file, or `otherwise` (no such file, or the word "max").
Index number_in(const std::string& path, Index otherwise) {
  std::ifstream file(path);
  Index value = 0;
  return file >> value ? value : otherwise;
}

/// The number behind `name` in a file of "name number" lines, or 0.
Index field_in(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  Index value = 0;
  for (std::string word; file >> word >> value;)
    if (word == name) return value;
  return 0;
}

/// Of one version: limit less use; `prefix` is that of the fields which sum over subgroups.
Index memory_left(const std::string& limit, const std::string& used, const std::string& fields,
                  const std::string& prefix) {
  const Index most = number_in(limit, kUnlimited);
  if (most == kUnlimited) return kUnlimited;
  const Index files =
      field_in(fields, prefix + "inactive_file") + field_in(fields, prefix + "active_file");
  return std::max<Index>(most - std::max<Index>(number_in(used, 0) - files, 0), 0);
}

}  // namespace

Index cgroup_memory(const std::string& root) {
  const std::string first = root + "/memory/memory.";
  return std::min(
      memory_left(root + "/memory.max", root + "/memory.current", root + "/memory.stat", ""),
      memory_left(first + "limit_in_bytes", first + "usage_in_bytes", first + "stat", "total_"));
}

int cgroup_cores(const std::string& root) {
  // Version 2: "QUOTA PERIOD" or "max PERIOD"; version 1: a file each, a quota of -1 is none.
  double quota = 0, period = 0;
  std::ifstream file(root + "/cpu.max");
  if (!(file >> quota >> period)) {
    quota = static_cast<double>(number_in(root + "/cpu/cpu.cfs_quota_us", -1));
    period = static_cast<double>(number_in(root + "/cpu/cpu.cfs_period_us", 0));
  }
  if (!(quota > 0 && period > 0)) return 0;
  return static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1024.0));
}

}  // namespace kerf::detail
