// A uniform sample of raw rows, kept while a source is scanned.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/core/rows/data_summary.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

class RawSample {
 public:
  explicit RawSample(rng::Key key) : sampler_(key.child("sample"), kSampleRows) {}

  /// Offers row i of `block`, which is row number `row` of the encoded stream; block.odd[odd_begin]
  /// .. block.odd[odd_end - 1] are cells of this row.
  void offer(const RawBlock& block, Index i, Index row, std::size_t odd_begin, std::size_t odd_end);
  /// The sample as one block, in order of the rows.
  RawBlock finish(const Schema& schema) const;

 private:
  struct Row {
    std::vector<double> cells;
    std::vector<std::uint8_t> pixels;
    std::vector<float> values;
    std::vector<std::int32_t> columns;
    std::vector<double> labels;
    double weight = 0;
    std::string spelling;
    RawBlock::Origin origin;
    std::vector<std::pair<OddCell, std::string>> odd;
  };

  RowSampler sampler_;
  bool spelled_ = false;
  bool words_kept_ = false;
  std::vector<Row> rows_;
};

}  // namespace kerf::detail::io
