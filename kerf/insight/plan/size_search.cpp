// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/plan/size_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/insight/measure/interval.h"

namespace kerf::detail {
namespace {

constexpr double kConfidence = 0.975;  // of one more value; one-sided
constexpr double kWindow = 5;          // sizes within this factor make the line
constexpr double kLevel = 0.01;        // a fall by less, for twice the features, is none
constexpr std::size_t kSure = 2;       // rounds of values before that is believed
constexpr std::size_t kJudged = 4;     // sizes before a search is given up early
constexpr int kConfirmations = 4, kMeasurements = 40;
constexpr double kTheorySlope = 0.5;
constexpr double kNoMap = 1e9;  // features that no map has

using Sizes = std::vector<SizeSearchResult::Size>;

/// log v = a - b log m, or v = a - b log m (`plain`), with what one more value may differ from it
/// by.
class Line {
 public:
  /// Through the sizes between `least` and `largest` features.
  Line(const Sizes& sizes, double least, double largest, bool plain) : plain_(plain) {
    for (const auto& size : sizes) {
      const auto m = static_cast<double>(size.features);
      if (m < least || m > largest) continue;
      ++distinct_;
      for (const double v : size.values) {
        x_.push_back(std::log(m));
        y_.push_back(plain ? v : std::log(std::max(v, 1e-300)));
      }
    }
    const auto n = static_cast<double>(x_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) mean_x_ += x_[i] / n, mean_y_ += y_[i] / n;
    double sxy = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      sxx_ += (x_[i] - mean_x_) * (x_[i] - mean_x_);
      sxy += (x_[i] - mean_x_) * (y_[i] - mean_y_);
    }
    if (distinct_ > 1) slope_ = -sxy / sxx_;
    double squares = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double residual = y_[i] - (mean_y_ - slope_ * (x_[i] - mean_x_));
      squares += residual * residual;
    }
    const double degrees = n - (distinct_ > 1 ? 2 : 1);
    if (degrees >= 1) {
      sd_ = std::sqrt(squares / degrees);
      quantile_ = student_quantile(kConfidence, degrees);
    }
  }

  /// b of v ~ m^-b at m.
  double exponent(double m) const {
    if (!plain_) return slope_;
    return mean(m) > 0 ? slope_ / mean(m) : 0;
  }
  double mean(double m) const { return value(height(m)); }
  /// What one more value at m stays below.
  double limit(double m) const {
    const double away = std::log(m) - mean_x_, n = static_cast<double>(x_.size());
    const double h = 1 / n + (sxx_ > 0 ? away * away / sxx_ : 0);
    return value(height(m) + quantile_ * sd_ * std::sqrt(1 + h));
  }
  /// The same at m features if values fell as steeply and spread as little as these few allow:
  /// slope and spread are off by two of their standard errors.
  double hopeful_limit(double m) const {
    Line better = *this;
    if (sxx_ > 0) better.slope_ += 2 * sd_ / std::sqrt(sxx_);
    better.sd_ *= std::max(0.0, 1 - 2 / std::sqrt(2 * static_cast<double>(x_.size())));
    return better.limit(m);
  }
  /// The least m in low .. high with limit(m) <= target, or infinite.
  double solve(double target, double low, double high) const {
    if (limit(low) <= target) return low;
    constexpr double kStep = 1.005;
    for (double m = low * kStep; m < high * kStep; m *= kStep)
      if (limit(m) <= target) return m;
    return std::numeric_limits<double>::infinity();
  }

 private:
  double height(double m) const { return mean_y_ - slope_ * (std::log(m) - mean_x_); }
  double value(double height) const { return plain_ ? height : std::exp(height); }

  bool plain_;
  std::vector<double> x_, y_;
  int distinct_ = 0;
  double mean_x_ = 0, mean_y_ = 0, sxx_ = 0, slope_ = 0, sd_ = 0, quantile_ = 0;
};

/// Maps of cosine and sine pairs need an even number.
Index rounded_up(double m) {
  const double step = m > 128 ? 8 : 2;
  return static_cast<Index>(std::ceil(m / step - 1e-9) * step);
}

class Search {
 public:
  explicit Search(const SizeSearch& search) : search_(search) {}

  SizeSearchResult run() {
    measure(search_.first);
    while (!result_.features && result_.reason.empty()) next();
    const Index answer = result_.features.value_or(last().features);
    result_.slope = line_at(answer).exponent(static_cast<double>(answer));
    for (auto& size : result_.sizes) {
      const auto m = static_cast<double>(size.features);
      size.limit = line_at(size.features).limit(m);
    }
    return std::move(result_);
  }

 private:
  const SizeSearchResult::Size& last() const { return result_.sizes.back(); }

  void measure(Index features) {
    ++measurements_;
    const auto at =
        std::ranges::lower_bound(result_.sizes, features, {}, &SizeSearchResult::Size::features);
    auto values = search_.measure(features);
    if (at != result_.sizes.end() && at->features == features)
      at->values.insert(at->values.end(), values.begin(), values.end());
    else
      result_.sizes.insert(at, {features, std::move(values), 0});
  }

  Line line_at(Index features) const {
    const auto m = static_cast<double>(features);
    return {result_.sizes, m / kWindow, m * kWindow, search_.may_level_off};
  }

