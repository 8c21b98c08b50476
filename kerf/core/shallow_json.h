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

namespace kerf::detail {

inline constexpr int kDeepestJson = 32;

/// `text` as JSON; Error (data) if it is nested deeper than 32, Json::exception if it is none.  Depth is
/// looked at first: a parser with a callback searches all that stands beside each value that ends.
template <class Json>
Json parse_shallow_json(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    KERF_REQUIRE(depth <= kDeepestJson, data, "its JSON is nested deeper than {}", kDeepestJson);
  }
  return Json::parse(text);
}

/// What a JSON exception says, without its number: "[json.exception.type_error.302] type must be ...".
inline std::string_view json_words(const std::exception& error) {
  const std::string_view words = error.what();
  const std::size_t end = words.starts_with("[json.") ? words.find("] ") : std::string_view::npos;
  return end == std::string_view::npos ? words : words.substr(end + 2);
}

}  // namespace kerf::detail
