// Charts of a page (html.h).
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kerf/insight/pages/html.h"

namespace kerf::detail::html {
namespace {

constexpr const char* kColours[] = {"var(--accent)", "var(--second)", "var(--third)",
                                    "var(--fourth)", "var(--fifth)",  "var(--sixth)"};
constexpr std::size_t kListed = 400;  // points up to which the numbers are listed
constexpr double kWidth = 640, kHeight = 340, kRight = 16, kTop = 14, kBottom = 62;
constexpr double kLetter = 12.5;  // a digit at the size of a telephone, where text is largest

constexpr double kRounding = 1e-12;  // relative: less than what numbers of a chart are computed to
constexpr int kMostTicks = 10;

/// Where data coordinates lie on the paper.
class Scale {
 public:
  Scale(double low, double high, bool log, double from, double to)
      : log_(log),
        low_(log ? std::log10(low) : low),
        high_(log ? std::log10(high) : high),
        from_(from),
        to_(to) {
    // One value, or a few that differ by rounding only.
    const double size = std::max(std::abs(low_), std::abs(high_));
    if (!(high_ - low_ > kRounding * size)) {
      const double half = std::max(0.5, 1e-3 * size);
      low_ -= half;
      high_ += half;
    }
    const double room = 0.04 * (high_ - low_);
    low_ -= room;
    high_ += room;
  }

  double operator()(double value) const {
    const double v = log_ ? std::log10(value) : value;
    return from_ + (v - low_) / (high_ - low_) * (to_ - from_);
  }

  /// About five round values in sight.
  std::vector<double> ticks() const {
    std::vector<double> out;
    if (log_ && high_ - low_ > 0.6) {
      const bool fine = high_ - low_ <= 3;  // 1, 2, 5 of each decade
      const double step = fine ? 1 : std::ceil((high_ - low_) / 7);
      for (double e = std::floor(low_); e <= high_; e += step)
        for (const double digit : {1.0, 2.0, 5.0}) {
          const double at = e + std::log10(digit);
          if ((fine || digit == 1) && at >= low_ && at <= high_) out.push_back(std::pow(10, at));
        }
      return out;
    }
    const double low = log_ ? std::pow(10, low_) : low_, high = log_ ? std::pow(10, high_) : high_;
    const double raw = (high - low) / 5, power = std::pow(10, std::floor(std::log10(raw)));
    const double step = power * (raw / power > 5   ? 10
                                 : raw / power > 2 ? 5
                                 : raw / power > 1 ? 2
                                                   : 1);
    // Multiples, not sums, and so many at most: where steps are below rounding a sum would stay.
    const double first = std::ceil(low / step);
    for (int k = 0; k <= kMostTicks && (first + k) * step <= high; ++k)
      out.push_back((first + k) * step);  // + 0 makes -0 plain
    return out;
  }

