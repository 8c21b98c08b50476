// Options that are left to the data, and what they are worked out from.
//
// A struct of options that has some has a function `static void resolve(OpenOptions&)`: the registry
// lines of its kernel or map find it by themselves.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/options.h"
#include "kerf/core/rows/data_summary.h"

namespace kerf::detail {

enum class DistanceNorm { l1, l2 };

/// What the data say, after scaling.
class DataLook {
 public:
  explicit DataLook(const DataSummary& summary) : summary_(summary) {}
  virtual ~DataLook() = default;

  const DataSummary& summary() const { return summary_; }
  /// Median distance between two rows.
  virtual double typical_distance(DistanceNorm norm) const = 0;
  /// Root mean square of the lengths of the rows.
  virtual double typical_length() const = 0;

 private:
  const DataSummary& summary_;
};

/// Options some of which are "auto" or not given, and the data.
class OpenOptions {
 public:
  /// Both must outlive it.
  OpenOptions(Params& params, const DataLook& data) : params_(params), data_(data) {}

  Params& params() { return params_; }
  const DataLook& data() const { return data_; }
  const DataSummary& summary() const { return data_.summary(); }

  /// The value that was given, or `otherwise`.
  std::string given(const char* name, const char* otherwise) const;
  bool is_open(const char* name) const { return given(name, "auto") == "auto"; }

  /// Each of these leaves a value that was given as it is.
  void settle(const char* name, const std::string& value);
  void settle_distance(const char* name, DistanceNorm norm);
  void settle_length(const char* name);
  /// HxWxC of the rows; 1x1xCOLUMNS if they are no images.
  void settle_image(const char* name);

 private:
  Params& params_;
  const DataLook& data_;
};

}  // namespace kerf::detail
