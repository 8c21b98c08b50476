// How much memory there is, and refusing work that would need more.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "kerf/core/view.h"

namespace kerf::detail {

/// Memory this process may still use: the least of what the machine has available, the cgroup's
/// limit (version 1 and 2) and the address-space limit.
Index available_memory();

/// Most that work takes which can do with less: `limit`, or without one (0) a quarter of
/// available_memory(), since the machine has other things to do.
Index memory_budget(Index limit);

/// Largest memory this process has held so far (resident set).
Index peak_memory();

/// "1.5 GB", "512 MB", ...: powers of 1024, three digits.
std::string human_bytes(Index bytes);

/// "8G", "512M", "1.5g", "2GiB", "1000000" to bytes; throws Error (usage).
Index parse_bytes(std::string_view text);

/// An estimate as a number of bytes: the largest there is, where it is beyond that.
Index saturated(double bytes);

/// Throws Error (memory) if `needed` is more than `limit` (0: available_memory()).
/// `what` begins the message; `advice` ends it.
void require_memory(Index needed, Index limit, std::string_view what, std::string_view advice);

}  // namespace kerf::detail