 private:
  bool log_;
  double low_, high_, from_, to_;
};

struct Bounds {
  double low = INFINITY, high = -INFINITY;
  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

bool shown(const Point& p, const Axis& x) {
  return std::isfinite(p.x) && std::isfinite(p.y) && (!x.log || p.x > 0);
}

bool has_bar(const Point& p) { return p.high > p.low; }

/// An error of 0 is the best of all, and has no place on a logarithmic axis.
bool all_positive(const std::vector<Series>& series) {
  for (const Series& s : series)
    for (const Point& p : s.points)
      if (!(p.y > 0) || (has_bar(p) && !(p.low > 0))) return false;
  return true;
}

/// A number in few characters.
std::string tick(double value) {
  return std::abs(value) >= 1e5 ? fmt::format("{:.0e}", value) : fmt::format("{:.5g}", value);
}

/// Room for the longest number at the left.
double left_of(const Scale& to_y) {
  std::size_t longest = 2;
  for (const double v : to_y.ticks()) longest = std::max(longest, tick(v).size());
  return kLetter * static_cast<double>(longest) + 12;
}

/// The x axis: a line for each tick, and its number where that neither leaves the paper nor meets the
/// one before.
std::string x_axis(const Scale& to_x, double left, const std::string& label) {
  std::string out;
  double taken = 0;
  for (const double v : to_x.ticks()) {
    const double half = kLetter * static_cast<double>(tick(v).size()) / 2;
    const double at = std::clamp(to_x(v), half, kWidth - half);
    out += fmt::format(
        R"svg(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="var(--line)"/>)svg",
        to_x(v), kTop, kHeight - kBottom);
    if (at - half < taken) continue;
    taken = at + half + kLetter / 2;
    out += fmt::format(R"svg(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)svg", at,
                       kHeight - kBottom + 22, tick(v));
  }
  return out + fmt::format(R"svg(<text x="{:.0f}" y="{:.0f}" text-anchor="middle">{}</text>)svg",
                           (left + kWidth - kRight) / 2, kHeight - 8, escape(label));
}

std::string y_axis(const Scale& to_y, double left) {
  std::string out;
  for (const double v : to_y.ticks())
    out += fmt::format(
        R"svg(<line x1="{1:.1f}" x2="{2}" y1="{0:.1f}" y2="{0:.1f}" stroke="var(--line)"/><text x="{3:.1f}" y="{4:.1f}" text-anchor="end">{5}</text>)svg",
        to_y(v), left, kWidth - kRight, left - 8, to_y(v) + 4, tick(v));
  return out;
}

/// Colours first, then the same colours with dashes; theory is grey.
std::string stroke(std::size_t i, bool theory) {
  if (theory)
    return fmt::format(R"svg(stroke="var(--soft)" stroke-width="2" stroke-dasharray="{}")svg",
                       i % 2 == 0 ? "2 5" : "12 4");
  return fmt::format(R"svg(stroke="{}" stroke-width="2"{})svg", kColours[i % std::size(kColours)],
                     i >= std::size(kColours) ? R"svg( stroke-dasharray="9 4")svg" : "");
}

std::string tooltip(const Series& series, const Point& p, const Axis& x, const Axis& y) {
  std::string text = series.name.empty() ? "" : series.name + ": ";
  if (!p.label.empty()) text += p.label + ": ";
  text += fmt::format("{} {}, {} {}", x.label, number(p.x), y.label, number(p.y));
  if (has_bar(p)) text += fmt::format(" ({} to {})", number(p.low), number(p.high));
  return escape(text);
}

std::string marks(const Series& series, std::size_t index, const Scale& to_x, const Scale& to_y,
                  const Axis& x, const Axis& y) {
  const char* colour = kColours[index % std::size(kColours)];
  std::string path, dots, bars;
  for (const Point& p : series.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", to_x(p.x), to_y(p.y));
    if (series.theory) continue;
    if (has_bar(p))
      bars += fmt::format(
          R"svg(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" stroke="{3}" stroke-opacity="0.5" stroke-width="3"/>)svg",
          to_x(p.x), to_y(p.low), to_y(p.high), colour);
    dots += fmt::format(
        R"svg(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"{}><title>{}</title></circle>)svg",
        to_x(p.x), to_y(p.y),
        p.marked      ? 7
        : series.line ? 4
                      : 3,
        colour, series.line || p.marked ? "" : R"svg( fill-opacity="0.55")svg",
        tooltip(series, p, x, y));
  }
  if ((series.line || series.theory) && series.points.size() > 1)
    path =
        fmt::format(R"svg(<path d="{}" fill="none" {}/>)svg", path, stroke(index, series.theory));
  else
    path.clear();
  return path + bars + dots;
}

std::string legend(const std::vector<Series>& series) {
  std::string items;
  for (std::size_t i = 0; i < series.size(); ++i)
    if (!series[i].name.empty() && !series[i].points.empty())
      items += fmt::format(
          R"svg(<li><svg viewBox="0 0 28 8" aria-hidden="true">{}</svg>{}</li>)svg",
          series[i].line || series[i].theory
              ? fmt::format(R"svg(<path d="M1 4H27" {}/>)svg", stroke(i, series[i].theory))
              : fmt::format(R"svg(<circle cx="14" cy="4" r="3.5" fill="{}"/>)svg",
                            kColours[i % std::size(kColours)]),
          escape(series[i].name));
  return items.empty() ? "" : fmt::format(R"svg(<ul class="legend">{}</ul>)svg", items);
}

std::string numbers_of(const std::vector<Series>& series, const Axis& x, const Axis& y) {
  std::vector<std::vector<std::string>> rows;
  bool named = false;
  for (const Series& s : series) named |= !s.name.empty();
  for (const Series& s : series)
    for (const Point& p : s.theory ? std::vector<Point>{} : s.points) {
      std::vector<std::string> row;
      if (named) row.push_back(p.label.empty() ? s.name : s.name + ": " + p.label);
      row.push_back(number(p.x));
      row.push_back(number(p.y));
      rows.push_back(std::move(row));
    }
  if (rows.size() > kListed || rows.empty()) return "";
  std::vector<std::string> head = {x.label, y.label};
  if (named) head.insert(head.begin(), "series");
  return fmt::format("<details><summary>The numbers of this chart</summary>{}</details>",
                     table(head, rows));
}

std::string figure(const std::string& svg, const std::string& caption, const std::string& below,
                   const char* kind) {
  return fmt::format("<figure{}>{}{}<figcaption>{}</figcaption></figure>\n", kind, svg, below,
                     escape(caption));
}

}  // namespace

