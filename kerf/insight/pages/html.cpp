// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kerf::detail::html {
namespace {

constexpr const char* kStyle = R"svg(
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;--paper:#fff;--panel:#f6f8fa;--accent:#0969da;--second:#bf5700;--third:#1a7f37;--fourth:#8250df;--fifth:#cf222e;--sixth:#1b7c83}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--line:#30363d;--paper:#0d1117;--panel:#161b22;--accent:#4493f8;--second:#f0883e;--third:#3fb950;--fourth:#a371f7;--fifth:#ff7b72;--sixth:#39c5cf}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 3rem;overflow-wrap:anywhere}h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}
.headline{font-size:1.15rem;color:var(--soft);margin:0 0 1.2rem}.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:.6rem;margin:0}
@media(max-width:600px){.facts{grid-template-columns:1fr 1fr}}.facts .wide{grid-column:1/-1}.facts div{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.5rem .7rem;overflow-wrap:anywhere}dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-weight:600}
figure{margin:0 0 1rem}figcaption{color:var(--soft);font-size:.9rem;margin-top:.3rem}svg{max-width:100%;height:auto;display:block}figure.chart>svg{width:100%;max-width:48rem}svg text{fill:var(--soft);font-size:12px}@media(max-width:600px){svg text{font-size:20px}}
svg[tabindex]:focus-visible{outline:2px solid var(--accent);outline-offset:4px}circle.at{stroke:var(--ink);stroke-width:2.5}.tip{display:block;min-height:1.4em;font-size:.85rem;font-variant-numeric:tabular-nums}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;margin:.2rem 0;font-size:.85rem}.legend svg{display:inline-block;width:28px;vertical-align:middle;margin-right:.35rem}
details{margin:.3rem 0 1rem}summary{cursor:pointer;color:var(--soft);font-size:.9rem}summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}.says{font-size:1.05rem}tr.chosen td{background:color-mix(in srgb,var(--accent) 14%,transparent)}
.scroll{overflow-x:auto}.scroll:focus-visible{outline:2px solid var(--accent);outline-offset:2px}.hint{color:var(--soft);font-size:.85rem;margin:.2rem 0}table{border-collapse:separate;border-spacing:0;font-size:.9rem;overflow-wrap:normal}table.heat{border-collapse:collapse}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left}th{vertical-align:bottom}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}@media(max-width:600px){th,td{padding:.25rem .4rem}}
th:first-child,td:first-child{position:sticky;left:0;background:var(--paper)}tr.chosen td:first-child{background:color-mix(in srgb,var(--accent) 14%,var(--paper))}
th button{all:unset;cursor:pointer;font-weight:600}th[aria-sort=ascending] button::after{content:' \25b2'}th[aria-sort=descending] button::after{content:' \25bc'}th button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.heat td{text-align:center;min-width:2.4rem;border:1px solid var(--line)}.heat th{text-align:right;border:0}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.7rem;white-space:pre-wrap;overflow-wrap:anywhere}pre span{display:inline-block;max-width:100%}
.up{color:var(--soft);font-size:.85rem}.bars{display:grid;grid-template-columns:fit-content(50%) minmax(3rem,1fr) max-content;gap:.15rem .5rem;align-items:center;max-width:40rem;font-size:.85rem;color:var(--soft)}.bars :nth-child(3n+1){text-align:right}
.bars div div{height:1rem;min-width:1px;border-radius:2px;background:var(--line)}.bars div.marked div{background:var(--accent)}
.pictures{display:flex;flex-wrap:wrap;gap:1rem;margin-bottom:1rem}.pictures figure{width:7rem;margin:0}.pictures svg{width:7rem;image-rendering:pixelated}
@media print{.tip,.hint{display:none}.scroll{overflow:visible}main{max-width:none}h2{break-after:avoid}figure,table{break-inside:avoid}}
)svg";

constexpr const char* kScript = R"svg(
for(const b of document.querySelectorAll('th button'))b.onclick=()=>{const h=b.parentNode,t=b.closest('table'),i=[...h.parentNode.children].indexOf(h),
down=h.getAttribute('aria-sort')==='ascending'?-1:1;for(const o of t.querySelectorAll('th'))o.removeAttribute('aria-sort');h.setAttribute('aria-sort',down<0?'descending':'ascending');
const v=r=>{const s=r.children[i].textContent.trim(),n=parseFloat(s.replaceAll(',',''));return s===''?null:s==='infinite'||s==='no bound'?Infinity:isNaN(n)?s:n},text=a=>typeof a==='string';
const rows=[...t.tBodies[0].rows].sort((p,q)=>{const a=v(p),c=v(q);return a===null||c===null?(a===null)-(c===null):down*(text(a)-text(c)||(a<c?-1:a>c?1:0))});t.tBodies[0].append(...rows)};
for(const s of document.querySelectorAll('.scroll'))new ResizeObserver(()=>{const wide=s.scrollWidth>s.clientWidth;s.previousElementSibling.hidden=!wide;if(wide)s.tabIndex=0;else s.removeAttribute('tabindex')}).observe(s);
for(const f of document.querySelectorAll('figure.chart')){const g=f.querySelector('svg[tabindex]'),o=f.querySelector('.tip'),c=[...g.querySelectorAll('circle')];let k=-1;
const go=i=>{if(k>=0)c[k].classList.remove('at');k=i;if(k>=0){c[k].classList.add('at');o.textContent=c[k].querySelector('title').textContent}else o.textContent=''};
g.addEventListener('pointerover',e=>{const i=c.indexOf(e.target);if(i>=0)go(i)});g.addEventListener('blur',()=>go(-1));
g.addEventListener('keydown',e=>{const d={ArrowRight:1,ArrowLeft:-1}[e.key];if(d&&c.length){e.preventDefault();go((k+d+c.length)%c.length)}})}
)svg";

