// The file formats kerf reads, and how a file's format is found: by its content, never by its name
// alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kerf/io/bytes/input_stream.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

struct Format {
  const char* name;
  const char* summary;
  /// Whether a file with these first bytes (decompressed) is of this format.
  bool (*matches)(std::string_view head, const std::string& path);
  std::unique_ptr<Reader> (*open)(InputStream input, const ReadOptions& options);
};

std::span<const Format> formats();

/// Opens one file; images find their labels file by themselves when `find_labels` is set.
std::unique_ptr<Reader> open_reader(std::shared_ptr<File> file, const std::string& path,
                                    const ReadOptions& options, bool find_labels = true);

/// Directories replaced by their files, by name.  Error (usage) for one that holds both training
/// and test files, Error (data) for one without files.
std::vector<std::string> expand_directories(const std::vector<std::string>& paths);

/// Opens several files as one source, in order, with labels from another file unless `labels` is
/// "".  "-" is standard input; with `rewindable` pipes are kept in temporary files first.
std::unique_ptr<Reader> open_source(const std::vector<std::string>& paths,
                                    const ReadOptions& options, const std::string& labels,
                                    bool rewindable);

}  // namespace kerf::detail::io