Series inverse_root_line(const std::vector<Point>& points) {
  Series line{"falls as 1/sqrt(features)", {}, true, true};
  double offset = 0, count = 0, low = INFINITY, high = 0;
  for (const Point& p : points)
    if (std::isfinite(p.y) && p.y > 0) {
      offset += std::log(p.y) + std::log(p.x) / 2;
      ++count;
      low = std::min(low, p.x);
      high = std::max(high, p.x);
    }
  constexpr int kSteps = 24;  // a curve on axes that are not logarithmic
  for (int i = 0; count > 1 && i <= kSteps; ++i) {
    const double x = low * std::pow(high / low, static_cast<double>(i) / kSteps);
    line.points.push_back({x, std::exp(offset / count - std::log(x) / 2)});
  }
  return line;
}

std::string chart(const std::string& caption, const Axis& x, const Axis& y_asked,
                  std::vector<Series> series, bool diagonal) {
  Bounds in_x, in_y;
  for (Series& s : series) std::erase_if(s.points, [&](const Point& p) { return !shown(p, x); });
  const Axis y{y_asked.label, y_asked.log && all_positive(series)};
  for (Series& s : series) {
    if (s.line) std::ranges::sort(s.points, {}, &Point::x);
    for (const Point& p : s.points) {
      in_x.add(p.x);
      in_y.add(p.y);
      if (has_bar(p)) {
        in_y.add(p.low);
        in_y.add(p.high);
      }
      if (diagonal) {
        in_x.add(p.y);
        in_y.add(p.x);
      }
    }
  }
  if (!std::isfinite(in_x.low)) return "";
  const Scale to_y(in_y.low, in_y.high, y.log, kHeight - kBottom, kTop);
  const double left = left_of(to_y);
  const Scale to_x(in_x.low, in_x.high, x.log, left, kWidth - kRight);
  std::string body = x_axis(to_x, left, x.label) + y_axis(to_y, left);
  if (diagonal)
    body += fmt::format(
        R"svg(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="var(--soft)" stroke-dasharray="4 4"/>)svg",
        to_x(in_x.low), to_y(in_x.low), to_x(in_x.high), to_y(in_x.high));
  for (std::size_t i = 0; i < series.size(); ++i) body += marks(series[i], i, to_x, to_y, x, y);
  const std::string svg = fmt::format(
      R"svg(<svg viewBox="0 0 {} {}" width="{}" role="application" aria-roledescription="chart" tabindex="0" aria-label="{}. Arrow keys read the points."><g aria-hidden="true">{}</g></svg>)svg",
      kWidth, kHeight, kWidth, escape(caption), body);
  // Above the paper, where a long one has room: along the axis it would not fit a telephone.
  const std::string up = fmt::format("<div class=\"up\">\u2191 {}</div>", escape(y.label));
  return figure(up + svg, caption,
                R"svg(<output class="tip" aria-live="polite"></output>)svg" + legend(series),
                R"svg( class="chart")svg") +
         numbers_of(series, x, y);
}

std::string bars(const std::string& caption,
                 const std::vector<std::pair<std::string, double>>& values, std::size_t marked) {
  double most = 0;
  for (const auto& [label, value] : values) most = std::max(most, value);
  std::string body, read = caption;  // aloud, where it cannot be seen
  for (std::size_t i = 0; i < values.size(); ++i) {
    read += fmt::format("{} {} {}", i == 0 ? ":" : ",", values[i].first, number(values[i].second));
    body += fmt::format(
        R"svg(<span>{}</span><div{}><div style="width:{:.1f}%"></div></div><span>{}</span>)svg",
        escape(values[i].first), i == marked ? " class=\"marked\"" : "",
        most > 0 ? 100 * values[i].second / most : 0, number(values[i].second));
  }
  return figure(fmt::format(R"svg(<div class="bars" role="img" aria-label="{}">{}</div>)svg",
                            escape(read), body),
                caption, "", "");
}

}  // namespace kerf::detail::html