  void next() {
    if (measurements_ >= kMeasurements) {
      result_.reason = "values differ too much from seed to seed: take more " + spell("seeds");
      return;
    }
    const auto m = static_cast<double>(last().features);
    const Line line = line_at(last().features);
    if (result_.sizes.size() == 1 && line.limit(m) <= search_.target) {
      result_.features = last().features;
      result_.reason = "the smallest number of features tried";
      return;
    }
    if (result_.sizes.size() >= 2) {
      const double low = std::max(m / 4, static_cast<double>(search_.first));
      const double found =
          line.solve(search_.target, low, std::min(2 * m, static_cast<double>(search_.most)));
      if (std::isfinite(found)) return confirm(rounded_up(found));
    }
    if (search_.may_level_off && result_.sizes.size() >= kJudged &&
        line.hopeful_limit(static_cast<double>(search_.most)) > search_.target) {
      // It can only fall less and less: larger sizes, the costly ones, need not be measured.
      result_.reason = where_it_stands(fmt::format(
          "the error falls too slowly to meet the target with {} features, the most to be "
          "measured; with {}",
          search_.most, last().features));
      return;
    }
    if (levelled_off()) {
      // Few values may seem level by chance: look again before giving up.
      if (last().values.size() < kSure * result_.sizes.front().values.size()) {
        const Index half = half_of(last())->features;
        measure(last().features);
        return measure(half);
      }
      result_.reason = where_it_stands(
          fmt::format("the error no longer falls with more than {} features", last().features));
      return;
    }
    const Index larger = std::min(2 * last().features, search_.most / 2 * 2);
    if (larger > last().features)
      measure(larger);
    else
      extrapolate();
  }

  /// Measures where the line says that the target is met, and moves on if it is not.
  void confirm(Index features) {
    for (int round = 0; round < kConfirmations; ++round) {
      measure(features);
      const Line line = line_at(features);
      const auto m = static_cast<double>(features);
      const double found = line.solve(search_.target, m, 2 * m);
      if (found <= m * 1.02) {
        result_.features = std::max(features, rounded_up(found));
        result_.reason = "measured there: another map stays below the target with 97.5 %";
        return;
      }
      if (!std::isfinite(found) || found > static_cast<double>(search_.most)) return;
      features = rounded_up(found);
    }
    result_.features = features;
    result_.reason = "drawn from the sizes around it";
  }

  /// What was reached, for a search that ends without an answer.
  std::string where_it_stands(const std::string& why) const {
    const auto m = static_cast<double>(last().features);
    const Line line = line_at(last().features);
    if (line.mean(m) > search_.target) return fmt::format("{}: {:.3g}", why, line.mean(m));
    return fmt::format(
        "{}: {:.3g} on average, which meets the target, but another map may have up to {:.3g} "
        "(97.5 %)",
        why, line.mean(m), line.limit(m));
  }

  /// Twice as many features brought less than 1 %, two times in a row.
  bool levelled_off() const {
    if (!search_.may_level_off) return false;
    const SizeSearchResult::Size* half = half_of(last());
    const SizeSearchResult::Size* quarter = half != nullptr ? half_of(*half) : nullptr;
    if (quarter == nullptr) return false;
    const auto mean = [](const SizeSearchResult::Size& size) {
      return interval_of(size.values).mean;
    };
    return mean(last()) >= (1 - kLevel) * mean(*half) &&
           mean(*half) >= (1 - kLevel) * mean(*quarter);
  }

  /// The largest size of at most half the features, or null.
  const SizeSearchResult::Size* half_of(const SizeSearchResult::Size& size) const {
    const SizeSearchResult::Size* found = nullptr;
    for (const auto& other : result_.sizes)
      if (2 * other.features <= size.features) found = &other;
    return found;
  }

  void extrapolate() {
    const auto m = static_cast<double>(last().features);
    const Line line = line_at(last().features);
    const double slope = std::min(line.exponent(m), kTheorySlope);
    if (search_.may_level_off || !(slope > 0.05)) {
      result_.reason = where_it_stands(
          fmt::format("not reached with {} features, the most to be measured", last().features));
      return;
    }
    const double needed = std::max(m, m * std::pow(line.limit(m) / search_.target, 1 / slope));
    if (!(needed < kNoMap) || (search_.possible && !search_.possible(rounded_up(needed)))) {
      result_.reason =
          fmt::format("it would take about {:.1g} features, more than the map can have", needed);
      return;
    }
    result_.extrapolated = true;
    result_.features = rounded_up(needed);
    result_.reason =
        fmt::format("extrapolated from {} features with error ~ m^-{:.2g}", last().features, slope);
  }

  const SizeSearch& search_;
  SizeSearchResult result_;
  int measurements_ = 0;
};

}  // namespace

SizeSearchResult search_size(const SizeSearch& search) {
  KERF_REQUIRE(search.target > 0, usage, "a target of {} cannot be met: it must be positive",
               search.target);
  KERF_REQUIRE(search.first <= search.most, usage,
               "the map needs at least {} features, but {} allows {}", search.first, spell("most"),
               search.most);
  return Search(search).run();
}

}  // namespace kerf::detail
