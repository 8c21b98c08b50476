// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/encoder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/io/finite.h"

namespace kerf::detail::io {

std::vector<std::string> notes_of(const EncodeCounts& counts) {
  std::vector<std::string> notes;
  for (const auto& [column, cells, first] : counts.unknown)
    notes.push_back(fmt::format(
        "{} cell{} of {} hold{} a word that the training rows did not have (the first: {}): "
        "predicted as none of the known words",
        cells, cells == 1 ? "" : "s", column, cells == 1 ? "s" : "", quoted(first)));
  if (counts.unknown_features > 0)
    notes.push_back(
        fmt::format("{} number{} in columns that the training rows did not have: left out",
                    counts.unknown_features, counts.unknown_features == 1 ? " stands" : "s stand"));
  return notes;
}

void Encoder::count_unknown(const Route& to, std::string_view level) {
  ++counts_.unknown_levels;
  auto& unknown = counts_.unknown;
  auto column = std::ranges::find(unknown, to.label, &EncodeCounts::Unknown::column);
  if (column == unknown.end())
    column = unknown.insert(unknown.end(), {to.label, 0, std::string(level)});
  ++column->cells;
}

void Encoder::encode(const RawBlock& raw, RowBlock& out) {
  const Index rows = raw.rows;
  out.is_sparse = encoding_.kind == SourceKind::sparse;
  out.image = encoding_.image;
  out.weights.clear();
  out.numbers.clear();
  out.targets.resize(rows, has_targets_ ? encoding_.target_count() : 0);
  dropped_.assign(rows, false);
  const Index dropped_before = counts_.dropped_rows;
  if (out.is_sparse)
    encode_sparse(raw, out);
  else
    encode_dense(raw, out);
  for (std::size_t j = 0; j < routes_.size(); ++j) {
    const auto column = static_cast<Index>(j);
    const Route& to = routes_[j];
    if (to.role == Role::category) encode_category(raw, column, to, out);
    if (to.role == Role::moment) encode_moments(raw, column, to, out);
    if (to.column != nullptr && to.column->form.unit == "%" && to.role != Role::dropped)
      require_form(raw, column, to);
    if (to.role == Role::target) encode_target(raw, column, to, out);
    if (to.role == Role::weight) encode_weights(raw, column, out);
  }
  if (label_route_.role == Role::target)
    for (Route to = label_route_; to.to < encoding_.target_count(); ++to.to)
      encode_target(raw, kLabelColumn, to, out);
  if (wanted_ != Targets::ignore && !raw.weights.empty()) out.weights = raw.weights;
  for (const OddCell& cell : raw.odd) {
    const Route& to = cell.column == kLabelColumn ? label_route_ : routes_[cell.column];
    if (to.role != Role::dropped && !cell.is_read && (!cell.is_number || to.role == Role::category))
      encode_odd(raw, cell, to, out);
  }
  if (raw.cells.rows() > 0) check_finite(raw, out);  // bytes are finite
  if (counts_.dropped_rows > dropped_before) drop_rows(out);
}

void Encoder::encode_dense(const RawBlock& raw, RowBlock& out) {
  out.dense.resize(raw.rows, encoding_.inputs);
  out.wide.resize(encoding_.wide ? raw.rows : 0, encoding_.inputs);
  if (raw.pixels.rows() == raw.rows && raw.pixels.cols() == encoding_.inputs && raw.rows > 0 &&
      raw.cells.rows() == 0) {
    std::copy_n(raw.pixels.data(), raw.rows * encoding_.inputs, out.dense.data());
    if (encoding_.wide)
      std::copy_n(raw.pixels.data(), raw.rows * encoding_.inputs, out.wide.data());
    return;
  }
  if (fills_) out.dense.fill(0);
  if (fills_ && encoding_.wide) out.wide.fill(0);
  for (Index i = 0; i < raw.rows; ++i) {
    const double* cells = raw.cells.data() + i * raw.cells.cols();
    float* values = out.dense.data() + i * encoding_.inputs;
    for (const Run& run : runs_)
      for (Index k = 0; k < run.count; ++k)
        values[run.to + k] = static_cast<float>(cells[run.from + k] - offsets_[run.from + k]);
    if (!encoding_.wide) continue;
    double* wide = out.wide.data() + i * encoding_.inputs;
    for (const Run& run : runs_)
      for (Index k = 0; k < run.count; ++k)
        wide[run.to + k] = cells[run.from + k] - offsets_[run.from + k];
  }
}

void Encoder::put(Index row, Index column, double value, RowBlock& out) const {
  out.dense(row, column) = static_cast<float>(value);
  if (encoding_.wide) out.wide(row, column) = value;
}

void Encoder::encode_sparse(const RawBlock& raw, RowBlock& out) {
  out.sparse.clear();
  out.sparse.cols = encoding_.inputs;
  const CsrView rows = raw.sparse.view();
  const Index first = typed_ ? 1 : encoding_.first_index;
  for (Index i = 0; i < raw.rows; ++i) {
    const SparseRow row = rows.row(i);
    for (std::size_t k = 0; k < row.values.size(); ++k) {
      const Index column = row.columns[k] - first;
      KERF_REQUIRE(column >= 0, data,
                   "{}: index 0, but the indices of the training rows count from 1",
                   raw.where(i, 0));
      if (column < encoding_.inputs)
        out.sparse.push(static_cast<std::int32_t>(column), row.values[k]);
      else
        ++counts_.unknown_features;
    }
    out.sparse.end_row();
  }
}

/// Cells of a category that look like numbers; those that do not are odd and come later.
void Encoder::encode_category(const RawBlock& raw, Index column, const Route& to, RowBlock& out) {
  if (raw.words_kept) return;  // they are listed with their texts
  for (Index i = 0; i < raw.rows; ++i)
    if (const double value = raw.cells(i, column); !std::isnan(value))
      encode_level(i, format_number(value), to, out);
}

/// Moments and shares of hundred are never plain numbers: those would be something else.
void Encoder::require_form(const RawBlock& raw, Index column, const Route& to) const {
  if (to.in_micros) return;
  const auto is_read = [&](Index row) {
    return std::ranges::any_of(raw.odd, [&](const OddCell& cell) {
      return cell.is_read && cell.row == row && cell.column == column;
    });
  };
  for (Index i = 0; i < raw.rows; ++i) {
    const double value = raw.cells(i, column);
    KERF_REQUIRE(std::isnan(value) || is_read(i), data, "{}: {} should be {}, not {}",
                 raw.where(i, column), to.label, describe(to.column->form), value);
  }
}

/// Moments that the source has as such; those that are text come later.
void Encoder::encode_moments(const RawBlock& raw, Index column, const Route& to, RowBlock& out) {
  require_form(raw, column, to);
  for (Index i = 0; i < raw.rows; ++i)
    if (const double micros = raw.cells(i, column); !std::isnan(micros))
      put_moment(i, micros, to, out);
}

void Encoder::put_moment(Index row, double micros, const Route& to, RowBlock& out) const {
  Index at = to.to;
  for (const MomentPart part : to.column->parts)
    put(row, at++, to.column->input_of(micros, part), out);
}

/// Text that is a number in the form of its column; false: it is none.
bool Encoder::encode_form(const RawBlock& raw, const OddCell& cell, const Route& to,
                          RowBlock& out) {
  if (to.column == nullptr || to.column->form.kind == ColumnForm::Kind::plain) return false;
  const auto value = read_cell(raw.text(cell), to.column->form, encoding_.decimal());
  if (!value) return false;
  if (to.role == Role::target)
    out.targets(cell.row, to.to) = *value;
  else if (to.role == Role::moment)
    put_moment(cell.row, *value, to, out);
  else
    put(cell.row, to.to, *value - to.offset, out);
  return true;
}

void Encoder::encode_level(Index row, std::string_view level, const Route& to, RowBlock& out) {
  const Index number = levels_[to.levels].find(level);
  if (number < 0)
    count_unknown(to, level);
  else
    put(row, to.to + number, 1, out);
}

void Encoder::encode_target(const RawBlock& raw, Index column, const Route& to, RowBlock& out) {
  for (Index i = 0; i < raw.rows; ++i) {
    const double value = column == kLabelColumn ? raw.labels[i * encoding_.target_count() + to.to]
                                                : raw.cells(i, column);
    const bool is_class = encoding_.task == Task::classification && !std::isnan(value);
    out.targets(i, to.to) = is_class ? class_number(raw, i, column, value) : value;
  }
}

std::vector<Index> Encoder::word_columns() const {
  std::vector<Index> columns;
  for (std::size_t j = 0; j < routes_.size(); ++j)
    if (routes_[j].role == Role::category) columns.push_back(static_cast<Index>(j));
  return columns;
}

double Encoder::class_number(const RawBlock& raw, Index row, Index column, double value) const {
  const bool is_number = !named_.empty();
  const auto at = static_cast<std::size_t>(is_number ? value : 0);
  if (is_number && number_of_[at] >= 0) return static_cast<double>(number_of_[at]);
  const std::string name = is_number              ? named_[at]
                           : raw.spelling.empty() ? format_number(value)
                                                  : raw.spelling[row];
  const Index number = is_number ? -1 : class_names_.find(name);
  KERF_REQUIRE(number >= 0, data, "{}: class {} is none of the training classes ({})",
               raw.where(row, column), quoted(name), class_list());
  return static_cast<double>(number);
}

void Encoder::encode_weights(const RawBlock& raw, Index column, RowBlock& out) {
  out.weights.resize(raw.rows);
  for (Index i = 0; i < raw.rows; ++i) {
    const double weight = raw.cells(i, column);
    KERF_REQUIRE(!(weight < 0), data, "{}: a weight must not be negative, but this one is {}",
                 raw.where(i, column), weight);
    out.weights[i] = weight;
  }
}

void Encoder::encode_odd(const RawBlock& raw, const OddCell& cell, const Route& to, RowBlock& out) {
  const std::string_view text = raw.text(cell);
  const bool is_class = to.role == Role::target && encoding_.task == Task::classification;
  // Of an older model "-" or "None" may be a word that it learned.
  const bool is_known =
      !cell.is_missing && ((to.role == Role::category && levels_[to.levels].find(text) >= 0) ||
                           (is_class && class_names_.find(text) >= 0));
  if (raw.is_missing(cell) && !is_known) return encode_missing(raw, cell, to, out);
  if (to.role == Role::category) return encode_level(cell.row, text, to, out);
  if (encode_form(raw, cell, to, out)) return;
  const std::string where = raw.where(cell);
  KERF_REQUIRE(is_class, data, "{}: {} should be {}, not {}", where, to.label,
               to.column == nullptr ? "a finite number" : describe(to.column->form), quoted(text));
  const Index number = class_names_.find(text);
  KERF_REQUIRE(number >= 0, data, "{}: class {} is none of the training classes ({})", where,
               quoted(text), class_list());
  out.targets(cell.row, to.to) = static_cast<double>(number);
}

void Encoder::encode_missing(const RawBlock& raw, const OddCell& cell, const Route& to,
                             RowBlock& out) {
  const bool input =
      to.role == Role::number || to.role == Role::category || to.role == Role::moment;
  // A row that comes for a prediction must get one, so it is not dropped.
  const bool impute =
      input && (encoding_.missing == Missing::mean || encoding_.missing == Missing::indicator ||
                (encoding_.missing == Missing::drop && wanted_ == Targets::ignore));
  if (impute) {
    ++counts_.imputed;
    if (to.role == Role::number) put(cell.row, to.to, to.mean - to.offset, out);
    if (to.role == Role::moment)
      for (std::size_t k = 0; k < to.column->part_means.size(); ++k)
        put(cell.row, to.to + static_cast<Index>(k), to.column->part_means[k], out);
    if (to.indicator >= 0) put(cell.row, to.indicator, 1, out);
    return;
  }
  // Rows that come for predictions: only a fit can say what stands for their missing cells.
  KERF_REQUIRE(encoding_.missing == Missing::drop, data, "{}: the value of {} is missing; {}",
               raw.where(cell), to.label,
               wanted_ == Targets::ignore
                   ? "a model that was fitted with " + spell("missing", "mean") + " or " +
                         spell("missing", "indicator") + " takes such rows"
                   : spell("missing", "drop") + " leaves such rows out");
  auto dropped = dropped_[cell.row];
  if (!dropped) ++counts_.dropped_rows;
  dropped = true;
  if (to.role == Role::number) put(cell.row, to.to, 0, out);
}

void Encoder::check_finite(const RawBlock& raw, const RowBlock& out) const {
  for (Index i = 0; i < raw.rows; ++i) {
    if (all_finite<float>(out.dense.row(i))) continue;
    for (std::size_t j = 0; j < routes_.size(); ++j) {
      const Route& to = routes_[j];
      if (to.role != Role::number || std::isfinite(out.dense(i, to.to))) continue;
      fail(ErrorKind::data, "{}: the value {} of {} is beyond single precision",
           raw.where(i, static_cast<Index>(j)), raw.cells(i, static_cast<Index>(j)), to.label);
    }
  }
}

void Encoder::drop_rows(RowBlock& out) {
  Index kept = 0;
  CsrMatrix sparse;
  sparse.cols = out.sparse.cols;
  const auto rows = static_cast<Index>(dropped_.size());
  for (Index i = 0; i < rows; ++i) {
    if (dropped_[i]) continue;
    if (out.is_sparse) {
      sparse.push_row(out.sparse.view().row(i));
    } else if (kept < i) {
      std::ranges::copy(out.dense.row(i), out.dense.row(kept).begin());
      if (encoding_.wide) std::ranges::copy(out.wide.row(i), out.wide.row(kept).begin());
    }
    out.numbers.push_back(i);
    if (kept < i) std::ranges::copy(out.targets.row(i), out.targets.row(kept).begin());
    if (!out.weights.empty()) out.weights[kept] = out.weights[i];
    ++kept;
  }
  if (out.is_sparse)
    out.sparse = std::move(sparse);
  else
    out.dense.resize(kept, out.dense.cols());
  if (encoding_.wide && !out.is_sparse) out.wide.resize(kept, out.wide.cols());
  out.targets.resize(kept, out.targets.cols());
  if (!out.weights.empty()) out.weights.resize(kept);
}

std::string Encoder::class_list() const {
  constexpr std::size_t kShown = 10;
  const auto& names = encoding_.classes;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size()));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                     names.size() > kShown ? ", ..." : "");
}

}  // namespace kerf::detail::io
