// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/text_window.h"

#include <cstring>

#include "kerf/core/require.h"
#include "kerf/io/text/number.h"

namespace kerf::detail::io {
namespace {
constexpr std::size_t kWindowBytes = 1 << 20;
constexpr std::size_t kLongestLine = 1 << 28;
}  // namespace

TextWindow::TextWindow(InputStream& input) : input_(input) { restart(); }

void TextWindow::restart() {
  buffer_.assign(kNumberPadding, 0);
  buffer_[0] = '\n';
  end_ = lines_end_ = buffer_.data();
  complete_ = false;
}

bool TextWindow::advance(const char* keep) {
  if (complete_) return false;
  const auto kept = static_cast<std::size_t>(end_ - keep);
  const auto from = static_cast<std::size_t>(keep - buffer_.data());
  KERF_REQUIRE(kept < kLongestLine, data,
               "{}: a line (or a quoted cell) is longer than {} MB: is this a table?",
               input_.name(), kLongestLine >> 20);
  const std::size_t room = kept < kWindowBytes / 2 ? kWindowBytes : 2 * kept;
  if (from > 0) std::memmove(buffer_.data(), buffer_.data() + from, kept);
  if (buffer_.size() < room + kNumberPadding) buffer_.resize(room + kNumberPadding);
  const std::size_t got = input_.read(buffer_.data() + kept, room - kept);
  complete_ = got < room - kept;
  char* end = buffer_.data() + kept + got;
  std::memset(end, 0, kNumberPadding);
  *end = '\n';
  end_ = end;
  const void* last = complete_ ? nullptr : ::memrchr(buffer_.data(), '\n', kept + got);
  lines_end_ = complete_         ? end_
               : last == nullptr ? buffer_.data()
                                 : static_cast<const char*>(last) + 1;
  return got > 0;
}

}  // namespace kerf::detail::io
