// Words and numbers that somebody said mean a missing cell, besides those that always do (reader.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <unordered_set>
#include <vector>

#include "kerf/io/reader.h"

namespace kerf::detail::io {

class MissingWords {
 public:
  /// `words`: numbers among them are numbers, however they are written.  `only`: nothing else is missing
  /// but empty cells (and NaN of arrays).
  MissingWords(const std::vector<std::string>& words, bool only);

  /// Marks cells of a table that are missing, and with `only` those that are not.
  void mark(RawBlock& block) const;

 private:
  void mark_numbers(RawBlock& block) const;

  std::unordered_set<std::string> words_;
  std::vector<double> numbers_;
  bool only_ = false;
};

}  // namespace kerf::detail::io
