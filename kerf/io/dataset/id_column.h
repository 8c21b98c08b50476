// A column that names rows for people (a number of a customer, a key): passed through beside
// predictions as it is written, whether the model knows it or not.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/io/reader.h"
#include "kerf/io/table/encoding.h"

namespace kerf::detail::io {

/// Where the column `id` (a name or a number) stands.  Error (usage) if there is none, or no table.
Index find_id(const Encoding& encoding, const Schema& schema, const std::string& id,
              const std::string& source);

/// The encoding for a table of which column `place` names rows.  By name an unknown column does no
/// harm; by position it gets a place of its own.  Error (usage) where it could be an input as well.
Encoding with_id(const Encoding& encoding, const Schema& schema, Index place,
                 const std::string& source);

/// The cells of a column as keep_words() has them; of formats without text, numbers.
std::vector<std::string> texts_of(const RawBlock& raw, Index column);

}  // namespace kerf::detail::io
