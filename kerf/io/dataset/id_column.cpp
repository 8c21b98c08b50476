// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/dataset/id_column.h"

#include <algorithm>
#include <set>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/io/table/data_options.h"

namespace kerf::detail::io {
namespace {

bool is_input(const EncodedColumn& column) {
  return column.role == Role::number || column.role == Role::category;
}

/// As the encoder matches columns: both have names, and none occurs twice.
bool by_name(const Encoding& encoding, const Schema& schema) {
  std::set<std::string> ours;
  for (const EncodedColumn& column : encoding.columns)
    if (column.name.empty() || !ours.insert(column.name).second) return false;
  const std::set<std::string> theirs(schema.names.begin(), schema.names.end());
  return !schema.names.empty() && theirs.size() == schema.names.size();
}

/// The columns of the model that a file of so many may have, in order: all, all but the targets, or
/// the inputs alone; none: it does not fit.
std::vector<Index> layout(const Encoding& encoding, Index count) {
  const auto some = [&](auto wanted) {
    std::vector<Index> columns;
    for (std::size_t j = 0; j < encoding.columns.size(); ++j)
      if (wanted(encoding.columns[j])) columns.push_back(static_cast<Index>(j));
    return columns;
  };
  const auto everything = [](const EncodedColumn&) { return true; };
  const auto no_target = [](const EncodedColumn& column) { return column.role != Role::target; };
  for (const auto& columns : {some(everything), some(no_target), some(is_input)})
    if (std::ssize(columns) == count) return columns;
  return {};
}

/// Those columns and, at `place`, one that nobody looks at.
Encoding with_stranger(const Encoding& encoding, const std::vector<Index>& columns, Index place) {
  Encoding out = encoding;
  out.columns.clear();
  out.targets.clear();
  const EncodedColumn stranger{.name = "", .role = Role::dropped, .levels = {}};
  std::vector<Index> now(encoding.columns.size(), kNoColumn);
  for (const Index j : columns) {
    if (std::ssize(out.columns) == place) out.columns.push_back(stranger);
    now[j] = std::ssize(out.columns);
    out.columns.push_back(encoding.columns[j]);
  }
  if (std::ssize(out.columns) == place) out.columns.push_back(stranger);
  for (const Index target : encoding.targets)
    if (now[target] != kNoColumn) out.targets.push_back(now[target]);
  return out;
}

}  // namespace

Index find_id(const Encoding& encoding, const Schema& schema, const std::string& id,
              const std::string& source) {
  const bool table = encoding.kind == SourceKind::table && !schema.sparse && !schema.bytes;
  KERF_REQUIRE(table, usage, "{} is for tables, and {} is none", spell("id"), source);
  return find_column(schema, id, "id", source);
}

Encoding with_id(const Encoding& encoding, const Schema& schema, Index place,
                 const std::string& source) {
  if (by_name(encoding, schema)) return encoding;
  const std::vector<Index> known = layout(encoding, schema.columns);
  const std::vector<Index> others = layout(encoding, schema.columns - 1);
  if (others.empty()) return encoding;  // a column of the model, or no table of its rows at all
  if (known.empty()) return with_stranger(encoding, others, place);
  KERF_REQUIRE(encoding.columns[known[place]].role == Role::dropped, usage,
               "{}: {} has {} columns without names, which may be those of the model, or this one "
               "and the others of the model: a header in both files would tell",
               spell("id", fmt::to_string(place)), source, schema.columns);
  return encoding;
}

std::vector<std::string> texts_of(const RawBlock& raw, Index column) {
  std::vector<std::string> texts(raw.rows);
  if (!raw.words_kept && raw.cells.rows() == raw.rows)
    for (Index i = 0; i < raw.rows; ++i) texts[i] = format_number(raw.cells(i, column));
  for (const OddCell& cell : raw.odd)
    if (cell.column == column) texts[cell.row] = raw.text(cell);
  return texts;
}

}  // namespace kerf::detail::io
