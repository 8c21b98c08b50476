// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/normal_equations.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/symmetric_product.h"

namespace kerf::detail {
namespace {

constexpr Index kCrossRows = 512;  // rows summed in single precision for C

/// Side of a tile of G.  Large ones are quicker, small ones can be shared out among more threads.
constexpr Index kSmallTile = 512, kLargeTile = 1024;
constexpr Index kParts = 8;  // sums that a product with G is made of, at most
Index tile_side(Index features) { return features >= 4 * kLargeTile ? kLargeTile : kSmallTile; }
Index tile_size(Index tile, Index features) {
  return std::min(tile_side(features), features - tile * tile_side(features));
}

/// Columns of tile t of z.
MatrixView<const float> columns(MatrixView<const float> z, Index tile) {
  const Index first = tile * tile_side(z.cols);
  return z.columns(first, first + tile_size(tile, z.cols));
}

template <class T>
void add_to(MatrixView<const T> from, MatrixView<double> to, bool upper_only) {
  for (Index i = 0; i < from.rows; ++i) {
    const T* in = from.row(i).data();
    double* out = to.row(i).data();
    for (Index j = upper_only ? i : 0; j < from.cols; ++j) out[j] += in[j];
  }
}

/// Columns of tile t of z in double precision, centred and weighted.
const Matrix<double>& widened(MatrixView<const float> z, Index tile, const Origin& origin,
                              std::span<const double> root, int which) {
  thread_local Matrix<double> memory[2];
  Matrix<double>& wide = memory[which];
  const auto part = columns(z, tile);
  centre_and_weight(origin, root, tile * tile_side(z.cols), part, wide);
  return wide;
}

}  // namespace

void centre_and_weight(const Origin& origin, WeightsView weights, MatrixView<float> z) {
  parallel_for(z.rows, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto scale = static_cast<float>(std::sqrt(weights[i]));
      float* row = z.row(i).data();
      const float* shift = origin.features.data();
      for (Index j = 0; j < z.cols; ++j) row[j] = (row[j] - shift[j]) * scale;
    }
  });
}

void centre_and_weight(const Origin& origin, std::span<const double> root, Index first_column,
                       MatrixView<const float> z, Matrix<double>& out) {
  out.resize(z.rows, z.cols);
  const float* shift = origin.features.data() + first_column;
  for (Index i = 0; i < z.rows; ++i) {
    const double scale = root.empty() ? 1.0 : root[i];
    for (Index j = 0; j < z.cols; ++j) out(i, j) = (double{z(i, j)} - shift[j]) * scale;
  }
}

NormalEquations::NormalEquations(Origin origin, Precision precision, SumsOf which)
    : origin_(std::move(origin)),
      precision_(precision),
      which_(which),
      tiles_((features() + tile_side(features()) - 1) / tile_side(features())) {
  for (Index a = 0; a < tiles_ && which == SumsOf::all; ++a)
    for (Index b = a; b < tiles_; ++b) {
      gram_.emplace_back(tile_size(a, features()), tile_size(b, features()));
      gram_.back().fill(0);
    }
  cross_.resize(features(), targets() + 1);
  cross_.fill(0);
  target_sum_.assign(origin_.targets.size(), 0);
  target_square_ = target_sum_;
}

void NormalEquations::add(MatrixView<float> z, MatrixView<const double> y, WeightsView weights) {
  KERF_REQUIRE(z.cols == features() && y.cols == targets() && z.rows == y.rows, usage,
               "rows of {} features and {} targets do not fit sums of {} and {}", z.cols, y.cols,
               features(), targets());
  KERF_REQUIRE(!weights.given() || std::ssize(weights.values()) == z.rows, usage,
               "{} weights for {} rows", weights.values().size(), z.rows);
  std::vector<double> root(z.rows, 1.0);
  for (std::size_t i = 0; i < root.size(); ++i) root[i] = std::sqrt(weights[i]);
  Matrix<double> centred(y.rows, y.cols);
  for (Index i = 0; i < y.rows; ++i) {
    const double weight = root[i] * root[i];
    weight_ += weight;
    weighing_rows_ += weight > 0 ? 1 : 0;
    for (Index t = 0; t < y.cols; ++t) {
      const auto k = static_cast<std::size_t>(t);
      const double value = y(i, t) - origin_.targets[k];
      centred(i, t) = value * root[i];
      target_sum_[k] += weight * value;
      target_square_[k] += weight * value * value;
    }
  }
  rows_ += z.rows;
  if (precision_ == Precision::double_) return add_double(z, centred.view(), root);
  centre_and_weight(origin_, weights, z);
  add_cross(z, centred.view(), root);
  if (which_ == SumsOf::all) add_gram(z);
}

