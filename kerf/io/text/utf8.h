// Text of files as UTF-8, which is what model files and messages hold.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace kerf::detail::io {

/// Whether `text` is UTF-8 (RFC 3629: shortest forms only, no surrogates).
bool is_utf8(std::string_view text);

/// `text` if it is UTF-8; else it is taken for Latin-1, so that different words stay different.
std::string to_utf8(std::string_view text);

}  // namespace kerf::detail::io
