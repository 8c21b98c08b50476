// What a user should know about the data a fit was made of: columns and targets that do not vary,
// columns and targets that a few values rule.
//
// A column's standard deviation is set beside a robust one, (q90 - q10) / 2.563 of the sample, which is
// the same for normal values and does not see a tenth of them at either end.  Where it is 20 times
// as large, four fifths of the values lie within an eighth of a standard deviation: standardised,
// they are nearly equal.  The same of a target: what is left of its squared errors is those few rows'.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "kerf/core/rows/data_summary.h"
#include "kerf/learn/options/fit_outcome.h"

namespace kerf::detail {

/// The least and the greatest value of each column of dense rows and of each target, with the first row
/// that has it.
class ColumnExtremes {
 public:
  struct Value {
    double value = 0;
    Index row = 0;
  };
  void add(const RowBlock& block);
  /// Of these two the one farther away.
  Value farthest_from(double centre, Index column) const;
  Value farthest_target_from(double centre, Index target) const;

 private:
  struct Ends {
    std::vector<Value> least, greatest;
    template <class T>
    void add(std::span<const T> row, Index number);
    Value farthest_from(double centre, Index column) const;
  };
  Ends columns_, targets_;
};

/// `extremes`: of all rows, which need not be passed over again unless somebody asks for them.
void warn_about_data(const DataSummary& summary, const std::function<ColumnExtremes()>& extremes,
                     FitReport& report);

/// The extremes of a source, which is rewound before and after.
ColumnExtremes extremes_of(RowSource& source);

}  // namespace kerf::detail
