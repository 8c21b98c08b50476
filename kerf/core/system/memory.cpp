// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/system/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/system/cgroup.h"

namespace kerf::detail {
namespace {

constexpr Index kUnlimited = std::numeric_limits<Index>::max();

/// "Name:  123 kB" in a file of /proc, in bytes, or `otherwise`.
Index kilobytes_in(const char* path, std::string_view name, Index otherwise) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    Index kilobytes = 0;
    if (word == name && file >> kilobytes) return kilobytes * 1024;
    file.clear();
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return otherwise;
}

/// Available memory by the kernel's own estimate.
Index machine_memory() { return kilobytes_in("/proc/meminfo", "MemAvailable:", kUnlimited); }

Index address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return static_cast<Index>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(kUnlimited)));
}

}  // namespace

Index available_memory() { return std::min({machine_memory(), cgroup_memory(), address_space()}); }

Index memory_budget(Index limit) { return limit > 0 ? limit : available_memory() / 4; }

// Not getrusage(): its high-water mark is inherited from the process that started this one.
Index peak_memory() { return kilobytes_in("/proc/self/status", "VmHWM:", 0); }

std::string human_bytes(Index bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1023.5 && unit < 6; ++unit) value /= 1024;
  if (unit == 0) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, units[unit]);
}

Index parse_bytes(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(rest, text.data() + text.size());
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
  if (unit.ends_with("ib")) unit.resize(unit.size() - 2);
  if (unit.ends_with("b")) unit.resize(unit.size() - 1);
  constexpr std::string_view kUnits = "kmgt";
  const auto power = unit.empty() ? std::string_view::npos : kUnits.find(unit[0]);
  const bool understood =
      error == std::errc() && (unit.empty() || (unit.size() == 1 && power < kUnits.size()));
  if (!unit.empty() && understood) value *= std::pow(1024.0, static_cast<double>(power + 1));
  KERF_REQUIRE(understood && value > 0 && value < 9e18, usage,
               "'{}' is not a size: write for example 8G, 512M or 1.5G", text);
  return static_cast<Index>(value);
}

Index saturated(double bytes) {
  if (!(bytes < static_cast<double>(kUnlimited)))
    return kUnlimited;  // nor where it is not a number
  return static_cast<Index>(std::max(bytes, 0.0));
}

void require_memory(Index needed, Index limit, std::string_view what, std::string_view advice) {
  const Index allowed = limit > 0 ? limit : available_memory();
  if (needed < 0) needed = kUnlimited;  // an estimate beyond what a number holds
  KERF_REQUIRE(needed <= allowed, memory, "{} needs about {}, but {} {}: {}", what,
               human_bytes(needed), human_bytes(allowed),
               limit > 0 ? "is the limit given" : "is available", advice);
}

}  // namespace kerf::detail
