// Dual activations as power series: what the inner nodes of a computation skeleton apply.
//
//   s(r) = sum_i a_i r^i,     a_i >= 0,  sum a_i = 1      (normalised, positive semi-definite)
//
//   text            s(r)                         a_i                       mean degree s'(1)
//   exp A           exp(A (r - 1))               Poisson(A)                A
//   relu            kappa1(r)                    1/pi, 1/2, 1/(2 pi), ..   1
//   identity        r                            a_1 = 1                   1
//   power P         r^P                          a_P = 1                   P
//   geometric G     (1 - G) / (1 - G r)          (1 - G) G^i               G / (1 - G)
//   erf             asin(2r/3) / asin(2/3)       odd degrees               1.23
//   hermite C0 C1.. activation sum_i C_i He_i / sqrt(i!)    C_i^2 / sum    sum i a_i
//   series A0 A1..  the a_i themselves: refused if one is negative or they do not sum to 1
//   step            kappa0(r): mean degree infinite, refused;   `step to N`: its terms to degree N,
//                   divided by their sum (any name may have `to N`)
//
// Error:      s(r) to a few 1e-16; a_i to 1e-15 relative.
// Cost:       s(r) O(1), or one multiply-add a term; a degree is drawn in O(degree).
// Reference:  Daniely, Frostig, Singer, NIPS 2016 (duals); Daniely, Frostig, Gupta, Singer 2017.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/core/view.h"

namespace kerf::detail {

class DualSeries {
 public:
  enum class Kind { exponential, relu, power, geometric, erf, step, series };

  /// From its text above; Error (usage) says what is wrong with it.
  explicit DualSeries(const std::string& text = "relu");

  double operator()(double r) const;
  /// a_i.
  double coefficient(Index i) const;
  /// s'(1) = sum i a_i: always finite.
  double mean_degree() const { return mean_degree_; }
  /// s(r) for r > 1, as bounds need it; infinite where the series diverges.
  double beyond_one(double r) const;
  /// The degree l with sum_{i<l} a_i <= u < sum_{i<=l} a_i; u in [0, 1).
  Index degree(double u) const;
  /// Text that gives the same series.
  const std::string& text() const { return text_; }
  /// Degree of the last term; -1: infinitely many.
  Index last_degree() const;

 private:
  void set_series(std::vector<double> series, bool must_sum_to_one);
  void truncate(Index degree);

  std::string text_;
  Kind kind_ = Kind::relu;
  double parameter_ = 0;
  Index power_ = 1;
  double mean_degree_ = 1;
  std::vector<double> series_;      ///< kind series: the a_i
  std::vector<double> cumulative_;  ///< sums of the first a_i
};

}  // namespace kerf::detail
