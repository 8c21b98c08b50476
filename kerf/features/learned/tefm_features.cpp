// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/learned/tefm_features.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/learned/fitted_map.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/transpose.h"
#include "kerf/sketch/row_sketch.h"

namespace kerf::detail {
namespace {

constexpr Index kBlockRows = 1024, kTile = 256;
constexpr double kRounding = 1e-6;  // of sums in single precision, beside the longest

/// Rows of a source, as far as `most`.
Index count_rows(RowSource& source, Index most) {
  RowBlock block;
  Index rows = 0;
  source.rewind();
  while (rows < most && source.next(block)) rows += block.rows();
  return std::min(rows, most);
}

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

/// A basis that grows by blocks of columns: what they add to those before, and no more.
class GrowingBasis {
 public:
  GrowingBasis(Index rows, Index most, double least)
      : q_(rows, most), along_(most, kBlockColumns), least_(least) {}

  Index count() const { return count_; }
  MatrixView<const double> columns() const { return {q_.data(), q_.rows(), count_, q_.cols()}; }

  /// Directions of the block that are shorter than `least` beside the columns before are left out.
  void add(Matrix<double> block) {
    remove_own(block);
    remove_own(block);
    Matrix<double> kept = principal(block);
    if (kept.cols() == 0) return;
    remove_own(kept);
    orthonormalise_columns(kept);
    for (Index i = 0; i < q_.rows(); ++i)
      std::ranges::copy(kept.row(i), q_.row(i).begin() + count_);
    count_ += kept.cols();
  }

  static constexpr Index kBlockColumns = 128;

 private:
  /// block -= Q Q^T block.
  void remove_own(Matrix<double>& block) {
    if (count_ == 0) return;
    const Index b = block.cols();
    parallel_for(count_, kTile, [&](Index begin, Index end) {
      blas::gemm(true, false, 1.0, {q_.data() + begin, q_.rows(), end - begin, q_.cols()},
                 block.view(), 0.0, {along_.data() + begin * b, end - begin, b, b});
    });
    parallel_for(q_.rows(), kTile, [&](Index begin, Index end) {
      blas::gemm(false, false, -1.0, columns().slice(begin, end), {along_.data(), count_, b, b},
                 1.0, block.view().slice(begin, end));
    });
  }

  /// The block's principal directions, at unit length, where they are longer than `least`.
  Matrix<double> principal(const Matrix<double>& block) const {
    const Index b = block.cols();
    Matrix<double> gram(b, b), kept;
    std::vector<double> squares(b);
    blas::gemm(true, false, 1.0, block.view(), block.view(), 0.0, gram.view());
    blas::symmetric_eigen(gram.view(), squares);  // ascending
    Index first = 0;
    while (first < b && squares[first] <= least_ * least_) ++first;
    for (Index k = first; k < b; ++k)
      for (double& value : gram.row(k)) value /= std::sqrt(squares[k]);
    kept.resize(block.rows(), b - first);
    if (first == b) return kept;
    parallel_for(block.rows(), kTile, [&](Index begin, Index end) {
      blas::gemm(false, true, 1.0, block.view().slice(begin, end), gram.view().slice(first, b), 0.0,
                 kept.view().slice(begin, end));
    });
    return kept;
  }

