// Signs, Hadamard transform, sample: the part that SRHT, TensorSRHT and PolySketch share.
//
//   L x = scale P H D (x, 0)       D: d random signs, H: +-1 Hadamard matrix of n >= d, a power of
//                                  two, P: m sampled coordinates
// The sample is *balanced*: every coordinate floor(m/n) times, and t = m mod n of them, drawn
// without replacement, once more.  With C(k) = E (HDx)_p (HDy)_p (HDx)_q (HDy)_q - <x, y>^2 for
// p xor q = k, sum_k C(k) = 0 (H is orthogonal), so samples that repel each other cancel errors:
//   Var (scale^2 sum_i (L x)_i (L y)_i) = rho V(x, y) / m,   rho = t (n - t) / (m (n - 1))
// at scale = 1 / sqrt m, instead of V / m for a sample with replacement; 0 when n divides m.
//
// Cost:       n log2 n + m; the row stays in cache from the signs to the sample.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/random/random.h"
#include "kerf/core/view.h"

namespace kerf::detail {

/// m positions in [n), balanced as above: whole copies of 0 .. n-1, then the rest in order.
/// `shuffled` puts them all in random order.
std::vector<std::int32_t> balanced_sample(Index n, Index m, bool shuffled, rng::Key key);

class SampledHadamard {
 public:
  enum class Order { sorted, shuffled };

  SampledHadamard(Index in_dim, Index out_dim, double scale, Order order, rng::Key key);

  Index in_dim() const { return in_dim_; }
  Index out_dim() const { return out_dim_; }

  /// out = L x.  On the calling thread.
  void apply(std::span<const float> x, std::span<float> out) const;
  /// out = L (a . b), the product taken on the way in.
  void apply_product(std::span<const float> a, std::span<const float> b,
                     std::span<float> out) const;

 private:
  void run(std::span<const float> a, std::span<const float> b, std::span<float> out) const;

  Index in_dim_, out_dim_, length_;
  float scale_;
  std::vector<std::uint8_t> flips_;  // 128: minus
  // The sample in one of these; in none: out_dim / length whole copies, in order.
  std::vector<std::uint16_t> short_sample_;  // positions, where 16 bits can count them
  std::vector<std::int32_t> sample_;         // of longer rows
};

}  // namespace kerf::detail
