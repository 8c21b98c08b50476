// The elementwise functions of feature maps, vectorised for the CPU at hand.
//
// Every element's result depends on that element alone (not on its position or on the length), and
// is finite for any input, infinities and NaN included: a map must give a finite row for any finite
// row, even where a product overflowed on the way.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

namespace kerf::detail {

/// cosine[i] = scale cos(2 pi turns[i]), sine[i] = scale sin(2 pi turns[i]); error below 2e-7 scale
/// for the given float.  Angles in turns make the range reduction exact at any size.
void sincos_turns(std::span<const float> turns, float scale, float* cosine, float* sine);

/// out[i] = scale cos(2 pi turns[i]).
void cos_turns(std::span<const float> turns, float scale, float* out);

/// out[i] = scale max(0, in[i]).
void relu(std::span<const float> in, float scale, float* out);

/// out[i] = scale if in[i] > 0, else 0.
void step(std::span<const float> in, float scale, float* out);

/// out[i] = scale if in[i] > 0, else -scale.
void sign(std::span<const float> in, float scale, float* out);

/// out[i] = scale (|in[i]| - mean), mean >= 0.
void absolute(std::span<const float> in, float scale, float mean, float* out);

/// Sum of squares, in double.
double squared_norm(std::span<const float> x);

}  // namespace kerf::detail
