// One look at all rows of a training source: which columns are words, what the task is, classes,
// means, and a sample.
//
// Cost:       one pass over the file; a second one only if some column mixes words and numbers, or has
//             numbers that look like codes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/progress.h"
#include "kerf/io/reader.h"
#include "kerf/io/table/data_options.h"
#include "kerf/io/table/raw_fingerprint.h"

namespace kerf::detail::io {

struct ScanResult {
  Encoding encoding;
  DataSummary summary;
  std::vector<double> variance;    ///< of each input column, over rows
  RawBlock raw_sample;             ///< the rows of summary.sample as they stand in the file
  Index dropped_rows = 0;          ///< left out for a missing cell
  Index missing_cells = 0;         ///< filled with the mean of their column
  std::vector<std::string> notes;  ///< what may not be as it was meant
  PassGuard guard;                 ///< that has seen all rows once
};

ScanResult scan(Reader& reader, const DataOptions& options, const std::string& name, rng::Key key,
                const Progress& progress);

/// Rows of a block: about 8 MB, 2,048 rows at most.
Index block_rows(Index columns);

}  // namespace kerf::detail::io