void NormalEquations::add_cross(MatrixView<const float> z, MatrixView<const double> y,
                                std::span<const double> root) {
  const Index side = tile_side(features());
  Matrix<float> targets_and_one(z.rows, y.cols + 1);
  for (Index i = 0; i < z.rows; ++i) {
    for (Index t = 0; t < y.cols; ++t) targets_and_one(i, t) = static_cast<float>(y(i, t));
    targets_and_one(i, y.cols) = static_cast<float>(root[i]);
  }
  parallel_for(tiles_, 1, [&](Index begin, Index end) {
    Matrix<float> part;
    for (Index tile = begin; tile < end; ++tile) {
      const auto block = columns(z, tile);
      part.resize(block.cols, y.cols + 1);
      const MatrixView<double> out = cross_.view().slice(tile * side, tile * side + block.cols);
      for (Index first = 0; first < z.rows; first += kCrossRows) {
        const Index last = std::min(first + kCrossRows, z.rows);
        blas::gemm(true, false, 1.0f, block.slice(first, last),
                   targets_and_one.view().slice(first, last), 0.0f, part.view());
        add_to<float>(part.view(), out, false);
      }
    }
  });
}

void NormalEquations::add_gram(MatrixView<const float> z) {
  std::vector<std::pair<Index, Index>> pairs;
  for (Index a = 0; a < tiles_; ++a)
    for (Index b = a; b < tiles_; ++b) pairs.emplace_back(a, b);
  parallel_for(static_cast<Index>(pairs.size()), 1, [&](Index begin, Index end) {
    thread_local Matrix<float> part;
    for (Index p = begin; p < end; ++p) {
      const auto [a, b] = pairs[p];
      const auto left = columns(z, a), right = columns(z, b);
      const MatrixView<double> out = gram_[tile_of(a, b)].view();
      part.resize(left.cols, right.cols);
      if (a == b)
        blas::gram_upper(left, part.view());
      else
        blas::gemm(true, false, 1.0f, left, right, 0.0f, part.view());
      add_to<float>(part.view(), out, a == b);
    }
  });
}

void NormalEquations::add_double(MatrixView<const float> z, MatrixView<const double> y,
                                 std::span<const double> root) {
  const Index side = tile_side(features());
  Matrix<double> targets_and_one(z.rows, y.cols + 1);
  for (Index i = 0; i < z.rows; ++i) {
    std::ranges::copy(y.row(i), targets_and_one.row(i).begin());
    targets_and_one(i, y.cols) = root[i];
  }
  parallel_for(tiles_, 1, [&](Index begin, Index end) {
    for (Index a = begin; a < end; ++a) {
      const auto& left = widened(z, a, origin_, root, 0);
      blas::gemm(true, false, 1.0, left.view(), targets_and_one.view(), 1.0,
                 cross_.view().slice(a * side, a * side + left.cols()));
      for (Index b = a; b < tiles_ && which_ == SumsOf::all; ++b)
        blas::gemm(true, false, 1.0, left.view(),
                   (b == a ? left : widened(z, b, origin_, root, 1)).view(), 1.0,
                   gram_[tile_of(a, b)].view());
    }
  });
}

void NormalEquations::merge(const NormalEquations& other) {
  KERF_REQUIRE(
      other.origin_.features == origin_.features && other.origin_.targets == origin_.targets, usage,
      "sums around different origins cannot be added");
  for (std::size_t tile = 0; tile < gram_.size(); ++tile)
    add_to<double>(other.gram_[tile].view(), gram_[tile].view(), false);
  add_to<double>(other.cross_.view(), cross_.view(), false);
  for (std::size_t t = 0; t < target_sum_.size(); ++t) {
    target_sum_[t] += other.target_sum_[t];
    target_square_[t] += other.target_square_[t];
  }
  weight_ += other.weight_;
  rows_ += other.rows_;
  weighing_rows_ += other.weighing_rows_;
}

double NormalEquations::diagonal(Index j) const {
  const Index side = tile_side(features()), tile = j / side;
  return gram_[tile_of(tile, tile)](j % side, j % side);
}

void NormalEquations::add_gram_to(MatrixView<double> out) const {
  const Index side = tile_side(features());
  for (Index a = 0; a < tiles_; ++a)
    parallel_for(tiles_ - a, 1, [&](Index begin, Index end) {
      for (Index b = a + begin; b < a + end; ++b) {
        const auto& tile = gram_[tile_of(a, b)];
        const MatrixView<double> corner{&out(a * side, b * side), tile.rows(), tile.cols(),
                                        out.stride};
        add_to<double>(tile.view(), corner, a == b);
      }
    });
}

