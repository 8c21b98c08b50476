// A file that appears whole or not at all: written beside its final name, flushed to disk, renamed.
// A symbolic link stays, and the file it leads to is the one that appears.  A file that is replaced
// leaves its owner and rights to the new one.  A pipe or device stays what it is and is written to as
// it comes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "kerf/core/system/temporary_files.h"
#include "kerf/core/view.h"

namespace kerf::detail {

class AtomicFile {
 public:
  /// Opens a temporary file in the folder of `path`; throws Error (data) if that cannot be written.
  /// A pipe is opened when it has a reader.
  explicit AtomicFile(std::string path);
  /// Without commit(): removes the temporary file, leaves whatever stood at `path`.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Error (data) now rather than after hours of work, if `path` could not be written.  Waits for
  /// nobody.
  static void check_writable(const std::string& path);

  /// Removes the temporary files that processes left in `folder` that were killed while they wrote
  /// files of this ending; those of a process that still writes stay.
  static void remove_abandoned(const std::string& folder, std::string_view ending);

  /// Whether two names, which need not be there yet, stand for one file: by links too.  Pipes and
  /// devices stand for none.
  static bool same(const std::string& a, const std::string& b);

  /// The temporary file of NAME is NAME.xxxxxx, with so many letters and digits.
  static constexpr std::size_t kTemporaryLetters = 6;

  /// Whether goes_back() will hold of this path.
  static bool can_go_back(const std::string& path);

  /// Whether write_at() can work: not in a pipe, a terminal, standard output.
  bool goes_back() const { return goes_back_; }
  const std::string& path() const { return path_; }

  void write(const void* data, std::size_t bytes);
  /// Overwrites bytes at `offset` of what was written before (a header known at the end).
  void write_at(Index offset, const void* data, std::size_t bytes);
  /// Flushes, syncs and renames to the final name.
  void commit();

 private:
  [[noreturn]] void fail_with(const char* action) const;
  void open_temporary();
  void remove_temporary() const;
  void sync_folder() const;
  void flush();
  void write_all(const void* data, std::size_t bytes);

  std::string path_, target_, temporary_;  // as given, behind links, beside it
  TemporaryName remembered_;
  std::string buffer_;
  int descriptor_ = -1;
  bool direct_ = false, goes_back_ = false;
};

}  // namespace kerf::detail
