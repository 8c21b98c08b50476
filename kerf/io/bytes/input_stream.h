// Bytes of a file or of standard input, decompressed on the way when their first bytes say so.
//
// File is what is opened once and may be shared by several streams; InputStream is one reading of
// it from the first byte on.  Truncated or damaged compressed input is an Error (data) that names
// the file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kerf/core/view.h"

namespace kerf::detail::io {

/// An open file: seekable (read at any offset, from several streams) or a pipe (read once).
class File {
 public:
  /// `path` "-" is standard input.  Throws Error (data) if it cannot be opened.
  static std::shared_ptr<File> open(const std::string& path);
  /// The same, but a pipe is copied to a temporary file without a name first, so that it can be
  /// read twice.
  static std::shared_ptr<File> open_rewindable(const std::string& path);

  File(int descriptor, std::string name, bool owned);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& name() const { return name_; }
  bool seekable() const { return seekable_; }
  /// Bytes on disk, of standard input those not read yet; -1 for a pipe.
  Index size() const { return size_; }
  /// Up to `bytes` bytes from `offset` (a pipe: the next ones); fewer only at the end.
  std::size_t read(Index offset, void* to, std::size_t bytes) const;

 private:
  int descriptor_;
  std::string name_;
  bool owned_;
  bool seekable_ = false;
  Index begin_ = 0, size_ = -1;
};

/// Turns the file's bytes into the bytes they stand for.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Up to `bytes` bytes; 0 at the end only.
  virtual std::size_t read(char* to, std::size_t bytes) = 0;
  /// Bytes of the file used so far.
  virtual Index file_position() const = 0;
};

class InputStream {
 public:
  explicit InputStream(std::shared_ptr<File> file);
  /// A part of a file (a member of an archive) that `make` decodes from its beginning.
  InputStream(std::shared_ptr<File> file, std::function<std::unique_ptr<Decoder>()> make);

  const std::string& name() const { return file_->name(); }
  const File& file() const { return *file_; }
  const std::shared_ptr<File>& shared_file() const { return file_; }
  bool compressed() const { return compressed_; }
  /// How much of the file was used so far, 0 to 1; 0 where its size is not known.
  double part_read() const {
    const Index size = file_->size();
    return size > 0 ? static_cast<double>(decoder_->file_position()) / static_cast<double>(size)
                    : 0;
  }

  /// The next `bytes` bytes without using them up; fewer at the end of the input.
  std::string_view peek(std::size_t bytes);
  /// Reads `bytes` bytes; fewer at the end of the input only.
  std::size_t read(void* to, std::size_t bytes);
  /// Replaces `to` by the next `bytes` bytes, fewer at the end.  Memory grows with what is really
  /// there, so that a header may claim anything.
  void read_some(std::vector<char>& to, Index bytes);
  /// Starts again at the first byte; Error (usage) for a pipe that has been read from.
  void rewind();

 private:
  std::shared_ptr<File> file_;
  std::function<std::unique_ptr<Decoder>()> make_;  // empty: by the first bytes
  std::unique_ptr<Decoder> decoder_;
  bool compressed_ = false;
  bool touched_ = false;      // bytes have been used up
  std::vector<char> buffer_;  // peeked bytes, from begin_ on
  std::size_t begin_ = 0;
};

}  // namespace kerf::detail::io
