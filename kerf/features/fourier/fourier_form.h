// What all Fourier maps share: options, kernels, and the way from frequencies to features.
//
//   pairs:   phi(x) = sqrt(2/m) (cos <w_j, x>, sin <w_j, x>)_{j = 1..m/2}
//   phase:   phi(x) = sqrt(2/m) cos(<w_j, x> + b_j)_{j = 1..m},        b_j uniform on [0, 2 pi]
//
//   w_j follows the kernel's Fourier transform (s: bandwidth):
//     gaussian      exp(-|x-y|^2 / 2s^2)            w = g/s,      g ~ N(0, I)
//     laplacian     exp(-|x-y|_1 / s)               w_k Cauchy of scale 1/s
//     laplacian-l2  exp(-|x-y|_2 / s)               w = g/(s |h|), h ~ N(0, 1): multivariate Cauchy
//     cauchy        prod 1/(1 + (x_k-y_k)^2/s^2)    w_k Laplace of scale 1/s
//     matern32      (1 + r) exp(-r)                 w = g sqrt(3)/(s h),  h ~ chi_3
//     matern52      (1 + r + r^2/3) exp(-r)         w = g sqrt(5)/(s h),  h ~ chi_5
//   the last two, r = sqrt(3) or sqrt(5) |x-y|/s, are multivariate Student t of 3 and 5 degrees of
//   freedom, as laplacian-l2 is of one.
//
// Angles are kept in turns, w/2pi, so that reducing them is exact.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "kerf/features/feature_bound.h"
#include "kerf/features/feature_map.h"

namespace kerf::detail {

enum class ShiftInvariant { gaussian, laplacian, laplacian_l2, cauchy, matern32, matern52 };
constexpr auto names_of(ShiftInvariant) {
  return std::array{"gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52"};
}

/// Degrees of freedom of a Student t frequency; 0: it is none.
constexpr Index student_degrees(ShiftInvariant kernel) {
  switch (kernel) {
    case ShiftInvariant::laplacian_l2:
      return 1;
    case ShiftInvariant::matern32:
      return 3;
    case ShiftInvariant::matern52:
      return 5;
    default:
      return 0;
  }
}
/// A function of the Euclidean distance.
constexpr bool is_radial(ShiftInvariant kernel) {
  return kernel == ShiftInvariant::gaussian || student_degrees(kernel) > 0;
}

/// Rows so wide that fast transforms are quicker than products with a matrix (bench/fourier_bench).
/// Sparse rows are quick to multiply, but the matrix of so many columns is not quick to draw.
inline bool wants_fast_transforms(const DataSummary& summary) {
  return summary.cols >= (summary.is_sparse ? 16384 : 128);
}

struct FourierMapOptions {
  enum class Form { pairs, phase };
  friend constexpr auto names_of(Form) { return std::array{"pairs", "phase"}; }

  ShiftInvariant kernel = ShiftInvariant::gaussian;
  std::optional<double> bandwidth;
  Index features = 4096;
  Form form = Form::pairs;

  static void resolve(OpenOptions& options) {
    resolve_as_kernel(options.given("kernel", name_of(ShiftInvariant::gaussian)), options);
  }
  void describe(OptionVisitor& v) {
    v.choice("kernel", kernel, "shift-invariant kernel");
    describe_rest(v);
  }

 protected:
  void describe_rest(OptionVisitor& v) {
    v.automatic("bandwidth", bandwidth, kAnyPositive,
                "length scale s of the kernel; auto: the median distance between rows");
    v.integer("features", features, {1, 1 << 24}, "number of features");
    v.choice("form", form,
             "pairs: a cosine and a sine per frequency; phase: one cosine with a random phase");
  }
};

/// Options of maps that draw a direction and a length: kernels of the Euclidean distance only.
struct RadialMapOptions : FourierMapOptions {
  enum class Radial { gaussian, laplacian_l2, matern32, matern52 };
  friend constexpr auto names_of(Radial) {
    return std::array{"gaussian", "laplacian-l2", "matern32", "matern52"};
  }
  static bool has(std::string_view kernel) { return find_by_name<Radial>(kernel).has_value(); }

  void describe(OptionVisitor& v) {
    auto radial = find_by_name<Radial>(name_of(kernel)).value_or(Radial::gaussian);
    v.choice("kernel", radial, "kernel of the Euclidean distance");
    kernel = *find_by_name<ShiftInvariant>(name_of(radial));
    describe_rest(v);
  }
};

/// Frequencies of so many features; Error (usage) for an odd number of pairs or no bandwidth.
Index frequency_count(const FourierMapOptions& options, std::string_view owner);

/// Frequency j of a kernel of bandwidth 1, in turns per unit of length.
void draw_frequency(ShiftInvariant kernel, rng::Key key, Index j, std::span<float> frequency);

/// Length of frequency j in `dim` dimensions, in turns, bandwidth 1: its direction is uniform.
/// For kernels of the Euclidean distance only.
double frequency_length(ShiftInvariant kernel, rng::Key key, Index j, Index dim);

std::unique_ptr<Kernel> fourier_kernel(const FourierMapOptions& options);

/// Var <phi(x), phi(y)> with independent frequencies: pairs (1 + k(2x, 2y) - 2 k^2)/m <= 2/m, and 0
/// for x = y; phase <= 1.5/m, and 0.5/m for x = y.
double fourier_variance(const FourierMapOptions& options);

/// From angles to features.
class FourierForm {
 public:
  FourierForm() = default;
  /// Phases, where the form has them, are uniform(key.child("phase"), j).
  FourierForm(const FourierMapOptions& options, rng::Key key);

  /// Features of the frequencies first, first + 1, ... from their angles in turns (changed in
  /// place); `row`: all features of that row of data.
  void write(Index first, std::span<float> turns, std::span<float> row) const;

 private:
  bool pairs_ = true;
  float scale_ = 0;
  std::vector<float> phases_;
};

/// Published sufficient sizes of random Fourier features; `note`: how far they hold for the map.
void fourier_bounds(const BoundInputs& in, std::string note, std::vector<FeatureBound>& out);

/// What maps of frequencies have in common: they differ in how those are drawn.
class FourierMap : public FeatureMap {
 public:
  static std::unique_ptr<Kernel> kernel(const FourierMapOptions& options) {
    return fourier_kernel(options);
  }
  static double relative_variance(const FourierMapOptions& options) {
    return fourier_variance(options);
  }
  static void bounds(const BoundInputs& in, std::vector<FeatureBound>& out) {
    fourier_bounds(in, "proved for rff", out);
  }

 protected:
  FourierMap(Index in_dim, const FourierMapOptions& options, rng::Key key)
      : FeatureMap(in_dim, options.features), form_(options, key) {}

  FourierForm form_;
};

}  // namespace kerf::detail
