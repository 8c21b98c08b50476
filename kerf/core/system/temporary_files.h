// The temporary files of this process, for a program that must end inside a signal handler.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace kerf::detail {

/// Remembers the name of a temporary file for as long as it lives.
class TemporaryName {
 public:
  TemporaryName() = default;
  ~TemporaryName() { forget(); }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  void remember(const std::string& path);
  void forget();
  /// The file has its final name now.
  void keep();

 private:
  int slot_ = -1;
};

/// Removes every file that is remembered.  Safe in a signal handler, as is the next.
void remove_temporary_files();

/// Whether a temporary file of this process was given its final name.
bool wrote_files();

}  // namespace kerf::detail