  Matrix<double> q_, along_;
  double least_;
  Index count_ = 0;
};

/// Orthonormal columns of the span of those of y that are more than rounding beside the others.
Matrix<float> independent_columns(const Matrix<float>& y) {
  std::vector<double> squares(y.cols(), 0.0);
  for (Index i = 0; i < y.rows(); ++i)
    for (Index j = 0; j < y.cols(); ++j) squares[j] += double{y(i, j)} * y(i, j);
  const double longest = std::sqrt(std::ranges::max(squares));
  GrowingBasis basis(y.rows(), y.cols(), kRounding * longest);
  for (Index first = 0; first < y.cols(); first += GrowingBasis::kBlockColumns) {
    Matrix<double> block(y.rows(), std::min(GrowingBasis::kBlockColumns, y.cols() - first));
    for (Index i = 0; i < y.rows(); ++i)
      std::copy_n(y.row(i).begin() + first, block.cols(), block.row(i).begin());
    basis.add(std::move(block));
  }
  Matrix<float> out(y.rows(), std::max<Index>(basis.count(), 1));
  out.fill(0);  // of a map that is 0 everywhere one column is left, of zeros
  for (Index i = 0; i < y.rows(); ++i)
    std::ranges::copy(basis.columns().row(i), out.row(i).begin());
  return out;
}

/// y (D x m) with orthonormal columns of the same span: Cholesky QR, which is all matrix products
/// and errs by 1e-16 condition^2; once more where that is not enough; block by block, and fewer
/// columns, where they nearly depend on each other.
Matrix<float> orthonormal_columns(Matrix<float> y) {
  const Index count = y.rows() * y.cols();
  Matrix<double> q(y.rows(), y.cols());
  parallel_for(count, 1 << 16, [&](Index begin, Index end) {
    std::copy(y.data() + begin, y.data() + end, q.data() + begin);
  });
  const double pivot = orthonormalise_columns(q);
  if (pivot < 1e-2 && (pivot < 1e-7 || orthonormalise_columns(q) < 0.5)) {
    q = {};  // its memory is wanted
    return independent_columns(y);
  }
  parallel_for(count, 1 << 16, [&](Index begin, Index end) {
    std::copy(q.data() + begin, q.data() + end, y.data() + begin);
  });
  return y;
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
    return accumulate(features_, [&](Index first, MatrixView<const float> f) {
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
    return accumulate(q.cols(), [&](Index, MatrixView<const float> f) {
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
    return transposed(sketch.result().view());
  }

 private:
  template <class Receive>
  void for_each(const Receive& receive) {
    Matrix<float> f;
    for_each_block(rows_, kBlockRows, [&](Index first, const RowsView& x) {
      f.resize(x.rows(), base_.out_dim());
      base_.transform(x, f.view());
      receive(first, std::as_const(f).view());
      report(progress_, "subspace", first + x.rows(), rows_expected(rows_, first + x.rows()));
    });
  }

  /// Sum over the blocks of f^T t, for t of so many columns.
  template <class Test>
  Matrix<float> accumulate(Index columns, const Test& test) {
    Matrix<float> y(base_.out_dim(), columns);
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
  KERF_REQUIRE(base.fit == nullptr, usage, "map tefm: {} learns from the data itself",
               spell("base", options.base));
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
                 "map tefm: {} must look like order=0,form=phase, not '{}'", spell("base-options"),
                 options.base_options);
    params[std::string(item.substr(0, equal))] = item.substr(equal + 1);
  }
  return base.complete(params);
}

void TefmOptions::resolve(OpenOptions& open) {
  const auto options = read_options<TefmOptions>(open.params(), TefmFeatures::kOwner);
  const FeatureMapEntry& base = TefmFeatures::base_map(options);
  Params settled = TefmFeatures::base_params(options);
  const Params before = settled, own = write_options(options);
  OpenOptions of_base(settled, open.data());
  if (base.resolve != nullptr) base.resolve(of_base);
  std::string rest = options.base_options;
  for (const OptionInfo& option : base.options()) {
    if (option.type == OptionType::text || before.at(option.name) != "auto") continue;
    if (own.contains(option.name))
      open.settle(option.name.c_str(), settled.at(option.name));
    else
      rest += (rest.empty() ? "" : ",") + option.name + "=" + settled.at(option.name);
  }
  if (rest != options.base_options) open.params()["base-options"] = rest;
  open.settle_distance("bandwidth", DistanceNorm::l2);  // of base maps that have none
  open.settle_length("bias");
}

MapState TefmFeatures::fit(RowSource& rows, const Options& options, rng::Key key,
                           const Progress& progress) {
  const Params params = base_params(options);
  const auto base = base_map(options).make(rows.cols(), params, key.child("base"));
  KERF_REQUIRE(options.variant == Options::Variant::g || options.power == 0, usage,
               "map tefm: {} needs {}", spell("power", options.power), spell("variant", "g"));
  // As many Gaussian vectors as there are rows span all of them; a sample of an SRHT may not.
  const Index rank = std::max<Index>(1, count_rows(rows, options.features));
  const bool srht = options.variant == Options::Variant::s && rank == options.features;
  RangeFinder finder(rows, *base, rank, key, progress);
  Matrix<float> q = orthonormal_columns(srht ? finder.srht() : finder.gaussian());
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
  const auto found = state.find(kCompression);
  KERF_REQUIRE(found->second.cols() <= options.features, data, "a compression to {} of {} features",
               found->second.cols(), options.features);
  const Matrix<float>& q =
      checked_array(state, kCompression, base->out_dim(), found->second.cols());
  return std::make_unique<CompressedFeatures>(std::move(base), q, options.features);
}

std::unique_ptr<Kernel> TefmFeatures::kernel(const Options& options) {
  return base_map(options).kernel(base_params(options));
}

double TefmFeatures::relative_variance(const Options& options) {
  return base_map(options).relative_variance(base_params(options));
}

Index TefmFeatures::bytes(Index in_dim, const Options& options) {
  return bytes_to_fit(in_dim, options, options.features);
}

/// No more columns than rows.
Index TefmFeatures::bytes_to_fit(Index in_dim, const Options& options, Index rows) {
  const Index wide = options.features * options.oversample;
  const Index rank = std::min(options.features, std::max<Index>(rows, 1));
  return base_map(options).bytes(in_dim, base_params(options)) + 20 * wide * rank +
         4 * kBlockRows * (wide + rank + in_dim);
}

Index TefmFeatures::restored_bytes(Index in_dim, const Options& options, const MapState& state) {
  return base_map(options).bytes(in_dim, base_params(options)) +
         2 * state_bytes(state);  // the arrays, and a copy in the form that products take
}

}  // namespace kerf::detail
