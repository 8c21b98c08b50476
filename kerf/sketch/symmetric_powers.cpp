// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/symmetric_powers.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

Index SymmetricPowers::dimension(Index in_dim, Index degree, Index cap) {
  double count = 1;  // C(d+k-1, k) for k = 1, 2, ..: whole numbers, exact below 2^53
  for (Index k = 1; k <= degree; ++k) {
    count = std::round(count * static_cast<double>(in_dim + k - 1) / static_cast<double>(k));
    if (count > static_cast<double>(cap)) return cap;
  }
  return static_cast<Index>(count);
}

SymmetricPowers::SymmetricPowers(Index in_dim, Index degree) {
  // Monomials come in the order of their smallest coordinate, so those whose coordinates are all
  // >= i are the end of the list, and each degree is made from the ends of the one before.
  std::vector<double> multinomial = {1}, repeats = {0};  // of degree 0: the number 1
  std::vector<Index> offsets(in_dim, 0);
  for (Index j = 1; j <= degree; ++j) {
    std::vector<double> next, next_repeats;
    std::vector<Index> next_offsets;
    for (Index i = 0; i < in_dim; ++i) {
      const auto at = static_cast<std::size_t>(i);
      next_offsets.push_back(static_cast<Index>(next.size()));
      const Index same_end =
          i + 1 < in_dim && j > 1 ? offsets[at + 1] : static_cast<Index>(multinomial.size());
      for (auto m = static_cast<std::size_t>(offsets[at]); m < multinomial.size(); ++m) {
        const bool same = j > 1 && static_cast<Index>(m) < same_end;
        const double count = same ? repeats[m] + 1 : 1;  // of coordinate i in the new monomial
        next.push_back(multinomial[m] * static_cast<double>(j) / count);
        next_repeats.push_back(count);
      }
    }
    multinomial = next;
    repeats = next_repeats;
    offsets = next_offsets;
    Degree made;
    made.offsets = offsets;
    for (const double m : multinomial) made.factor.push_back(static_cast<float>(std::sqrt(m)));
    degrees_.push_back(std::move(made));
  }
}

void SymmetricPowers::apply(std::span<const float> x, std::span<const float> scale,
                            std::span<const std::span<float>> out) const {
  thread_local Matrix<float> memory[2];
  for (std::size_t j = 0; j < degrees_.size(); ++j) {
    const Degree& degree = degrees_[j];
    const auto size = static_cast<Index>(degree.factor.size());
    Matrix<float>& products = memory[j % 2];
    products.resize(1, size);
    float* to = products.data();
    if (j == 0) {
      std::ranges::copy(x, to);
    } else {
      const Matrix<float>& below = memory[(j + 1) % 2];
      for (std::size_t i = 0; i < x.size(); ++i)
        for (Index m = degrees_[j - 1].offsets[i]; m < below.cols(); ++m)
          *to++ = x[i] * below.data()[m];
    }
    if (out[j].empty()) continue;
    for (Index m = 0; m < size; ++m) out[j][m] = scale[j] * (degree.factor[m] * products.data()[m]);
  }
}

}  // namespace kerf::detail
