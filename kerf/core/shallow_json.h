// JSON from files that anybody may have written: nested as deep as kerf nests it, no deeper.
//
// To copy or print a value goes one call deeper with each level, so that a file of brackets alone
// would end the process.  For .cpp files only, as require.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include <nlohmann/json.hpp>

#include "kerf/core/require.h"

namespace kerf {

inline constexpr int kDeepestJson = 32;

/// `text` as JSON; Error (data) if it is nested deeper than 32, Json::parse_error if it is none.
template <class Json>
Json parse_shallow_json(std::string_view text) {
  return Json::parse(text, [](int depth, typename Json::parse_event_t, const Json&) {
    KERF_REQUIRE(depth <= kDeepestJson, data, "its JSON is nested deeper than {}", kDeepestJson);
    return true;
  });
}

}  // namespace kerf
