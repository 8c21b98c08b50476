// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/fourier/fourier_form.h"

#include <cmath>
#include <numbers>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/linalg/pointwise.h"

namespace kerf::detail {
namespace {

constexpr double kTurn = 1 / (2 * std::numbers::pi);

/// What makes a Gaussian frequency one of Student's t: sqrt(degrees) / chi, or 1.
double common_factor(ShiftInvariant kernel, rng::Key key, Index j) {
  const Index degrees = student_degrees(kernel);
  if (degrees == 0) return 1;
  return std::sqrt(static_cast<double>(degrees)) /
         rng::chi(key.child("length"), static_cast<std::uint64_t>(j), degrees);
}

}  // namespace

Index frequency_count(const FourierMapOptions& options, std::string_view owner) {
  const bool pairs = options.form == FourierMapOptions::Form::pairs;
  KERF_REQUIRE(!pairs || options.features % 2 == 0, usage,
               "{}: {} must be even for cosine and sine pairs, not {}; or take {}", owner,
               spell("features"), options.features, spell("form", "phase"));
  KERF_REQUIRE(options.bandwidth.has_value(), usage, "{}: {} needs data; give a number", owner,
               spell("bandwidth", "auto"));
  return pairs ? options.features / 2 : options.features;
}

void draw_frequency(ShiftInvariant kernel, rng::Key key, Index j, std::span<float> frequency) {
  const rng::Key stream = key.child("frequency");
  const auto first = static_cast<std::uint64_t>(j) * frequency.size();
  const double scale = kTurn * common_factor(kernel, key, j);
  for (std::size_t k = 0; k < frequency.size(); ++k) {
    double draw = 0;
    switch (kernel) {
      case ShiftInvariant::gaussian:
      case ShiftInvariant::laplacian_l2:
      case ShiftInvariant::matern32:
      case ShiftInvariant::matern52:
        draw = rng::normal(stream, first + k);
        break;
      case ShiftInvariant::laplacian:
        draw = rng::cauchy(stream, first + k);
        break;
      case ShiftInvariant::cauchy:
        draw = rng::laplace(stream, first + k);
        break;
    }
    frequency[k] = static_cast<float>(scale * draw);
  }
}

double frequency_length(ShiftInvariant kernel, rng::Key key, Index j, Index dim) {
  KERF_REQUIRE(is_radial(kernel), usage, "the kernel {} is no function of the Euclidean distance",
               name_of(kernel));
  return kTurn * common_factor(kernel, key, j) *
         rng::chi(key.child("radius"), static_cast<std::uint64_t>(j), dim);
}

std::unique_ptr<Kernel> fourier_kernel(const FourierMapOptions& options) {
  Params params;
  if (options.bandwidth) params["bandwidth"] = format_number(*options.bandwidth);
  return find_kernel(name_of(options.kernel)).make(params);
}

double fourier_variance(const FourierMapOptions& options) {
  return (options.form == FourierMapOptions::Form::pairs ? 2.0 : 1.5) /
         static_cast<double>(options.features);
}

FourierForm::FourierForm(const FourierMapOptions& options, rng::Key key)
    : pairs_(options.form == FourierMapOptions::Form::pairs),
      scale_(static_cast<float>(std::sqrt(2.0 / static_cast<double>(options.features)))) {
  if (pairs_) return;
  for (Index j = 0; j < options.features; ++j)
    phases_.push_back(
        static_cast<float>(rng::uniform(key.child("phase"), static_cast<std::uint64_t>(j))));
}

void FourierForm::write(Index first, std::span<float> turns, std::span<float> row) const {
  float* out = row.data() + first;
  if (pairs_) return sincos_turns(turns, scale_, out, out + row.size() / 2);
  const float* phase = phases_.data() + first;
  for (std::size_t k = 0; k < turns.size(); ++k) turns[k] += phase[k];
  cos_turns(turns, scale_, out);
}

void fourier_bounds(const BoundInputs& in, std::string note, std::vector<FeatureBound>& out) {
  const bool pairs = in.option("form") != "phase";
  if (in.goal == PlanGoal::epsilon && in.target > 0.5)
    note += std::string(note.empty() ? "" : "; ") + "proved for epsilon up to 1/2";
  if (in.goal == PlanGoal::epsilon)
    out.push_back({"Avron et al. 2017, theorem 7", (pairs ? 2 : 1) * in.bounded_features(),
                   "frequencies >= (8/3) n/(s e^2) log(16 s_l/p)", note});
  else if (in.goal == PlanGoal::kernel_error)
    out.push_back(
        {"Hoeffding's inequality for one pair of rows",
         8 * std::log(2 / in.delta) / (in.target * in.target), "8 log(2/p)/e^2",
         "the error of one entry of the kernel matrix; that of the matrix may be larger"});
}

}  // namespace kerf::detail
