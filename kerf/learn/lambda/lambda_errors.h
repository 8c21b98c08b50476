// The errors by lambda that an iterative solver has found, and keeps in its checkpoint.
//
// Those of an earlier run are remembered, but only lambdas that this run asked for are chosen from:
// another --lambda-grid over the same checkpoint is another question.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "kerf/learn/ridge/ridge.h"
#include "kerf/model/model_arrays.h"

namespace kerf::detail {

class LambdaErrors {
 public:
  /// The error, if it is known; from then on this lambda may be chosen.
  std::optional<double> ask(double lambda);
  void enter(double lambda, double error);
  void forget(double lambda);

  /// That of the least error among those asked for or entered; there must be one.
  double best() const;
  double least_error() const;
  /// All of these, ascending.
  std::vector<LambdaChoice::Point> path() const;

  /// How many errors are known, asked for or not.
  Index known() const { return std::ssize(lambdas_); }

  void save(ArrayWriter& arrays) const;  ///< which points into this
  void load(ArrayReader& arrays);

 private:
  std::size_t place_of(double lambda) const;

  std::vector<double> lambdas_, errors_;
  std::vector<bool> asked_;
};

}  // namespace kerf::detail
