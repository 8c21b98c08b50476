// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/arc_cosine_features.h"

#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/kernels/network/ntk.h"
#include "kerf/linalg/pointwise.h"

namespace kerf::detail {

ArcCosineFeatures::ArcCosineFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features), order_(options.order) {
  KERF_REQUIRE(options.bias.has_value(), usage, "map arccos: {} needs data; give a number",
               spell("bias", "auto"));
  const double c = order_ == 0 ? 1
                               : DirectionSet::inverse_variance(
                                     options.directions, direction_dim(in_dim, *options.bias));
  scale_ = static_cast<float>(std::sqrt(2 * c / static_cast<double>(out_dim())));
  directions_ =
      DirectionSet(options.directions, in_dim, *options.bias, out_dim(), key, options.gibbs_sweeps);
}

std::unique_ptr<Kernel> ArcCosineFeatures::kernel(const Options& options) {
  Params params = {{"order", std::to_string(options.order)}};
  if (options.bias) params["bias"] = format_number(*options.bias);
  return find_kernel("arccos").make(params);
}

double ArcCosineFeatures::relative_variance(const Options& options) {
  return (options.order == 0 ? 1.0 : 6.0) / static_cast<double>(options.features);
}

double ArcCosineFeatures::relative_bias(const Options& options) {
  return DirectionSet::relative_bias(options.directions, options.gibbs_sweeps);
}

std::optional<Params> ArcCosineFeatures::stands_for(std::string_view kernel, const Params& options,
                                                    const DataSummary&) {
  // Order 1 is the network of one hidden layer.
  if (kernel != NngpKernel::kName) return std::nullopt;
  Params own = options;
  const auto depth = own.extract("depth");
  if (!depth || depth.mapped() != "1" || own.size() != 1 || !own.contains("bias"))
    return std::nullopt;
  return own;
}

Index ArcCosineFeatures::bytes(Index in_dim, const Options& options) {
  return DirectionSet::bytes(options.directions, in_dim + 1, options.features);
}

void ArcCosineFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  const auto activate = order_ == 0 ? step : relu;
  directions_.apply(x, [&](Index i, Index first, std::span<float> y) {
    activate(y, scale_, out.row(i).data() + first);
  });
}

void ArcCosineFeatures::bounds(const BoundInputs& in, std::vector<FeatureBound>& out) {
  if (in.goal != PlanGoal::epsilon) return;
  if (in.option("order") == "0") {
    out.push_back({"Zandieh et al. 2021, order 0", in.bounded_features(),
                   "(8/3) n/(s e^2) log(16 s_l/p)", ""});
    return;
  }
  const auto d = static_cast<double>(in.cols);
  const double rank = static_cast<double>(std::min(in.rows, in.cols));
  const double leverage = std::min(rank * rank, in.rows_norm_squared / in.ridge);
  const bool is_leverage = in.option("directions") != "gaussian";
  out.push_back({"Zandieh et al. 2021, order 1",
                 8.0 / 3 * d / (in.target * in.target) * leverage * in.logarithm(16),
                 "(8/3) d/e^2 min(rank(X)^2, |X|^2/s) log(16 s_l/p)",
                 is_leverage
                     ? ""
                     : "proved for leverage directions (" + spell("directions", "sphere") + ")"});
}

}  // namespace kerf::detail
