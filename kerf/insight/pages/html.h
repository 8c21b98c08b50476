// Pieces of a self-contained HTML page: no network, light and dark, prints well, keyboard and
// screen readers.  Charts are inline SVG whose marks carry their values as tooltips, for the mouse
// and for the arrow keys; the numbers of a chart stand below it as a table to be opened.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/view.h"

namespace kerf::detail::html {

/// Text with & < > " made literal.
std::string escape(std::string_view text);

/// A number for people: four significant digits.
std::string number(double value);

struct Point {
  double x, y;
  bool marked = false;       ///< drawn larger: the one that was chosen
  double low = 0, high = 0;  ///< where y lies; equal: not known
  std::string label = {};    ///< before the numbers in the tooltip
};

struct Series {
  std::string name;  ///< for the legend; empty: none
  std::vector<Point> points;
  bool line = true;     ///< joined by a line, in order of x
  bool theory = false;  ///< no points, a dashed line: what is expected
};

struct Axis {
  std::string label;
  /// Points with x <= 0 are left out; an axis with y <= 0 among its values becomes a plain one.
  bool log = false;
};

/// A chart with a caption, which also stands for it where it cannot be seen.  `diagonal`: with the
/// line y = x.
std::string chart(const std::string& caption, const Axis& x, const Axis& y,
                  std::vector<Series> series, bool diagonal = false);

/// The dashed line through the middle of these points that falls as x^-1/2.
Series inverse_root_line(const std::vector<Point>& points);

/// A map's options but for the number of features: "kernel gaussian, bandwidth 2.1".
std::string option_text(const Params& options);

/// Horizontal bars from 0, one a label, values printed behind them; `marked`: the one in colour.
std::string bars(const std::string& caption,
                 const std::vector<std::pair<std::string, double>>& values, std::size_t marked = 0);

/// Cells are text (escaped here); columns whose cells are numbers sort as numbers.  `chosen`: the
/// row that was chosen, or -1.  Empty cells sort last.
std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows, Index chosen = -1);

/// Counts as shades: rows down, columns across.
std::string heat_table(const std::string& corner, const std::vector<std::string>& names,
                       MatrixView<const double> counts);

/// Pixels (0 .. 1, height x width x 1 or 3) as an inline picture of blocks.
std::string picture(std::span<const float> pixels, Index height, Index width, Index channels,
                    const std::string& caption);

/// A command line, cut between its words where it is longer than the screen.
std::string command(const std::string& line);

/// Names and values side by side.
std::string facts(const std::vector<std::pair<std::string, std::string>>& items);

/// A section with its heading.
std::string section(const std::string& heading, const std::string& body);
/// A section of sentences; none: nothing.
std::string warnings(const std::vector<std::string>& sentences);

/// The whole page.
std::string page(const std::string& title, const std::string& headline, const std::string& body);

}  // namespace kerf::detail::html
