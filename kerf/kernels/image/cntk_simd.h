// The vectorised steps of cntk.h: sums over windows and the functions of an angle, for all pixels
// of one displacement.
//
// A map is `rows` lines of `stride` numbers, `cols` of them pixels and the others zero.  After the
// pixels stand enough zeros (line_stride) for vectors and windows that run over a line's end, and
// as many before the first line.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/view.h"

namespace kerf::detail::cntk_simd {

/// Numbers of a vector, at most.
inline constexpr Index kLanes = 16;

/// Of images `width` pixels wide, for windows of `filter` pixels.
inline Index line_stride(Index width, Index filter) {
  const auto round_up = [](Index n) { return (n + kLanes - 1) / kLanes * kLanes; };
  return round_up(width) + round_up(filter);
}

struct MapShape {
  Index rows, cols, stride;
};

/// The offsets of a window along a side: first .. first + size - 1.
struct Window {
  Index first, size;
};

/// out(i, j) = sum of in over the window at (i, j); `lines` is memory of a map.  Sums are taken in
/// order, so that equal windows have equal sums.  out may be `in`.
template <class T>
void window_sums(const T* in, T* lines, T* out, MapShape shape, Window window);

/// gram(i, j) += y(i, j) z(i, j): y and z of their own strides.
template <class T>
void add_products(const T* y, const T* z, Index stride, T* gram, MapShape shape);

/// u = 1 - a, v = 1 + a, a = sums(i, j) y(i, j) z(i, j), clamped to [0, 2].  Whether any pixel with
/// y z > 0 has u or v below `near`.
template <class T>
bool angles(const T* sums, const T* y, const T* z, Index stride, T near, T* u, T* v,
            MapShape shape);

/// What a layer makes of angles.  y and z: sqrt(N_h) / q of both images (0: no pixel).
///   gram = y z kappa1,  rest = 1 - kappa1,  tangent = tangent kappa0 scale + gram
/// `tangent` null: gram alone.
template <class T>
void layer(const T* u, const T* v, const T* y, const T* z, Index stride, T scale, T* gram, T* rest,
           T* tangent, MapShape shape);

/// Sum over pixels (y z > 0) of tangent kappa0.
template <class T>
double last_layer(const T* u, const T* v, const T* y, const T* z, Index stride, const T* tangent,
                  MapShape shape);

}  // namespace kerf::detail::cntk_simd
