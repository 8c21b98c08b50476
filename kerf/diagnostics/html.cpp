// SPDX-License-Identifier: Apache-2.0
#include "kerf/diagnostics/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kerf::html {
namespace {

constexpr const char* kStyle = R"svg(
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;--paper:#fff;--panel:#f6f8fa;--accent:#0969da;--second:#bf5700;--third:#1a7f37}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--line:#30363d;--paper:#0d1117;--panel:#161b22;--accent:#4493f8;--second:#f0883e;--third:#3fb950}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}
.headline{font-size:1.15rem;color:var(--soft);margin:0 0 1.2rem}.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:.6rem;margin:0}
.facts .wide{grid-column:1/-1}.facts div{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.5rem .7rem;overflow-wrap:anywhere}dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-weight:600}
figure{margin:0 0 1rem}figcaption{color:var(--soft);font-size:.9rem;margin-top:.3rem}svg{max-width:100%;height:auto;display:block}svg text{fill:var(--soft);font-size:12px}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}td.n{text-align:right;font-variant-numeric:tabular-nums}
th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.heat td{text-align:center;min-width:2.4rem;border:1px solid var(--line)}.heat th{text-align:right;border:0}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.7rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
.pictures{display:flex;flex-wrap:wrap;gap:1rem}.pictures figure{width:7rem;margin:0}.pictures svg{width:7rem;image-rendering:pixelated}
@media print{main{max-width:none}h2{break-after:avoid}figure,table{break-inside:avoid}}
)svg";

constexpr const char* kScript = R"svg(
for(const b of document.querySelectorAll('th button'))b.onclick=()=>{const t=b.closest('table'),i=[...b.closest('tr').children].indexOf(b.parentNode),
down=b.parentNode.ariaSort==='ascending';for(const h of t.querySelectorAll('th'))h.ariaSort=null;b.parentNode.ariaSort=down?'descending':'ascending';
const v=r=>{const s=r.children[i].textContent,n=parseFloat(s.replaceAll(',',''));return isNaN(n)?s:n};
const rows=[...t.tBodies[0].rows].sort((p,q)=>{const a=v(p),c=v(q);return(a<c?-1:a>c?1:0)*(down?-1:1)});t.tBodies[0].append(...rows)};
)svg";

constexpr const char* kColours[] = {"var(--accent)", "var(--second)", "var(--third)"};
constexpr std::size_t kLongValue = 40;  // characters that take a line of their own
constexpr double kWidth = 640, kHeight = 320, kLeft = 70, kRight = 16, kTop = 14, kBottom = 46;

