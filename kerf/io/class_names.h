// Which class a cell names: by its text, else by the number that it spells, compared digit by digit.
//
// A double would make one class of 9007199254740992 and 9007199254740993.  Numbers with a zero in
// front (007) are names of their own beside 7; 1 and 1.0 are one class.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kerf/core/view.h"

namespace kerf::detail::io {

/// The same text for every way to write a number (7, 007, 7.0, 70e-1), another for every other
/// number; "" if `text` is no decimal number.
std::string exact_number(std::string_view text);

/// Whether a zero that a number does not need stands in front of it: 007, -01.5, but not 0.5.
bool has_leading_zeros(std::string_view text);

/// What numbers of one file that are one class have in common.
std::string class_key(std::string_view text);

/// A number as a label or a word: as it is written where a zero stands in front, else in the one way
/// that 1, +1 and 1.0 have in common, with all digits of whole numbers.
std::string number_name(std::string_view text);

/// What a word of an input column is known by, in files as in frames: a number by its number_name(),
/// anything else by itself.
std::string word_name(std::string_view text);

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
/// Numbers of names, found without a copy of the text that is looked for.
using NameNumbers = std::unordered_map<std::string, Index, TextHash, std::equal_to<>>;

class ClassNames {
 public:
  explicit ClassNames(const std::vector<std::string>& classes = {});
  /// The number of the class that `text` names, or -1.
  Index find(std::string_view text) const;

 private:
  NameNumbers by_text_;
  NameNumbers by_number_;  // -1: several classes have zeros in front of this number
};

}  // namespace kerf::detail::io
