// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/design/chosen_span.h"
#include "kerf/learn/design/design.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/row_products.h"

namespace kerf::detail {
namespace {

constexpr Index kPiece = 256;     // rows a thread takes at a time
constexpr Index kBlock = 1024;    // rows summed at a time
constexpr Index kTile = 256;      // columns multiplied at a time
constexpr Index kMostSteps = 32;  // between two looks at all rows

constexpr double kTie = 1e-8;          // gains that differ by less, relatively, are equal
constexpr double kRounding = 1e-15;    // of a and b by updates, relative to where they started
constexpr double kNothing = 1e-15;     // of tr K: gains below it are rounding
constexpr double kLeastRidge = 1e-12;  // of the largest z_j^T z_j: smaller c are rounding beside it

/// Rows begin .. end - 1 of z in the first columns of `out`, zeros in the others.
void widen(MatrixView<const float> z, Index begin, Index end, Index cols, Matrix<double>& out) {
  out.resize(end - begin, cols);
  for (Index i = begin; i < end; ++i) {
    const auto row = out.row(i - begin);
    std::ranges::fill(std::ranges::copy(z.row(i), row.begin()).out, row.end(), 0.0);
  }
}

/// G = Z^T Z, in double: it is multiplied with vectors that are small where it is large.
Matrix<double> feature_sums(MatrixView<const float> z, const Progress& progress) {
  const Index m = z.cols;
  Matrix<double> gram(m, m), block;
  gram.fill(0);
  for (Index begin = 0; begin < z.rows; begin += kBlock) {
    report(progress, "sums", begin, z.rows);
    widen(z, begin, std::min(begin + kBlock, z.rows), m, block);
    parallel_for(m, kTile, [&](Index first, Index last) {
      const Index rows = block.rows();
      blas::gemm(true, false, 1.0, {block.data(), rows, last, m},
                 {block.data() + first, rows, last - first, m}, 1.0,
                 {gram.data() + first, last, last - first, m});
    });
  }
  for (Index i = 0; i < m; ++i)  // only blocks on and above the diagonal were summed
    for (Index j = 0; j < i; ++j) gram(i, j) = gram(j, i);
  return gram;
}

/// v_i^T G v_i for the first G.cols() numbers of each row of v, by the blocks of G on and above its
/// diagonal: half of the work of a product with G.
std::vector<double> quadratic_forms(const Matrix<double>& v, const Matrix<double>& gram) {
  const Index m = gram.cols();
  std::vector<double> forms(v.rows(), 0.0);
  Matrix<double> product;
  const auto add = [&](Index row, Index rows, Index j, Index width, double factor) {
    if (rows == 0) return;
    product.resize(v.rows(), width);
    blas::gemm(false, false, 1.0, {v.data() + row, v.rows(), rows, v.cols()},
               {gram.data() + row * m + j, rows, width, m}, 0.0, product.view());
    for (Index i = 0; i < v.rows(); ++i)
      forms[i] += factor * dot(v.row(i).subspan(j, product.row(i).size()), product.row(i));
  };
  for (Index j = 0; j < m; j += kTile) {
    const Index width = std::min(kTile, m - j);
    add(0, j, j, width, 2);
    add(j, width, j, width, 1);
  }
  for (double& form : forms) form = std::max(form, 0.0);
  return forms;
}

/// One row taken: u = M z, w = C z, and what its gain is made of.
struct Step {
  std::vector<double> u, w;
  double s = 0, b = 0;

