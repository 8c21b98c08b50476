// Some rows of a fit as features, from which a ridge regression with a given lambda says how good it is
// on rows left out: it has its factor anyway, which leaves rows out in closed form.
//
//   A = G - s s^T/n + n lambda P = R^T R,   u_i = R^-T (z_i - mean),   h_ij = sqrt(w_i w_j) (1/n + u_i u_j)
//   errors of the rows B left out together:  (I - H_BB)^-1 (sqrt(w_i) (y_i - f(z_i)))_B
//
// B is a row, or an example's copies: one must not stay behind to tell of the other.  The rows are those
// with the smallest random numbers of a fit's seed, so that any row is as likely as any other, however
// many come and in whatever blocks.
//
// Error:      none but rounding, at n lambda as it is; at most kMost rows judge, so r2 has a standard
//             error of about (1 - r2) sqrt(2 / kMost) with normal errors.
// Cost:       kMost m^2 flops, where the sums of n rows took n m^2; 4 kMost m bytes.
// Reference:  Allen, "The relationship between variable selection and data augmentation and a method
//             for prediction", 1974.
// Differs:    groups of rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kerf/core/random/random.h"
#include "kerf/learn/options/fit_outcome.h"
#include "kerf/learn/ridge/normal_equations.h"

namespace kerf::detail {

class RowSample {
 public:
  static constexpr Index kMost = 512;

  /// `copies`: consecutive rows made of one example.
  RowSample(Index seed, Index copies);

  /// Consecutive rows, the first of them of this number.
  void add(Index first, MatrixView<const float> z, MatrixView<const double> y, WeightsView weights);
  Index rows() const { return std::ssize(numbers_); }

  /// What leaving rows out takes from the sums of all rows, which may go then.
  struct Leverages {
    Matrix<double> h;  ///< H above: a row for each of in_order(), a column for each of its example
    double weight = 0;
    Index rows = 0;
    std::vector<double> targets = {};  ///< their sums
    Precision precision = Precision::double_;
  };
  /// `factor`: R of the sums.
  Leverages leverages(std::span<const NormalEquations* const> sums,
                      MatrixView<const double> factor) const;
  /// How good the solution is on these rows, each left out, beside the mean of all others.  Nothing where
  /// rounding in the sums hides what the rest knows of a row.
  std::optional<FitQuality> quality(const Leverages& all, const LinearModel& model) const;

  /// As arrays (which point to the memory here), and back.
  void save(ArrayWriter& arrays) const;
  static RowSample load(ArrayReader& arrays);
  Index features() const { return features_; }
  Index outputs() const { return outputs_; }

  static Index bytes(Index rows, Index features, Index outputs);

 private:
  /// Where the rows stand, by their numbers: an example's next to each other.
  std::vector<Index> in_order() const;
  MatrixView<const float> z() const { return {z_.data(), rows(), features_}; }
  MatrixView<const double> y() const { return {y_.data(), rows(), outputs_}; }
  /// The end of the rows of the example that begins at `begin`.
  std::size_t end_of_example(const std::vector<Index>& order, std::size_t begin) const;

  Index seed_;
  rng::Key key_;
  Index copies_, most_;
  Index features_ = 0, outputs_ = 0;
  std::map<std::pair<double, Index>, Index> places_;  // by random number and number of the row
  std::vector<Index> numbers_;
  std::vector<float> z_;
  std::vector<double> y_, weights_;
};

}  // namespace kerf::detail
