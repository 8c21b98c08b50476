// Numbers of one column that are written differently and are one double: 007 and 7, or whole numbers of
// more digits than a double holds.  They may have been names.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "kerf/core/view.h"

namespace kerf::detail::io {

class MergedNumbers {
 public:
  void add(double value, std::string_view text);
  /// A sentence about a column that has some; "": it has none.
  std::string note(const std::string& column) const;

 private:
  /// More different numbers than this are not kept in mind.
  static constexpr std::size_t kMost = 65536;

  std::unordered_map<double, std::string> texts_;  // the first of each
  std::string one_, other_;                        // the first two that are merged
  std::string rounded_;                            // the first that is not what its double is
};

}  // namespace kerf::detail::io