  double gain() const { return b / s; }
  /// What it does to a row's a and b, given p = <z, u> and r = <z, w>.
  void update(double p, double r, double& a, double& b_of_row) const {
    a = std::max(a - p * p / s, 0.0);
    b_of_row = std::max(b_of_row + (b * p / s - 2 * r) * p / s, 0.0);
  }
};

/// The first of `count` whose gain is as good as the largest; gain_at: below 0 for what is not free.
template <class GainAt>
std::size_t first_best(std::size_t count, GainAt gain_at) {
  double best = -1;
  for (std::size_t k = 0; k < count; ++k) best = std::max(best, gain_at(k));
  for (std::size_t k = 0; k < count && best >= 0; ++k)
    if (gain_at(k) >= (1 - kTie) * best) return k;
  return count;
}

/// Steps are first taken among the rows of the largest gains, the candidates.  Then one product of
/// all rows with the vectors of these steps shows what the gain of every row was at every step, and
/// steps from the first one on at which another row should have been taken are taken back.
class Greedy {
 public:
  Greedy(MatrixView<const float> z, Index budget, double c, const Progress& progress);

  double total() const { return total_; }
  const std::vector<Index>& rows() const { return rows_; }
  const std::vector<double>& gains() const { return gains_; }

  /// At least one more row, at most `steps`; false if no row is worth more than rounding.
  bool advance(Index steps, Index candidates);

 private:
  using Rows = std::vector<std::size_t>;

  /// a and b of every row, from its features alone.
  void measure();
  /// Those of the largest gains, in order, the one to be taken first among them.
  Rows best_rows(Index count) const;
  void try_steps(Index steps, const Rows& candidates);
  void take(std::size_t row);
  /// products_: all rows times u and w of the steps tried, u and w in turn.
  void multiply_all();
  /// f(row, step, a, b) for every row and every step tried, as long as the row was free.
  template <class F>
  void replay(F f) const;
  /// The first step at which another row should have been taken, or that rounding leaves open.
  std::size_t first_wrong_step() const;
  /// Takes the other steps back.
  void keep(std::size_t steps);

  double gain_of(double a, double b) const { return b / (a + c_); }
  double free_gain(std::size_t row) const {
    return is_free(row) ? gain_of(a_[row], b_[row]) : -1.0;
  }
  bool is_free(std::size_t row) const { return chosen_at_[row] >= std::ssize(rows_); }
  /// Updates leave an error in a and b that is a part of where they began.
  bool is_open(std::size_t row, double a, double b, double best) const {
    return kRounding * (b_then_[row] + a_then_[row] * gain_of(a, b)) / (a + c_) > kTie * best;
  }

