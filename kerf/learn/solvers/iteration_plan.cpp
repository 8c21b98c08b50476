// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/iteration_plan.h"

#include <algorithm>

#include "kerf/core/system/parallel.h"
#include "kerf/learn/solvers/sketched_gram.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {

IterationPlan plan_iterations(const Problem& p, const IterationNeeds& needs) {
  const Index pass = TrainingRows::bytes(p.rows, p.inputs, p.features, p.outputs, needs.folds) +
                     needs.folds * 8 * p.features * (p.outputs + 3);
  const Index products =
      product_bytes(p.features, needs.vectors) + 12 * 8 * p.features * needs.vectors;
  const Index scratch = NormalEquations::scratch_bytes(p.options.precision, threads());
  const Index sketch = SketchedGram::bytes_while_adding(p.rows, p.features);
  const Index besides =
      p.map_bytes + scratch + needs.more + blas::factor_scratch(p.features) +
      std::max({pass + sketch,
                sketch + NormalEquations::bytes(p.features, 0) + 4 * 2048 * p.features,
                SketchedGram::bytes(p.features, needs.factors) + products + pass});
  const auto form = FeatureCache::best_form(p.rows, p.features, p.outputs, p.options.precision,
                                            p.memory - besides);
  return {form, besides + FeatureCache::bytes(form, p.rows, p.features, p.outputs)};
}

double pass_seconds(const Problem& p, FeatureCache::Form form, const Speeds& s) {
  const double elements = static_cast<double>(p.rows) * static_cast<double>(p.features);
  const double product = 4 * elements * static_cast<double>(p.outputs) / s.thin;
  if (form == FeatureCache::Form::again) return feature_pass_seconds(p, s) + product;
  const double bytes = form == FeatureCache::Form::fixed16 ? 2 : 4;
  return std::max(elements * bytes / s.memory, product);
}

double sketch_seconds(const Problem& p, FeatureCache::Form form, const Speeds& s) {
  const auto n = static_cast<double>(p.rows), m = static_cast<double>(p.features);
  // Rows that are kept are read; otherwise sums are read and written for each.
  const double bytes = form == FeatureCache::Form::single_   ? 4
                       : form == FeatureCache::Form::fixed16 ? 2
                                                             : 8;
  const double gram = p.options.precision == Precision::single_ ? s.sums : s.sums_double;
  return SketchedGram::kNonzeros * n * m * bytes / s.memory +
         SketchedGram::kRowsPerFeature * m * m * m / gram;
}

}  // namespace kerf::detail
