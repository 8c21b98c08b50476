// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/gram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"
#include "kerf/kernels/gram/gram_simd.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/transpose.h"

namespace kerf::detail {
namespace {

constexpr Index kMaxChunk = 2048;  // coordinates packed at a time for a product
constexpr Index kSumChunk = 128;   // for sums of absolute values: short sums round less
constexpr double kSparse = 0.02;   // entries per column below which sparse products are faster

/// Pairs nearer (or more opposite) than this are computed again: gram.h.
template <class T>
constexpr T kNear = std::is_same_v<T, float> ? T(0.1) : T(0.01);

bool same_rows(const RowsView& x, const RowsView& y) {
  if (x.is_sparse() != y.is_sparse() || x.rows() != y.rows() || x.cols() != y.cols()) return false;
  if (x.is_sparse())
    return x.sparse().values == y.sparse().values && x.sparse().columns == y.sparse().columns &&
           x.sparse().offsets == y.sparse().offsets;
  return x.dense().data == y.dense().data && x.dense().stride == y.dense().stride &&
         x.wide().data == y.wide().data && x.wide().stride == y.wide().stride;
}

bool has_few_entries(const RowsView& x) {
  return x.is_sparse() &&
         static_cast<double>(x.sparse().nonzeros()) <
             kSparse * static_cast<double>(x.rows()) * static_cast<double>(x.cols());
}

}  // namespace

/// Rows x_begin .. x_end against y_begin .. y_end, and where the values go.
template <class T>
struct Gram<T>::Tile {
  Index x_begin, x_end, y_begin, y_end;
  bool direct;    // to the rows of x
  bool mirrored;  // to the rows of y, transposed
};

/// Memory that a thread keeps from tile to tile.
template <class T>
struct Gram<T>::Scratch {
  Matrix<T> x, y, tile;
  Matrix<double> products;  // cauchy; any: rows of x
  Matrix<double> right;     // any: rows of y
  std::vector<T> other;
  std::vector<std::int32_t> close;
};

template <class T>
typename Gram<T>::Scratch& Gram<T>::scratch() {
  thread_local Scratch memory;
  return memory;
}

template <class T>
Gram<T>::Gram(const Kernel& kernel, const RowsView& x, const RowsView& y)
    : kernel_(kernel), form_(kernel.form()), symmetric_(same_rows(x, y)) {
  KERF_REQUIRE(x.cols() == y.cols(), usage, "a kernel of rows of {} and {} columns", x.cols(),
               y.cols());
  const bool sparse = has_few_entries(x) && has_few_entries(y);
  switch (form_.geometry) {
    case PairGeometry::any:
      engine_ = Engine::pairs;
      break;
    case PairGeometry::angle:
    case PairGeometry::squared_distance:
      engine_ = sparse ? Engine::sparse_product : Engine::product;
      break;
    default:
      engine_ = sparse ? Engine::pairs : Engine::coordinates;
  }
  y_ = GramSide<T>(form_, y);
  if (!symmetric_) x_ = GramSide<T>(form_, x);
  if (engine_ == Engine::product) centre_ = y_.centre(form_);
  if (engine_ == Engine::product || engine_ == Engine::sparse_product) {
    y_.set_squares(form_, centre_, engine_ == Engine::product);
    if (!symmetric_) x_.set_squares(form_, centre_, engine_ == Engine::product);
  }
  if (symmetric_) x_ = y_;
}

template <class T>
Index Gram<T>::chunk() const {
  const Index cols = x_.packed(form_, centre_).cols(x_.rows);
  const Index longest = engine_ == Engine::product ? kMaxChunk : kSumChunk;
  const Index pieces = std::max<Index>(1, (cols + longest - 1) / longest);
  return std::max<Index>(1, (cols + pieces - 1) / pieces);
}

template <class T>
Index Gram<T>::memory() const {
  const Index sides = (x_.tile + y_.tile) * (chunk() + 32), tile = x_.tile * y_.tile;
  const Index numbers = (engine_ == Engine::pairs || engine_ == Engine::sparse_product ? 0 : sides);
  const Index cauchy = form_.geometry == PairGeometry::cauchy_product ? 2 : 1;
  const Index wide =
      form_.geometry == PairGeometry::any ? 8 * (x_.tile + y_.tile) * x_.rows.cols() : 0;
  return threads() * ((numbers * cauchy + 3 * tile) * static_cast<Index>(sizeof(T)) + wide);
}

template <class T>
std::vector<typename Gram<T>::Tile> Gram<T>::tiles(Index begin, Index end) const {
  std::vector<Tile> all;
  const auto wanted = [&](Index first, Index last) { return first < end && last > begin; };
  for (Index i = 0; i < rows(); i += x_.tile)
    for (Index j = symmetric_ ? i : 0; j < cols(); j += y_.tile) {
      const Index i_end = std::min(i + x_.tile, rows()), j_end = std::min(j + y_.tile, cols());
      const bool direct = wanted(i, i_end), mirrored = symmetric_ && j > i && wanted(j, j_end);
      if (direct || mirrored) all.push_back({i, i_end, j, j_end, direct, mirrored});
    }
  return all;
}

template <class T>
void Gram<T>::compute(Index begin, Index end, MatrixView<T> out) const {
  KERF_REQUIRE(0 <= begin && begin <= end && end <= rows(), usage,
               "rows {} to {} of a kernel matrix of {} rows", begin, end, rows());
  KERF_REQUIRE(out.rows == end - begin && out.cols == cols(), usage,
               "a {} x {} matrix for {} x {} kernel values", out.rows, out.cols, end - begin,
               cols());
  const std::vector<Tile> work = tiles(begin, end);
  parallel_for(static_cast<Index>(work.size()), 1, [&](Index first, Index last) {
    for (Index t = first; t < last; ++t) compute_tile(work[t], begin, end, out);
  });
}

template <class T>
void Gram<T>::compute_tile(const Tile& tile, Index begin, Index end, MatrixView<T> out) const {
  Scratch& s = scratch();
  s.tile.resize(x_.tile, y_.tile);
  s.other.resize(y_.tile);
  s.close.resize(s.other.size());
  if (engine_ == Engine::product) products(tile, s);
  if (engine_ == Engine::sparse_product) sparse_products(tile, s);
  if (engine_ == Engine::coordinates) coordinate_sums(tile, s);
  const bool any = form_.geometry == PairGeometry::any;
  if (any) pair_values(tile, s);

  const Index first = tile.mirrored ? tile.x_begin : std::max(begin, tile.x_begin);
  const Index last = tile.mirrored ? tile.x_end : std::min(end, tile.x_end);
  const bool diagonal = symmetric_ && tile.x_begin == tile.y_begin;
  const auto count = static_cast<std::size_t>(tile.y_end - tile.y_begin);
  // The lower half of a tile on the diagonal mirrors the upper one: all of its rows are needed.
  for (Index i = diagonal ? tile.x_begin : first; i < last; ++i) {
    T* row = s.tile.data() + (i - tile.x_begin) * y_.tile;
    if (engine_ == Engine::pairs && !any)
      pair_numbers({i, i + 1, tile.y_begin, tile.y_end, true, false}, s);
    if (!x_.square.empty())
      values_from_distances(tile, i, s);
    else if (!any)
      kernel_.pointwise({row, count}, {}, std::span<T>(row, count));
    if (diagonal)
      for (Index j = 0; j < i - tile.x_begin; ++j) row[j] = s.tile(j, i - tile.x_begin);
  }
  if (tile.direct)
    for (Index i = std::max(begin, tile.x_begin); i < std::min(end, tile.x_end); ++i)
      std::copy_n(s.tile.data() + (i - tile.x_begin) * y_.tile, count,
                  out.row(i - begin).data() + tile.y_begin);
  if (tile.mirrored) {
    const Index low = std::max(begin, tile.y_begin), high = std::min(end, tile.y_end);
    const Index rows = tile.x_end - tile.x_begin;
    transpose(MatrixView<const T>(s.tile.data() + low - tile.y_begin, rows, high - low, y_.tile),
              MatrixView<T>(&out(low - begin, tile.x_begin), high - low, rows, out.stride));
  }
}

/// <p_i, q_j> by GEMM; a tile at the edge is filled up with zero rows, so that every product has
/// the same shape and its bits do not depend on the rest.
template <class T>
void Gram<T>::products(const Tile& tile, Scratch& s) const {
  const Index all = x_.packed(form_, centre_).cols(x_.rows), piece = chunk();
  const Index stride = (piece + 15) / 16 * 16 + 16;
  s.x.resize(x_.tile, stride);
  s.y.resize(y_.tile, stride);
  const auto pack = [&](const GramSide<T>& side, Index begin, Index end, Index first, Index last,
                        Matrix<T>& out) {
    pack_rows(side.rows, begin, end, side.packed(form_, centre_), first, last, out.data(), stride);
    std::fill_n(out.data() + (end - begin) * stride, (side.tile - (end - begin)) * stride, T{0});
  };
  if (all == 0) s.tile.fill(0);
  for (Index first = 0; first < all; first += piece) {
    const Index last = std::min(first + piece, all), depth = last - first;
    pack(x_, tile.x_begin, tile.x_end, first, last, s.x);
    pack(y_, tile.y_begin, tile.y_end, first, last, s.y);
    blas::gemm(false, true, T{1}, MatrixView<const T>(s.x.data(), x_.tile, depth, stride),
               MatrixView<const T>(s.y.data(), y_.tile, depth, stride), T(first == 0 ? 0 : 1),
               s.tile.view());
  }
}

template <class T>
void Gram<T>::sparse_products(const Tile& tile, Scratch& s) const {
  sparse_dots(x_.rows.sparse(), tile.x_begin, tile.x_end, y_.rows.sparse(), tile.y_begin,
              tile.y_end, s.tile.data(), y_.tile);
  const auto factor = [&](const GramSide<T>& side, Index i) {
    return side.factor.empty() ? form_.scale : side.factor[i];
  };
  const double bias_square = form_.bias * form_.bias;
  for (Index i = tile.x_begin; i < tile.x_end; ++i) {
    T* row = s.tile.data() + (i - tile.x_begin) * y_.tile;
    const double x_factor = factor(x_, i);
    for (Index j = tile.y_begin; j < tile.y_end; ++j) {
      T& dot = row[j - tile.y_begin];
      dot = static_cast<T>((static_cast<double>(dot) + bias_square) * x_factor * factor(y_, j));
    }
  }
}

/// The numbers of laplacian and cauchy.
template <class T>
void Gram<T>::coordinate_sums(const Tile& tile, Scratch& s) const {
  const Index cols = x_.rows.cols(), piece = chunk();
  const auto run = [&](auto& tile_sums, auto accumulate) {
    using Work = std::remove_reference_t<decltype(tile_sums(0, 0))>;
    thread_local Matrix<Work> x, y;
    x.resize(x_.tile, piece);
    y.resize(y_.tile, piece);
    const std::vector<Work> zero(cols, Work{0});
    PackedForm<Work> form;
    form.centre = zero;
    for (Index first = 0; first < cols; first += piece) {
      const Index last = std::min(first + piece, cols), depth = last - first;
      pack_rows(x_.rows, tile.x_begin, tile.x_end, form, first, last, x.data(), depth);
      std::fill_n(x.data() + (tile.x_end - tile.x_begin) * depth,
                  (x_.tile - (tile.x_end - tile.x_begin)) * depth, Work{0});
      pack_panels(y_.rows, tile.y_begin, tile.y_end, y_.tile, first, last,
                  gram_simd::panel_width<Work>(), y.data());
      accumulate(x.data(), y.data(), depth, tile_sums.data());
    }
  };
  const Index count = x_.tile * y_.tile;
  if (form_.geometry == PairGeometry::cauchy_product) {
    s.products.resize(x_.tile, y_.tile);
    s.products.fill(1);
    run(s.products, [&](const double* x, const double* y, Index depth, double* sums) {
      gram_simd::multiply_cauchy(x, y, depth, form_.scale, sums, x_.tile, y_.tile);
    });
    for (Index k = 0; k < count; ++k) s.tile.data()[k] = narrow<T>(s.products.data()[k]);
  } else {
    s.tile.fill(0);
    run(s.tile, [&](const T* x, const T* y, Index depth, T* sums) {
      gram_simd::add_l1(x, y, depth, sums, x_.tile, y_.tile);
    });
    // In double: the scale may lie outside of T's range.
    for (Index k = 0; k < count; ++k)
      s.tile.data()[k] = narrow<T>(static_cast<double>(s.tile.data()[k]) * form_.scale);
  }
}

/// One row of numbers, pair by pair: sparse laplacian and cauchy.
template <class T>
void Gram<T>::pair_numbers(const Tile& tile, Scratch& s) const {
  const Index i = tile.x_begin;
  T* row = s.tile.data() + i % x_.tile * y_.tile;
  for (Index j = tile.y_begin; j < tile.y_end; ++j)
    row[j - tile.y_begin] = narrow<T>(form_.geometry == PairGeometry::l1_distance
                                          ? l1_difference(x_.rows, i, y_.rows, j) * form_.scale
                                          : cauchy_product(x_.rows, i, y_.rows, j, form_.scale));
}

/// All values of a tile by the kernel itself.
template <class T>
void Gram<T>::pair_values(const Tile& tile, Scratch& s) const {
  const auto widen = [](const GramSide<T>& side, Index begin, Index end, Matrix<double>& out) {
    out.resize(end - begin, side.rows.cols());
    for (Index i = begin; i < end; ++i) copy_row(side.rows, i, out.row(i - begin));
  };
  widen(x_, tile.x_begin, tile.x_end, s.products);
  widen(y_, tile.y_begin, tile.y_end, s.right);
  kernel_.pairs(s.products.view(), s.right.view(),
                MatrixView<T>(s.tile.data(), s.products.rows(), s.right.rows(), y_.tile));
}

template <class T>
void Gram<T>::values_from_distances(const Tile& tile, Index i, Scratch& s) const {
  const bool angle = form_.geometry == PairGeometry::angle;
  const Index count = tile.y_end - tile.y_begin;
  T* row = s.tile.data() + (i - tile.x_begin) * y_.tile;
  const T far = angle ? 4 - 2 * kNear<T> : std::numeric_limits<T>::infinity();
  const Index redone =
      gram_simd::distances(row, count, x_.square[i], y_.square.data() + tile.y_begin, kNear<T>, far,
                           angle, s.close.data());
  T* other = s.other.data();
  if (angle)
    for (Index j = 0; j < count; ++j) other[j] = std::max(T{0}, 2 - row[j]);
  for (Index k = 0; k < redone; ++k) {
    const Index j = s.close[k];
    redo(i, tile.y_begin + j, row[j], other + j);
  }
  const auto size = static_cast<std::size_t>(count);
  kernel_.pointwise({row, size}, {other, angle ? size : 0}, std::span<T>(row, size));
  if (!angle) return;
  const T x_scale = x_.scale[i];
  const T* y_scale = y_.scale.data() + tile.y_begin;
  for (Index j = 0; j < count; ++j) row[j] *= x_scale * y_scale[j];
}

/// The numbers of one pair from the difference, or the sum, of its rows.
template <class T>
void Gram<T>::redo(Index i, Index j, T& number, T* other) const {
  if (form_.geometry != PairGeometry::angle) {
    number =
        narrow<T>(squared_difference(x_.rows, i, 1, y_.rows, j, 1) * form_.scale * form_.scale);
    return;
  }
  const double x_factor = x_.factor[i];
  const double sign = number > 1 ? -1 : 1;  // obtuse: the sum of the rows is the small one
  const double y_factor = sign * y_.factor[j];
  const double x_bias = form_.bias * x_factor, y_bias = form_.bias * y_factor;
  const double half = 0.5 * (squared_difference(x_.rows, i, x_factor, y_.rows, j, y_factor) +
                             (x_bias - y_bias) * (x_bias - y_bias));
  number = static_cast<T>(sign > 0 ? half : std::max(0.0, 2 - half));
  *other = static_cast<T>(sign > 0 ? std::max(0.0, 2 - half) : half);
}

template class Gram<float>;
template class Gram<double>;

}  // namespace kerf::detail
