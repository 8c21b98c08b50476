// A sliding window over text: whole lines at a time, without copying them one by one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/io/bytes/input_stream.h"

namespace kerf::detail::io {

/// The bytes begin() .. end() are in memory; *end() is a newline that is not part of the text, with
/// enough readable bytes behind it for parse_decimal().
class TextWindow {
 public:
  explicit TextWindow(InputStream& input);

  const char* begin() const { return buffer_.data(); }
  const char* end() const { return end_; }
  /// Lines that start before this are complete (unless a quoted cell spans lines).
  const char* lines_end() const { return lines_end_; }
  /// The text ends at end().
  bool complete() const { return complete_; }

  /// Moves what begins at `keep` to the front and reads more behind it; false if there is no more.
  /// All pointers into the window are invalid afterwards: what stood at `keep` is at begin().
  bool advance(const char* keep);
  void restart();

 private:
  InputStream& input_;
  std::vector<char> buffer_;
  const char* end_ = nullptr;
  const char* lines_end_ = nullptr;
  bool complete_ = false;
};

}  // namespace kerf::detail::io
