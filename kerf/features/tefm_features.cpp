// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/tefm_features.h"

#include <algorithm>
#include <utility>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"
#include "kerf/features/fitted_map.h"
#include "kerf/sketch/row_sketch.h"

namespace kerf {
namespace {

constexpr Index kBlockRows = 1024, kTile = 256;

/// Rows of the result by orthonormal rows of the same span; on one thread, so that its bits do not
/// depend on how many there are.
Matrix<float> orthonormal_rows(const Matrix<float>& y) {
  Matrix<double> q(y.rows(), y.cols());
  std::copy_n(y.data(), y.rows() * y.cols(), q.data());
  const blas::ThreadScope one(1);
  blas::orthonormalise_rows(q.view());
  Matrix<float> out(y.rows(), y.cols());
  std::copy_n(q.data(), q.rows() * q.cols(), out.data());
  return out;
}

/// y += t^T f, for t: rows x m, f: rows x D, by tiles of y.
void add_product(MatrixView<const float> t, MatrixView<const float> f, Matrix<float>& y) {
  const blas::ThreadScope one(1);
  parallel_for(f.cols, kTile, [&](Index begin, Index end) {
    const MatrixView<const float> part(f.data + begin, f.rows, end - begin, f.stride);
    blas::gemm(true, false, 1.0f, t, part, 1.0f,
               MatrixView<float>(y.data() + begin, y.rows(), end - begin, y.cols()));
  });
}

/// The stream of F, block by block, and what the range finder does with it.
class RangeFinder {
 public:
  RangeFinder(RowSource& rows, const FeatureMap& base, Index features, rng::Key key,
              const Progress& progress)
      : rows_(rows), base_(base), features_(features), key_(key), progress_(progress) {}

  /// T^T F for a Gaussian T: m x D.
  Matrix<float> gaussian() {
    Matrix<float> t;
    return accumulate([&](Index first, MatrixView<const float> f) {
      t.resize(f.rows, features_);
      parallel_for(f.rows, 16, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
          rng::fill_normal(key_.child("gaussian"),
                           static_cast<std::uint64_t>((first + i) * features_), t.row(i));
      });
      return std::as_const(t).view();
    });
  }

  /// Q^T F^T F: one power step from the orthonormal rows of q (m x D).
  Matrix<float> power(const Matrix<float>& q) {
    Matrix<float> t;
    return accumulate([&](Index, MatrixView<const float> f) {
      t.resize(f.rows, q.rows());
      const blas::ThreadScope one(1);
      parallel_for(f.rows, kTile, [&](Index begin, Index end) {
        blas::gemm(false, true, 1.0f, f.slice(begin, end), q.view(), 0.0f,
                   t.view().slice(begin, end));
      });
      return std::as_const(t).view();
    });
  }

  /// S F for a block SRHT S: m x D.
  Matrix<float> srht() {
    RowSrht sketch(features_, base_.out_dim(), key_.child("srht"));
    for_each([&](Index first, MatrixView<const float> f) { sketch.add(first, RowsView(f)); });
    return sketch.result();
  }

 private:
  template <class Receive>
  void for_each(const Receive& receive) {
    Matrix<float> f;
    for_each_block(rows_, kBlockRows, [&](Index first, const RowsView& x) {
      f.resize(x.rows(), base_.out_dim());
      base_.transform(x, f.view());
      receive(first, std::as_const(f).view());
      report(progress_, "subspace", first + x.rows(), 0);
    });
  }

  /// Sum over the blocks of t^T f.
  template <class Test>
  Matrix<float> accumulate(const Test& test) {
    Matrix<float> y(features_, base_.out_dim());
    y.fill(0);
    for_each([&](Index first, MatrixView<const float> f) { add_product(test(first, f), f, y); });
    return y;
  }

  RowSource& rows_;
  const FeatureMap& base_;
  Index features_;
  rng::Key key_;
  const Progress& progress_;
};

}  // namespace

const FeatureMapEntry& TefmFeatures::base_map(const Options& options) {
  const FeatureMapEntry& base = find_feature_map(options.base);
  KERF_REQUIRE(base.fit == nullptr, usage, "map tefm: --base {} learns from the data itself",
               options.base);
  return base;
}

Params TefmFeatures::base_params(const Options& options) {
  const FeatureMapEntry& base = base_map(options);
  Params params = {{"features", std::to_string(options.features * options.oversample)}};
  const Params own = write_options(options);
  for (const OptionInfo& option : base.options())
    if (option.name == "bandwidth" || option.name == "bias" || option.name == "depth")
      params[option.name] = own.at(option.name);
  if (options.kernel != "auto") params["kernel"] = options.kernel;
  std::string_view rest = options.base_options;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const auto equal = item.find('=');
    KERF_REQUIRE(equal != std::string_view::npos, usage,
                 "map tefm: --base-options must look like order=0,form=phase, not '{}'",
                 options.base_options);
    params[std::string(item.substr(0, equal))] = item.substr(equal + 1);
  }
  return base.complete(params);
}

MapState TefmFeatures::fit(RowSource& rows, const Options& options, rng::Key key,
                           const Progress& progress) {
  const Params params = base_params(options);
  const auto base = base_map(options).make(rows.cols(), params, key.child("base"));
  KERF_REQUIRE(options.variant == Options::Variant::g || options.power == 0, usage,
               "map tefm: --power {} needs --variant g", options.power);
  RangeFinder finder(rows, *base, options.features, key, progress);
  Matrix<float> q =
      orthonormal_rows(options.variant == Options::Variant::s ? finder.srht() : finder.gaussian());
  for (Index step = 0; step < options.power; ++step) q = orthonormal_rows(finder.power(q));
  Matrix<float> compression(q.cols(), q.rows());
  for (Index i = 0; i < q.rows(); ++i)
    for (Index j = 0; j < q.cols(); ++j) compression(j, i) = q(i, j);
  MapState state;
  state[kCompression] = std::move(compression);
  return state;
}

std::unique_ptr<FeatureMap> TefmFeatures::restore(Index in_dim, const Options& options,
                                                  rng::Key key, const MapState& state) {
  auto base = base_map(options).make(in_dim, base_params(options), key.child("base"));
  if (!state.contains(kCompression)) return base;
  const Matrix<float>& q = checked_array(state, kCompression, base->out_dim(), options.features);
  return std::make_unique<CompressedFeatures>(std::move(base), q, options.features);
}

std::unique_ptr<Kernel> TefmFeatures::kernel(const Options& options) {
  return base_map(options).kernel(base_params(options));
}

double TefmFeatures::relative_variance(const Options& options) {
  return base_map(options).relative_variance(base_params(options));
}

Index TefmFeatures::bytes(Index in_dim, const Options& options) {
  const Index wide = options.features * options.oversample;
  return base_map(options).bytes(in_dim, base_params(options)) + 20 * wide * options.features +
         4 * kBlockRows * (wide + options.features + in_dim);
}

}  // namespace kerf
