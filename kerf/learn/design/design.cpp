// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/design/design.h"

#include <algorithm>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/row_products.h"

namespace kerf::detail {
namespace {

constexpr Index kPiece = 256;  // rows a thread takes at a time

void check_budget(Index rows, Index budget) {
  KERF_REQUIRE(budget >= 1 && budget <= rows, usage, "a budget of {} of {} rows", budget, rows);
}

/// tr K / n.
double mean_square(MatrixView<const float> z) {
  double sum = 0;
  for (Index i = 0; i < z.rows; ++i)
    for (const float value : z.row(i)) sum += double{value} * value;
  return sum / static_cast<double>(z.rows);
}

}  // namespace

Design random_design(Index rows, Index budget, rng::Key key) {
  check_budget(rows, budget);
  std::vector<std::pair<double, Index>> order;
  for (Index i = 0; i < rows; ++i)
    order.emplace_back(rng::uniform(key, static_cast<std::uint64_t>(i)), i);
  std::ranges::sort(order);
  Design design;
  for (Index i = 0; i < budget; ++i) design.rows.push_back(order[i].second);
  return design;
}

Design kmeans_design(MatrixView<const float> z, Index budget, rng::Key key,
                     const Progress& progress) {
  check_budget(z.rows, budget);
  std::vector<double> square(z.rows),
      nearest(square.size(), std::numeric_limits<double>::infinity());
  // The same function for lengths and products: the distance of copies is exactly 0.
  std::vector<double> centre(z.cols);
  for (Index i = 0; i < z.rows; ++i) {
    std::ranges::copy(z.row(i), centre.begin());
    square[i] = two_dots(z.row(i), centre, centre).first;
  }
  Design design;
  auto next = static_cast<Index>(rng::below(key, 0, static_cast<std::uint64_t>(z.rows)));
  for (Index step = 0; step < budget; ++step) {
    report(progress, "selecting", step, budget, "rows selected");
    design.rows.push_back(next);
    std::ranges::copy(z.row(next), centre.begin());
    const double centre_square = square[next];
    parallel_for(z.rows, kPiece, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double product = two_dots(z.row(i), centre, centre).first;
        nearest[at] =
            std::min(nearest[at], std::max(0.0, square[at] + centre_square - 2 * product));
      }
    });
    for (const Index row : design.rows) nearest[row] = 0;
    double total = 0;
    for (const double d : nearest) total += d;
    double target = total * rng::uniform(key, static_cast<std::uint64_t>(step) + 1);
    // Where all rows left coincide with chosen ones, the first that is not chosen.
    next = -1;
    for (Index i = 0; i < z.rows && (next < 0 || target >= 0); ++i) {
      const double d = nearest[i];
      const bool is_free =
          d > 0 || (total == 0 && std::ranges::find(design.rows, i) == design.rows.end());
      if (!is_free) continue;
      next = i;
      target -= d;
      if (target < 0 || total == 0) break;
    }
    if (next < 0) break;
  }
  return design;
}

Design select_rows(DesignMethod method, MatrixView<const float> z, Index budget,
                   std::optional<double> lambda, rng::Key key, const Progress& progress) {
  switch (method) {
    case DesignMethod::random:
      return random_design(z.rows, budget, key);
    case DesignMethod::kmeans:
      return kmeans_design(z, budget, key, progress);
    case DesignMethod::greedy:
      break;
  }
  double c = kAutomaticRidge * mean_square(z);
  if (lambda)
    c = *lambda * static_cast<double>(budget);
  else if (!(c > 0))
    c = 1;  // all features are 0, and any will do
  return greedy_design(z, budget, c, progress);
}

}  // namespace kerf::detail
