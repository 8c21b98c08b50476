// Decompression, chosen by the first bytes of a file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "kerf/io/bytes/input_stream.h"

namespace kerf::detail::io {

/// A file's own bytes in order, with a look ahead.
class FileBytes {
 public:
  explicit FileBytes(std::shared_ptr<const File> file);

  const std::string& name() const { return file_->name(); }
  /// Makes at least `bytes` bytes available if the file has them.
  void want(std::size_t bytes);
  const char* data() const { return buffer_.data() + begin_; }
  std::size_t available() const { return end_ - begin_; }
  void consume(std::size_t bytes) { begin_ += bytes; }
  Index position() const { return offset_ - static_cast<Index>(available()); }
  /// What is buffered, then straight from the file.
  std::size_t read(char* to, std::size_t bytes);

 private:
  std::shared_ptr<const File> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  Index offset_ = 0;
};

/// The decoder for `file`, read from its first byte; `compressed` says whether it does anything.
std::unique_ptr<Decoder> make_decoder(std::shared_ptr<const File> file, bool& compressed);

std::unique_ptr<Decoder> make_xz_decoder(std::unique_ptr<FileBytes> bytes);
std::unique_ptr<Decoder> make_zstd_decoder(std::unique_ptr<FileBytes> bytes);

}  // namespace kerf::detail::io
