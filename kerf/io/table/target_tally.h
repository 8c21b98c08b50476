// The values of a target column, counted until there are too many of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kerf/io/table/data_options.h"

namespace kerf::detail::io {

class TargetTally {
 public:
  explicit TargetTally(DataOptions::TaskChoice choice) : choice_(choice) {}

  /// A row's target as a number, and as it is written.
  void add(double value, double weight, const std::string& spelling);
  /// A row's target as a word that stands at `where`.
  void add(std::string_view word, double weight, const std::string& where);

  /// Sets task, task_reason, classes and class_rows.  `images`: labels of images are classes.
  void decide(Index rows, bool images, const std::string& target, DataSummary& summary) const;
  /// In words, of classes: numbers that are written in several ways; "" if there are none.
  std::string spelling_note(const std::string& target) const;

 private:
  struct Number {
    std::string name;   // as it is written first
    std::string other;  // and another time
    double weight = 0;
  };

  bool is_classification(Index rows, bool images, const std::string& target,
                         std::string& reason) const;
  std::string like_quantity() const;

  DataOptions::TaskChoice choice_;
  std::unordered_map<std::string, Number> numbers_;   // by class_key()
  std::unordered_map<std::string, Number*> spelled_;  // by text: looks keys up once for each
  std::unordered_map<std::string, double> words_;
  std::string first_word_, first_where_;  // quoted, and its place
  bool whole_ = true, too_many_ = false;
};

}  // namespace kerf::detail::io