constexpr std::size_t kLongValue = 40;  // characters that take a line of their own

/// A number, alone or with what may stand behind one: a percent sign, a remark in parentheses.
bool is_numeric(const std::string& cell) {
  double value = 0;
  const char* const end = cell.data() + cell.size();
  const auto [rest, error] = std::from_chars(cell.data(), end, value);
  const std::string_view behind(rest, end);
  return error == std::errc() && (behind.empty() || behind == " %" || behind.starts_with(" ("));
}

/// A table that is wider than the screen scrolls by itself; the script shows the hint where it does.
std::string scrolling(const std::string& table) {
  return fmt::format(
      "<p class=\"hint\" hidden>This table goes on to the right: scroll it sideways \u2192</p><div "
      "class=\"scroll\">{}</div>\n",
      table);
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
  if (!std::isfinite(value)) return value > 0 ? "infinite" : "not a number";
  if (value == std::floor(value) && std::abs(value) < 1e6) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows, Index chosen) {
  std::string out = "<table><thead><tr>";
  for (std::size_t j = 0; j < head.size(); ++j) {
    const bool numeric = !rows.empty() && j < rows[0].size() && is_numeric(rows[0][j]);
    out += fmt::format("<th scope=\"col\"{}><button>{}</button></th>",
                       numeric ? " class=\"n\"" : "", escape(head[j]));
  }
  out += "</tr></thead><tbody>";
  for (const auto& row : rows) {
    const bool is_chosen = chosen-- == 0;
    out += is_chosen ? "<tr class=\"chosen\">" : "<tr>";
    for (const auto& cell : row) {
      out += fmt::format("<td{}>{}{}</td>", is_numeric(cell) ? " class=\"n\"" : "", escape(cell),
                         is_chosen && &cell == &row.front() ? " (chosen)" : "");
    }
    out += "</tr>";
  }
  return scrolling(out + "</tbody></table>");
}

std::string heat_table(const std::string& corner, const std::vector<std::string>& names,
                       MatrixView<const double> counts) {
  std::string out =
      fmt::format(R"svg(<table class="heat"><thead><tr><th>{}</th>)svg", escape(corner));
  for (const auto& name : names) out += fmt::format("<th scope=\"col\">{}</th>", escape(name));
  out += "</tr></thead><tbody>";
  for (Index i = 0; i < counts.rows; ++i) {
    double total = 0;
    for (const double c : counts.row(i)) total += c;
    out += fmt::format("<tr><th scope=\"row\">{}</th>", escape(names[i]));
    for (Index j = 0; j < counts.cols; ++j) {
      const double part = total > 0 ? counts(i, j) / total : 0;
      out += fmt::format(
          R"svg(<td style="background:color-mix(in srgb,var(--{}) {:.0f}%,transparent)">{}</td>)svg",
          i == j ? "third" : "second", 75 * std::sqrt(part), number(counts(i, j)));
    }
    out += "</tr>";
  }
  return scrolling(out + "</tbody></table>");
}

std::string command(const std::string& line) {
  std::string out = "<pre>";
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    // A browser would cut --option behind its first dash.
    out += fmt::format("{}<span>{}</span>", begin == 0 ? "" : " ",
                       escape(std::string_view(line).substr(begin, end - begin)));
    begin = end + 1;
  }
  return out + "</pre>";
}

std::string picture(std::span<const float> pixels, Index height, Index width, Index channels,
                    const std::string& caption) {
  std::string body;
  const auto shade = [](float v) {
    return std::clamp(static_cast<int>(std::lround(v * 255)), 0, 255);
  };
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

std::string option_text(const Params& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    if (name == "features" || value.empty()) continue;
    const auto as_number = parse_number(value);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                        as_number ? number(*as_number) : value);
  }
  return text;
}

std::string section(const std::string& heading, const std::string& body) {
  return body.empty() ? ""
                      : fmt::format("<section><h2>{}</h2>{}</section>\n", escape(heading), body);
}

std::string warnings(const std::vector<std::string>& sentences) {
  std::string body;
  for (const auto& sentence : sentences) body += fmt::format("<p>{}</p>", escape(sentence));
  return section("Warnings", body);
}

std::string page(const std::string& title, const std::string& headline, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>{0}</title><link rel=\"icon\" "
      "href=\"data:,\"><style>{1}</style></head>\n<body><main><h1>{0}</h1><p "
      "class=\"headline\">{2}</p>\n{3}</main><script>{4}</script></body></html>\n",
      escape(title), kStyle, escape(headline), body, kScript);
}

}  // namespace kerf::detail::html