Matrix<double> NormalEquations::gram_times(MatrixView<const double> b) const {
  const Index side = tile_side(features()), m = features();
  Matrix<double> x(b.cols, m), out(m, b.cols);
  out.fill(0);
  if (b.cols == 0) return out;
  for (Index j = 0; j < m; ++j)
    for (Index k = 0; k < b.cols; ++k) x(k, j) = b(j, k);
  const auto columns_of = [&](auto& rows, Index tile) {
    return MatrixView(rows.data() + tile * side, rows.rows(), tile_size(tile, m), m);
  };
  // Sums of every kParts-th row of tiles, added up in order: the threads leave no trace.
  std::vector<Matrix<double>> parts(std::min(kParts, tiles_));
  parallel_for(std::ssize(parts), 1, [&](Index begin, Index end) {
    Matrix<double> whole;
    for (Index p = begin; p < end; ++p) {
      Matrix<double>& sum = parts[p];
      sum.resize(b.cols, m);
      sum.fill(0);
      for (Index r = p; r < tiles_; r += kParts) {
        const Matrix<double>& corner = gram_[tile_of(r, r)];
        whole.resize(corner.rows(), corner.rows());
        for (Index i = 0; i < whole.rows(); ++i)
          for (Index j = 0; j < whole.rows(); ++j)
            whole(i, j) = i <= j ? corner(i, j) : corner(j, i);
        add_tile_products(whole.view(), columns_of(x, r), columns_of(sum, r), {}, {});
        for (Index c = r + 1; c < tiles_; ++c)
          add_tile_products(gram_[tile_of(r, c)].view(), columns_of(x, c), columns_of(sum, r),
                            columns_of(x, r), columns_of(sum, c));
      }
    }
  });
  for (const Matrix<double>& part : parts)
    for (Index j = 0; j < m; ++j)
      for (Index k = 0; k < b.cols; ++k) out(j, k) += part(k, j);
  return out;
}

Index NormalEquations::product_bytes(Index features, Index cols) {
  return 8 * features * cols * (kParts + 2);
}

void NormalEquations::save(ArrayWriter& arrays) const {
  arrays.add_numbers("counts",
                     {weight_, static_cast<double>(rows_), static_cast<double>(precision_),
                      static_cast<double>(which_), static_cast<double>(weighing_rows_)});
  arrays.add("origin-features", std::span<const float>(origin_.features));
  arrays.add("origin-targets", std::span<const double>(origin_.targets));
  arrays.add("cross", cross_.view());
  arrays.add("target-sum", std::span<const double>(target_sum_));
  arrays.add("target-square", std::span<const double>(target_square_));
  for (std::size_t tile = 0; tile < gram_.size(); ++tile)
    arrays.add("gram-" + std::to_string(tile), gram_[tile].view());
}

NormalEquations NormalEquations::load(ArrayReader& arrays) {
  const auto counts = arrays.vector<double>("counts");
  KERF_REQUIRE(counts.size() == 4 || counts.size() == 5, data, "the sums are of another version");
  Origin origin{arrays.vector<float>("origin-features"), arrays.vector<double>("origin-targets")};
  NormalEquations sums(std::move(origin), counts[2] == 0 ? Precision::single_ : Precision::double_,
                       counts[3] == 0 ? SumsOf::cross : SumsOf::all);
  const auto like = [](Matrix<double> read, const Matrix<double>& expected) {
    KERF_REQUIRE(read.rows() == expected.rows() && read.cols() == expected.cols(), data,
                 "the sums are of {} x {} numbers, not {} x {}", read.rows(), read.cols(),
                 expected.rows(), expected.cols());
    return read;
  };
  sums.weight_ = counts[0];
  sums.rows_ = static_cast<Index>(counts[1]);
  // Sums of before do not have it: as if all rows weighed something.
  sums.weighing_rows_ = static_cast<Index>(counts.size() == 5 ? counts[4] : counts[1]);
  sums.cross_ = like(arrays.matrix<double>("cross"), sums.cross_);
  sums.target_sum_ = arrays.vector<double>("target-sum");
  sums.target_square_ = arrays.vector<double>("target-square");
  KERF_REQUIRE(std::ssize(sums.target_sum_) == sums.targets() &&
                   std::ssize(sums.target_square_) == sums.targets(),
               data, "the sums are of another number of targets");
  for (std::size_t tile = 0; tile < sums.gram_.size(); ++tile)
    sums.gram_[tile] =
        like(arrays.matrix<double>("gram-" + std::to_string(tile)), sums.gram_[tile]);
  return sums;
}

Index NormalEquations::bytes(Index features, Index targets) {
  const Index tiles = (features + tile_side(features) - 1) / tile_side(features);
  const Index side = std::min(features, tile_side(features));
  return 8 * (tiles * (tiles + 1) / 2 * side * side + features * (targets + 2));
}

Index NormalEquations::scratch_bytes(Precision precision, int threads) {
  constexpr Index kMostRows = 8192;  // of a block (training_rows.cpp)
  const Index per_thread = precision == Precision::single_ ? 4 * kLargeTile * kLargeTile
                                                           : 2 * 8 * kLargeTile * kMostRows;
  return threads * (per_thread + (8 << 20));  // OpenBLAS packs into a few megabytes a thread
}

}  // namespace kerf::detail