/// Where data coordinates lie on the paper.
class Scale {
 public:
  Scale(double low, double high, bool log, double from, double to)
      : log_(log),
        low_(log ? std::log10(low) : low),
        high_(log ? std::log10(high) : high),
        from_(from),
        to_(to) {
    if (!(high_ > low_)) {  // one value, or none
      low_ -= 0.5;
      high_ += 0.5;
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
    if (log_ && high_ - low_ > 1.5) {
      const double step = std::ceil((high_ - low_) / 7);
      for (double e = std::ceil(low_); e <= high_; e += step) out.push_back(std::pow(10, e));
      return out;
    }
    const double low = log_ ? std::pow(10, low_) : low_, high = log_ ? std::pow(10, high_) : high_;
    const double raw = (high - low) / 5, power = std::pow(10, std::floor(std::log10(raw)));
    const double step = power * (raw / power > 5   ? 10
                                 : raw / power > 2 ? 5
                                 : raw / power > 1 ? 2
                                                   : 1);
    for (double v = std::ceil(low / step) * step; v <= high; v += step)
      out.push_back(std::abs(v) < step / 1e6 ? 0 : v);
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

bool shown(const Point& p, const Axis& x, const Axis& y) {
  return std::isfinite(p.x) && std::isfinite(p.y) && (!x.log || p.x > 0) && (!y.log || p.y > 0);
}

std::string axes(const Scale& to_x, const Scale& to_y, const Axis& x, const Axis& y) {
  std::string out;
  for (const double v : to_x.ticks())
    out += fmt::format(
        R"svg(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="var(--line)"/><text x="{0:.1f}" y="{3}" text-anchor="middle">{4}</text>)svg",
        to_x(v), kTop, kHeight - kBottom, kHeight - kBottom + 18, number(v));
  for (const double v : to_y.ticks())
    out += fmt::format(
        R"svg(<line x1="{1}" x2="{2}" y1="{0:.1f}" y2="{0:.1f}" stroke="var(--line)"/><text x="{3}" y="{4:.1f}" text-anchor="end">{5}</text>)svg",
        to_y(v), kLeft, kWidth - kRight, kLeft - 8, to_y(v) + 4, number(v));
  out += fmt::format(R"svg(<text x="{:.0f}" y="{:.0f}" text-anchor="middle">{}</text>)svg",
                     (kLeft + kWidth - kRight) / 2, kHeight - 8, escape(x.label));
  out += fmt::format(
      R"svg(<text transform="translate(14 {:.0f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
      (kTop + kHeight - kBottom) / 2, escape(y.label));
  return out;
}

std::string marks(const Series& series, const char* colour, const Scale& to_x, const Scale& to_y) {
  std::string path, dots;
  for (const Point& p : series.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", to_x(p.x), to_y(p.y));
    dots += fmt::format(
        R"svg(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"{}><title>{}{}, {}</title></circle>)svg",
        to_x(p.x), to_y(p.y),
        p.marked      ? 6
        : series.line ? 3.5
                      : 2.5,
        colour, series.line ? "" : R"svg( fill-opacity="0.45")svg",
        series.name.empty() ? "" : escape(series.name) + ": ", number(p.x), number(p.y));
  }
  if (series.line && series.points.size() > 1)
    path = fmt::format(R"svg(<path d="{}" fill="none" stroke="{}" stroke-width="2"/>)svg", path,
                       colour);
  else
    path.clear();
  return path + dots;
}

std::string figure(const std::string& svg, const std::string& caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, escape(caption));
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string number(double value) {
  if (!std::isfinite(value)) return "not finite";
  if (value == std::floor(value) && std::abs(value) < 1e6) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string chart(const std::string& caption, const Axis& x, const Axis& y,
                  std::vector<Series> series, bool diagonal) {
  Bounds in_x, in_y;
  for (Series& s : series) {
    std::erase_if(s.points, [&](const Point& p) { return !shown(p, x, y); });
    if (s.line) std::ranges::sort(s.points, {}, &Point::x);
    for (const Point& p : s.points) {
      in_x.add(p.x);
      in_y.add(p.y);
      if (diagonal) {
        in_x.add(p.y);
        in_y.add(p.x);
      }
    }
  }
  if (!std::isfinite(in_x.low)) return "";
  const Scale to_x(in_x.low, in_x.high, x.log, kLeft, kWidth - kRight);
  const Scale to_y(in_y.low, in_y.high, y.log, kHeight - kBottom, kTop);
  std::string body = axes(to_x, to_y, x, y);
  if (diagonal)
    body += fmt::format(
        R"svg(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="var(--soft)" stroke-dasharray="4 4"/>)svg",
        to_x(in_x.low), to_y(in_x.low), to_x(in_x.high), to_y(in_x.high));
  for (std::size_t i = 0; i < series.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    body += marks(series[i], colour, to_x, to_y);
    if (!series[i].name.empty())
      body += fmt::format(
          R"svg(<circle cx="{0}" cy="{1}" r="4" fill="{2}"/><text x="{3}" y="{4}">{5}</text>)svg",
          kLeft + 16, kTop + 10 + 18 * static_cast<int>(i), colour, kLeft + 26,
          kTop + 14 + 18 * static_cast<int>(i), escape(series[i].name));
  }
  return figure(
      fmt::format(
          R"svg(<svg viewBox="0 0 {} {}" width="{}" role="img" aria-label="{}">{}</svg>)svg",
          kWidth, kHeight, kWidth, escape(caption), body),
      caption);
}

std::string bars(const std::string& caption,
                 const std::vector<std::pair<std::string, double>>& values, std::size_t marked) {
  constexpr double kLabel = 240, kRow = 24, kEnd = 80;
  double most = 0;
  for (const auto& [label, value] : values) most = std::max(most, value);
  std::string body;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double y = kRow * static_cast<double>(i);
    const double length = most > 0 ? values[i].second / most * (kWidth - kLabel - kEnd) : 0;
    body += fmt::format(
        R"svg(<text x="{}" y="{:.0f}" text-anchor="end">{}</text><rect x="{}" y="{:.0f}" width="{:.1f}" height="16" rx="2" fill="{}"/><text x="{:.1f}" y="{:.0f}">{}</text>)svg",
        kLabel - 8, y + 16, escape(values[i].first), kLabel, y + 4, std::max(1.0, length),
        i == marked ? "var(--accent)" : "var(--line)", kLabel + length + 6, y + 16,
        number(values[i].second));
  }
  return figure(
      fmt::format(
          R"svg(<svg viewBox="0 0 {} {:.0f}" width="{}" role="img" aria-label="{}">{}</svg>)svg",
          kWidth, kRow * static_cast<double>(values.size()) + 8, kWidth, escape(caption), body),
      caption);
}

std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string out = R"svg(<div class="scroll"><table><thead><tr>)svg";
  for (const auto& name : head)
    out += fmt::format("<th scope=\"col\"><button>{}</button></th>", escape(name));
  out += "</tr></thead><tbody>";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const auto& cell : row) {
      const bool numeric = !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) ||
                                             (cell[0] == '-' && cell.size() > 1));
      out += fmt::format("<td{}>{}</td>", numeric ? " class=\"n\"" : "", escape(cell));
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>\n";
}

std::string heat_table(const std::string& corner, const std::vector<std::string>& names,
                       MatrixView<const double> counts) {
  std::string out = fmt::format(
      R"svg(<div class="scroll"><table class="heat"><thead><tr><th>{}</th>)svg", escape(corner));
  for (const auto& name : names) out += fmt::format("<th scope=\"col\">{}</th>", escape(name));
  out += "</tr></thead><tbody>";
  for (Index i = 0; i < counts.rows; ++i) {
    double total = 0;
    for (const double c : counts.row(i)) total += c;
    out += fmt::format("<tr><th scope=\"row\">{}</th>", escape(names[static_cast<std::size_t>(i)]));
    for (Index j = 0; j < counts.cols; ++j) {
      const double part = total > 0 ? counts(i, j) / total : 0;
      out += fmt::format(
          R"svg(<td style="background:color-mix(in srgb,var(--{}) {:.0f}%,transparent)">{:.0f}</td>)svg",
          i == j ? "third" : "second", 75 * std::sqrt(part), counts(i, j));
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>\n";
}

std::string picture(std::span<const float> pixels, Index height, Index width, Index channels,
                    const std::string& caption) {
  std::string body;
  const auto shade = [](float v) { return std::clamp(static_cast<int>(v * 255 + 0.5f), 0, 255); };
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>((y * width + x) * channels);
      const int r = shade(pixels[at]);
      const int g = channels == 3 ? shade(pixels[at + 1]) : r;
      const int b = channels == 3 ? shade(pixels[at + 2]) : r;
      body += fmt::format(R"svg(<path d="M{} {}h1v1h-1z" fill="#{:02x}{:02x}{:02x}"/>)svg", x, y, r,
                          g, b);
    }
  return figure(
      fmt::format(
          R"svg(<svg viewBox="0 0 {} {}" shape-rendering="crispEdges" role="img" aria-label="{}">{}</svg>)svg",
          width, height, escape(caption), body),
      caption);
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "<dl class=\"facts\">";
  for (const auto& [name, value] : items)
    out += fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>",
                       value.size() > kLongValue ? " class=\"wide\"" : "", escape(name),
                       escape(value));
  return out + "</dl>\n";
}

std::string section(const std::string& heading, const std::string& body) {
  return body.empty() ? ""
                      : fmt::format("<section><h2>{}</h2>{}</section>\n", escape(heading), body);
}

std::string page(const std::string& title, const std::string& headline, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>{0}</title><link rel=\"icon\" "
      "href=\"data:,\"><style>{1}</style></head>\n<body><main><h1>{0}</h1><p "
      "class=\"headline\">{2}</p>\n{3}</main><script>{4}</script></body></html>\n",
      escape(title), kStyle, escape(headline), body, kScript);
}

}  // namespace kerf::html
