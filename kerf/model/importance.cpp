// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "kerf/io/table/encoding.h"

namespace kerf::detail {

std::vector<ColumnImportance> column_importance(const Model& model) {
  if (!model.scaling.metric) return {};
  const std::vector<double> shares = model.scaling.metric->importance();
  std::vector<ColumnImportance> columns;
  if (model.encoding && model.encoding->kind == SourceKind::table) {
    std::size_t next = 0;
    for (std::size_t c = 0; c < model.encoding->columns.size(); ++c) {
      const EncodedColumn& column = model.encoding->columns[c];
      const std::size_t inputs = column.role == Role::number     ? 1
                                 : column.role == Role::category ? column.levels.size()
                                                                 : 0;
      if (inputs == 0) continue;
      columns.push_back({column.name.empty() ? fmt::format("column {}", c) : column.name, 0});
      for (std::size_t k = 0; k < inputs && next < shares.size(); ++k)
        columns.back().share += shares[next++];
    }
    if (next == shares.size()) return columns;
    columns.clear();
  }
  for (std::size_t k = 0; k < shares.size(); ++k)
    columns.push_back({fmt::format("column {}", k), shares[k]});
  return columns;
}

std::string describe_importance(const Model& model) {
  constexpr std::size_t kShown = 5;
  auto columns = column_importance(model);
  std::ranges::stable_sort(columns, std::greater{}, &ColumnImportance::share);
  std::string text;
  for (std::size_t k = 0; k < std::min(kShown, columns.size()); ++k)
    text += fmt::format("{}{} {:.{}f} %", k == 0 ? "" : ", ", columns[k].name,
                        100 * columns[k].share, columns[k].share < 0.1 ? 1 : 0);
  if (columns.size() > kShown) text += fmt::format(" and {} others", columns.size() - kShown);
  return text;
}

}  // namespace kerf::detail
