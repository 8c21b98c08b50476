// The transpose of a matrix, in squares that use whole cache lines on both sides.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {

/// out(j, i) = in(i, j), on the calling thread.
template <class From, class T>
void transpose(MatrixView<From> in, MatrixView<T> out) {
  constexpr Index kSquare = 16;
  for (Index j0 = 0; j0 < in.cols; j0 += kSquare)
    for (Index i0 = 0; i0 < in.rows; i0 += kSquare)
      for (Index j = j0; j < std::min(j0 + kSquare, in.cols); ++j)
        for (Index i = i0; i < std::min(i0 + kSquare, in.rows); ++i) out(j, i) = in(i, j);
}

/// By as many threads as there are.
template <class From>
Matrix<std::remove_const_t<From>> transposed(MatrixView<From> a) {
  constexpr Index kColumns = 64;
  Matrix<std::remove_const_t<From>> out(a.cols, a.rows);
  parallel_for(a.cols, kColumns, [&](Index begin, Index end) {
    transpose(a.columns(begin, end), out.view().slice(begin, end));
  });
  return out;
}

}  // namespace kerf::detail
