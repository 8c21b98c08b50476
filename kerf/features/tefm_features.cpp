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

/// Columns of q (D x m) by orthonormal ones of the same span, from the Cholesky factor of their
/// inner products.  Returns its least pivot over the largest, no less than 1 / condition number of
/// q and at most some m times that, or 0: singular.  The bits do not depend on the threads.
double orthonormalise_columns(Matrix<double>& q) {
  const Index m = q.cols();
  Matrix<double> gram(m, m);
  gram.fill(0);
  parallel_for(m, kTile / 2, [&](Index begin, Index end) {
    const MatrixView<const double> left(q.data() + begin, q.rows(), end - begin, m);
    const MatrixView<const double> right(q.data() + begin, q.rows(), m - begin, m);
    blas::gemm(true, false, 1.0, left, right, 0.0,
               {&gram(begin, begin), end - begin, m - begin, m});
  });
  if (blas::cholesky(gram.view()) != 0) return 0;
  double least = gram(0, 0), largest = least;
  for (Index i = 0; i < m; ++i) {
    least = std::min(least, gram(i, i));
    largest = std::max(largest, gram(i, i));
  }
  parallel_for(q.rows(), kTile, [&](Index begin, Index end) {
    blas::triangular_solve_rows(gram.view(), false, q.view().slice(begin, end));
  });
  return least / largest;
}

/// Householder's way.
void orthonormalise_slowly(const Matrix<float>& y, Matrix<double>& q) {
  Matrix<double> rows(y.cols(), y.rows());
  for (Index j = 0; j < y.rows(); ++j)
    for (Index i = 0; i < y.cols(); ++i) rows(i, j) = y(j, i);
  blas::orthonormalise_rows(rows.view());
  for (Index j = 0; j < y.rows(); ++j)
    for (Index i = 0; i < y.cols(); ++i) q(j, i) = rows(i, j);
}

/// y (D x m) with orthonormal columns of the same span: Cholesky QR, which is all matrix products
/// and errs by 1e-16 condition^2; once more where that is not enough; Householder's where columns
/// nearly depend on each other.
Matrix<float> orthonormal_columns(Matrix<float> y) {
  const Index count = y.rows() * y.cols();
  Matrix<double> q(y.rows(), y.cols());
  parallel_for(count, 1 << 16, [&](Index begin, Index end) {
    std::copy(y.data() + begin, y.data() + end, q.data() + begin);
  });
  const double pivot = orthonormalise_columns(q);
  if (pivot < 1e-2 && (pivot < 1e-7 || orthonormalise_columns(q) < 0.5))
    orthonormalise_slowly(y, q);
  parallel_for(count, 1 << 16, [&](Index begin, Index end) {
    std::copy(q.data() + begin, q.data() + end, y.data() + begin);
  });
  return y;
}

Matrix<float> transposed(const Matrix<float>& a) {
  Matrix<float> out(a.cols(), a.rows());
  parallel_for(out.rows(), 16, [&](Index begin, Index end) {
    for (Index j = 0; j < out.cols(); ++j)
      for (Index i = begin; i < end; ++i) out(i, j) = a(j, i);
  });
  return out;
}

/// y += f^T t, for f: rows x D, t: rows x m, by tiles of y.
void add_product(MatrixView<const float> f, MatrixView<const float> t, Matrix<float>& y) {
  parallel_for(f.cols, kTile, [&](Index begin, Index end) {
    const MatrixView<const float> part(f.data + begin, f.rows, end - begin, f.stride);
    blas::gemm(true, false, 1.0f, part, t, 1.0f, y.view().slice(begin, end));
  });
}

/// The stream of F, block by block, and what the range finder does with it.
class RangeFinder {
 public:
  RangeFinder(RowSource& rows, const FeatureMap& base, Index features, rng::Key key,
              const Progress& progress)
      : rows_(rows), base_(base), features_(features), key_(key), progress_(progress) {}

  /// F^T T for a Gaussian T: D x m.
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

  /// F^T F Q: one power step from the orthonormal columns of q.
  Matrix<float> power(const Matrix<float>& q) {
    Matrix<float> t;
    return accumulate([&](Index, MatrixView<const float> f) {
      t.resize(f.rows, q.cols());
      parallel_for(f.rows, kTile, [&](Index begin, Index end) {
        blas::gemm(false, false, 1.0f, f.slice(begin, end), q.view(), 0.0f,
                   t.view().slice(begin, end));
      });
      return std::as_const(t).view();
    });
  }

  /// F^T S^T for a block SRHT S.
  Matrix<float> srht() {
    RowSrht sketch(features_, base_.out_dim(), key_.child("srht"));
    for_each([&](Index first, MatrixView<const float> f) { sketch.add(first, RowsView(f)); });
    return transposed(sketch.result());
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

  /// Sum over the blocks of f^T t.
  template <class Test>
  Matrix<float> accumulate(const Test& test) {
    Matrix<float> y(base_.out_dim(), features_);
    y.fill(0);
    for_each([&](Index first, MatrixView<const float> f) { add_product(f, test(first, f), y); });
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
  Matrix<float> q = orthonormal_columns(options.variant == Options::Variant::s ? finder.srht()
                                                                               : finder.gaussian());
  for (Index step = 0; step < options.power; ++step) {
    Matrix<float> y = finder.power(q);
    q = {};  // its memory is wanted
    q = orthonormal_columns(std::move(y));
  }
  MapState state;
  state[kCompression] = std::move(q);
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

Index TefmFeatures::restored_bytes(Index in_dim, const Options& options, const MapState& state) {
  return base_map(options).bytes(in_dim, base_params(options)) +
         2 * state_bytes(state);  // the arrays, and a copy in the form that products take
}

}  // namespace kerf
