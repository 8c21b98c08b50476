// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/columns_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kerf/core/names.h"

namespace kerf::detail {
namespace {

std::string name_of_column(const Encoding& encoding, Index j) {
  const std::string& name = encoding.columns[j].name;
  return name.empty() ? fmt::format("column {}", j) : name;
}

}  // namespace

std::vector<std::string> columns_of(const Encoding& encoding, Role role) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < encoding.columns.size(); ++j)
    if (encoding.columns[j].role == role)
      names.push_back(name_of_column(encoding, static_cast<Index>(j)));
  return names;
}

std::vector<std::string> targets_of(const Encoding& encoding) {
  std::vector<std::string> names;
  for (const Index j : encoding.targets) names.push_back(name_of_column(encoding, j));
  if (encoding.labelled) names.emplace_back("label");
  return names;
}

std::string columns_json(const Encoding& encoding) {
  using Json = nlohmann::ordered_json;
  Json inputs = Json::array();
  for (std::size_t j = 0; j < encoding.columns.size(); ++j) {
    const EncodedColumn& column = encoding.columns[j];
    if (column.role != Role::number && column.role != Role::category) continue;
    inputs.push_back({{"name", name_of_column(encoding, static_cast<Index>(j))},
                      {"kind", column.role == Role::category ? "words" : "numbers"}});
    if (column.role == Role::category) inputs.back()["levels"] = column.levels;
  }
  const Json json = {{"inputs", inputs},
                     {"target", targets_of(encoding)},
                     {"dropped", columns_of(encoding, Role::dropped)},
                     {"weight", columns_of(encoding, Role::weight)},
                     {"missing", name_of(encoding.missing)}};
  // Names of columns need not be UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kerf::detail