  MatrixView<const float> z_;
  const Progress& progress_;
  Matrix<double> gram_;
  double c_ = 0, total_ = 0;
  std::optional<ChosenSpan> span_;
  std::vector<double> a_, b_, a_then_, b_then_;  // then: when they were measured
  std::vector<Index> rows_, chosen_at_;          // the step at which a row was chosen
  std::vector<double> gains_;
  std::vector<Step> tried_;  // the last of rows_
  Matrix<double> products_;
};

Greedy::Greedy(MatrixView<const float> z, Index budget, double c, const Progress& progress)
    : z_(z), progress_(progress), gram_(feature_sums(z, progress)) {
  double largest = 0;
  for (Index i = 0; i < z.rows; ++i) {
    double square = 0;
    for (const float value : z.row(i)) square += double{value} * value;
    largest = std::max(largest, square);
    total_ += square;
  }
  c_ = std::max(c, kLeastRidge * largest);
  a_.resize(z.rows);
  b_.resize(a_.size());
  chosen_at_.assign(a_.size(), std::numeric_limits<Index>::max());
  span_.emplace(z.cols, budget, c_);
  measure();
}

void Greedy::measure() {
  for (Index begin = 0; begin < z_.rows; begin += 16 * kPiece) {
    report(progress_, "scores", begin, z_.rows);
    parallel_for(std::min(16 * kPiece, z_.rows - begin), kPiece, [&](Index first, Index last) {
      Matrix<double> v;
      widen(z_, begin + first, begin + last, span_->length(), v);
      span_->project_rows(v.view());
      const auto forms = quadratic_forms(v, gram_);
      for (Index i = 0; i < v.rows(); ++i) {
        const auto row = static_cast<std::size_t>(begin + first + i);
        a_[row] = dot(v.row(i), v.row(i));
        b_[row] = forms[i];
      }
    });
  }
  a_then_ = a_;
  b_then_ = b_;
}

bool Greedy::advance(Index steps, Index candidates) {
  const auto first = [this] {
    return first_best(a_.size(), [this](std::size_t row) { return free_gain(row); });
  };
  if (first() == a_.size()) return false;
  const double best = free_gain(first());
  bool open = false;
  for (std::size_t row = 0; row < a_.size(); ++row)
    open = open || (is_free(row) && is_open(row, a_[row], b_[row], best));
  if (open) measure();
  if (free_gain(first()) <= kNothing * total_) return false;
  try_steps(steps, best_rows(candidates));
  multiply_all();
  keep(first_wrong_step());
  return true;
}

Greedy::Rows Greedy::best_rows(Index count) const {
  Rows rows;
  for (std::size_t row = 0; row < a_.size(); ++row)
    if (is_free(row)) rows.push_back(row);
  const auto gain = [this](std::size_t row) { return free_gain(row); };
  const std::size_t first =
      rows[first_best(rows.size(), [&](std::size_t k) { return gain(rows[k]); })];
  const auto end = rows.begin() + std::min<Index>(count, std::ssize(rows));
  std::ranges::nth_element(rows, end, std::greater(), gain);
  rows.erase(end, rows.end());
  if (std::ranges::find(rows, first) == rows.end()) rows.push_back(first);
  std::ranges::sort(rows);  // of equal gains the first row wins, here as among all
  return rows;
}

void Greedy::take(std::size_t row) {
  const auto m = static_cast<std::size_t>(z_.cols);
  std::vector<double> v(span_->length(), 0.0), w(v.size(), 0.0);
  std::ranges::copy(z_.row(static_cast<Index>(row)), v.begin());
  span_->project(v);
  const std::span<const double> u(v.data(), m);
  parallel_for(z_.cols, kTile, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) w[j] = dot(gram_.row(j), u);
  });
  const double b = std::max(dot(u, std::span(w).first(m)), 0.0);
  span_->project(w, 1);
  w.resize(m);
  tried_.push_back({{u.begin(), u.end()}, std::move(w), dot(v, v) + c_, b});
  span_->add(v);
  chosen_at_[row] = std::ssize(rows_);
  rows_.push_back(static_cast<Index>(row));
}

void Greedy::try_steps(Index steps, const Rows& candidates) {
  std::vector<double> a, b;
  for (const std::size_t row : candidates) a.push_back(a_[row]), b.push_back(b_[row]);
  const auto gain = [&](std::size_t k) {
    return is_free(candidates[k]) ? gain_of(a[k], b[k]) : -1.0;
  };
  for (Index t = 0; t < steps; ++t) {
    const std::size_t best = first_best(candidates.size(), gain);
    if (best == candidates.size() || (t > 0 && gain(best) <= kNothing * total_)) return;
    take(candidates[best]);
    const Step& step = tried_.back();
    parallel_for(std::ssize(candidates), 64, [&](Index begin, Index end) {
      for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
        const auto [p, r] = two_dots(z_.row(static_cast<Index>(candidates[k])), step.u, step.w);
        step.update(p, r, a[k], b[k]);
      }
    });
  }
}

void Greedy::multiply_all() {
  const Index count = 2 * std::ssize(tried_);
  Matrix<double> vectors(count, z_.cols);
  for (Index t = 0; t < count / 2; ++t) {
    std::ranges::copy(tried_[t].u, vectors.row(2 * t).begin());
    std::ranges::copy(tried_[t].w, vectors.row(2 * t + 1).begin());
  }
  products_.resize(z_.rows, count);
  parallel_for(z_.rows, kPiece, [&](Index begin, Index end) {
    Matrix<double> rows;
    widen(z_, begin, end, z_.cols, rows);
    blas::gemm(false, true, 1.0, rows.view(), vectors.view(), 0.0,
               products_.view().slice(begin, end));
  });
}

