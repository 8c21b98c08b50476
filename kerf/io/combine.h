// Readers made of readers: labels from another file, several files as one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kerf/io/reader.h"

namespace kerf::detail::io {

/// The rows of `rows`, each labelled by the row of `labels` (a source of one column, or a labelled
/// one) at the same place.  Error (data) if there are fewer or more labels than rows.
std::unique_ptr<Reader> with_labels(std::unique_ptr<Reader> rows, std::unique_ptr<Reader> labels,
                                    std::string rows_name, std::string labels_name);

/// Opens file number k of a chain.
using OpenReader = std::function<std::unique_ptr<Reader>(std::size_t k)>;

/// The rows of several files, one file after another; all must have the same columns.
std::unique_ptr<Reader> chain(std::vector<std::string> names, OpenReader open);

}  // namespace kerf::detail::io
