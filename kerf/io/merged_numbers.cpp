// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/merged_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "kerf/core/spelling.h"
#include "kerf/io/class_names.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

void MergedNumbers::add(double value, std::string_view text) {
  if (!one_.empty()) return;
  const auto found = texts_.find(value);
  if (found == texts_.end()) {
    if (texts_.size() < kMost)
      texts_.emplace(value, text);
    else if (rounded_.empty() && exact_number(text) != exact_number(fmt::format("{:.0f}", value)))
      rounded_ = text;
    return;
  }
  if (found->second == text || class_key(found->second) == class_key(text)) return;
  one_ = found->second;
  other_ = text;
  texts_.clear();
}

std::string MergedNumbers::note(const std::string& column) const {
  const std::string words = "if they are names, " + spell("categorical") + " takes them for words";
  if (!one_.empty() && exact_number(one_) == exact_number(other_))
    return fmt::format(
        "{} has {} and {}, equal numbers written differently: taken for one number; {}", column,
        quoted(one_), quoted(other_), words);
  if (!one_.empty())
    return fmt::format("{} has {} and {}, which are one number in double precision; {}", column,
                       quoted(one_), quoted(other_), words);
  if (!rounded_.empty())
    return fmt::format(
        "{} has {} and others of more digits than double precision keeps, so that "
        "neighbours are one number; {}",
        column, quoted(rounded_), words);
  return "";
}

}  // namespace kerf::detail::io
