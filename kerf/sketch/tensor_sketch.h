// TensorSketch: a CountSketch of x_1 (x) ... (x) x_q from CountSketches of the factors.
//
//   T(x_1, .., x_q) = (C_1 x_1) * ... * (C_q x_q)      circular convolution, through spectra
// which is the CountSketch of the tensor with h(j_1, ..) = h_1(j_1) + h_2(j_2) + ... mod m and
// s(j_1, ..) = s_1(j_1) s_2(j_2) ...
//
// Unbiased:   E <T(x..), T(y..)> = <x_1, y_1> ... <x_q, y_q>.
// Variance:   with a_k = <x_k, y_k>^2, b_k = |x_k|^2 |y_k|^2 - sum_j x_kj^2 y_kj^2,
//             c_k = <x_k, y_k>^2 - sum_j x_kj^2 y_kj^2, products over k, g = 2 for even m, else 1:
//               Var = (1/m) (prod(a+b) + prod(a+c) - 2 prod a)
//                   + (g/m^2) (prod(a+b+c) - prod(a+b) - prod(a+c) + prod a).
// Cost:       nnz of the factors, q + 1 real Fourier transforms of length m.
// Reference:  Pham & Pagh, "Fast and scalable polynomial kernels via explicit feature maps",
//             KDD 2013; Avron, Nguyen, Woodruff, "Subspace embeddings for the polynomial kernel",
//             NIPS 2014.
// Differs:    the variance is exact for fully random hashes (the papers bound it by 3^q / m).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/sketch/count_sketch.h"
#include "kerf/sketch/sketch.h"
#include "kerf/transforms/fft.h"

namespace kerf::detail {

class TensorSketch final : public TensorMap {
 public:
  TensorSketch(std::vector<Index> in_dims, Index out_dim, rng::Key key);

 private:
  void apply_rows(std::span<const RowsView> x, Index begin, Index end,
                  MatrixView<float> out) const override;

  RealFft fft_;
  std::vector<CountSketch> counts_;  // the first carries the inverse transform's 1/m
};

}  // namespace kerf::detail