template <class F>
void Greedy::replay(F f) const {
  const Index before = std::ssize(rows_) - std::ssize(tried_);
  for (std::size_t row = 0; row < a_.size(); ++row) {
    const auto products = products_.row(static_cast<Index>(row));
    double a = a_[row], b = b_[row];
    for (std::size_t t = 0; t < tried_.size(); ++t) {
      if (chosen_at_[row] < before + static_cast<Index>(t)) break;
      f(row, t, a, b);
      tried_[t].update(products[2 * t], products[2 * t + 1], a, b);
    }
  }
}

std::size_t Greedy::first_wrong_step() const {
  const std::size_t steps = tried_.size(), before = rows_.size() - steps;
  std::vector<double> best(steps, 0.0);
  replay([&](std::size_t, std::size_t t, double a, double b) {
    best[t] = std::max(best[t], gain_of(a, b));
  });
  std::size_t wrong = steps;
  Rows first(steps, a_.size());
  replay([&](std::size_t row, std::size_t t, double a, double b) {
    if (gain_of(a, b) >= (1 - kTie) * best[t]) first[t] = std::min(first[t], row);
    if (t > 0 && is_open(row, a, b, best[t])) wrong = std::min(wrong, t);
  });
  for (std::size_t t = 1; t < wrong; ++t)
    if (static_cast<Index>(first[t]) != rows_[before + t]) wrong = t;
  return wrong;
}

void Greedy::keep(std::size_t steps) {
  const std::size_t before = rows_.size() - tried_.size();
  for (std::size_t t = before + steps; t < rows_.size(); ++t)
    chosen_at_[rows_[t]] = std::numeric_limits<Index>::max();
  rows_.resize(before + steps);
  span_->keep(std::ssize(rows_));
  tried_.resize(steps);
  for (const Step& step : tried_) gains_.push_back(step.gain());
  for (std::size_t row = 0; row < a_.size(); ++row)
    for (std::size_t t = 0; t < steps; ++t) {
      const auto products = products_.row(static_cast<Index>(row));
      tried_[t].update(products[2 * t], products[2 * t + 1], a_[row], b_[row]);
    }
  tried_.clear();
}

}  // namespace

Design greedy_design(MatrixView<const float> z, Index budget, double c, const Progress& progress,
                     Index candidates) {
  KERF_REQUIRE(budget >= 1 && budget <= z.rows, usage, "a budget of {} of {} rows", budget, z.rows);
  KERF_REQUIRE(c > 0 && std::isfinite(c), usage, "the ridge must be positive, not {}", c);
  KERF_REQUIRE(candidates >= 1, usage, "{} candidates", candidates);
  Greedy greedy(z, budget, c, progress);
  for (Index steps = 1, done = 0; done < budget;) {
    report(progress, "selecting", done, budget, "rows selected");
    if (!greedy.advance(std::min(steps, budget - done), candidates)) break;
    const Index held = std::ssize(greedy.rows()) - done;
    steps = held == steps ? std::min(2 * steps, kMostSteps) : std::max<Index>(held, 1);
    done += held;
  }
  Design design{greedy.rows(), greedy.gains(), greedy.total(), c};
  // All that is left to explain is rounding: the other rows gain nothing.
  std::vector<bool> chosen(z.rows, false);
  for (const Index row : design.rows) chosen[row] = true;
  for (Index row = 0; std::ssize(design.rows) < budget; ++row)
    if (!chosen[row]) design.rows.push_back(row);
  design.gains.resize(design.rows.size(), 0.0);
  return design;
}

Index design_bytes(Index rows, Index features, Index budget) {
  const Index sums = 8 * std::min(rows, kBlock) * features;
  // What a thread holds of its rows: vectors, products with those chosen, products with G.
  const Index measure = 8 * kPiece * (features + 2 * budget + kTile) * threads();
  const Index steps = 32 * kMostSteps * features + 16 * kMostSteps * rows;
  return 4 * rows * features + 8 * features * features + 8 * budget * (features + budget) +
         48 * rows + std::max(sums, measure + steps);
}

}  // namespace kerf::detail
