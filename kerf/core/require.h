// How library code raises errors: KERF_REQUIRE(condition, kind, format, values...).
// For .cpp files only, so that users of the headers need not have fmt.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include "kerf/api/error.h"

namespace kerf::detail {

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace kerf::detail

#define KERF_REQUIRE(condition, kind, ...)                                        \
  do {                                                                            \
    if (!(condition)) ::kerf::detail::fail(::kerf::ErrorKind::kind, __VA_ARGS__); \
  } while (false)
