// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/scan.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/io/table/scanner.h"

namespace kerf::detail::io {

Scanner::Scanner(Reader& reader, const DataOptions& options, const std::string& name, rng::Key key,
                 PassGuard guard)
    : reader_(reader),
      guard_(std::move(guard)),
      schema_(reader.schema()),
      options_(options),
      name_(name),
      encoding_(plan_encoding(schema_, options, name)),
      columns_(schema_.sparse_columns > 0 ? schema_.sparse_columns + 1 : schema_.columns,
               options.memory_limit),
      targets_(options.task),
      class_rows_(schema_.classes.size()),
      sample_(key),
      missing_words_(encoding_.na, encoding_.na_only) {
  know_schema();
}

/// What columns are before any row is read.
void Scanner::know_schema() {
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    Role& role = encoding_.columns[j].role;
    if (role == Role::weight) weight_column_ = static_cast<Index>(j);
    if (role != Role::category) continue;
    role = Role::number;  // until the scan has its levels
    mixed_.insert(static_cast<Index>(j));
    declared_.insert(static_cast<Index>(j));
  }
  for (const Schema::Known& known : schema_.known) {
    if (role_of(known.column) != Role::number) continue;
    if (!known.is_moment) {
      declared_.insert(known.column);
    } else if (!declared_.contains(known.column)) {
      forms_[known.column] = {.kind = ColumnForm::Kind::moment, .has_zone = known.has_zone};
      moments_[known.column];
    }
  }
  if (!mixed_.empty()) ask_for_texts({});
}

void Scanner::ask_for_texts(const std::set<Index>& codes) {
  std::vector<Index> texts(mixed_.begin(), mixed_.end());
  texts.insert(texts.end(), codes.begin(), codes.end());
  reader_.keep_words(texts);
}

void Scanner::know(std::set<Index> mixed, const std::set<Index>& codes, const Forms& forms) {
  mixed_.merge(mixed);
  ask_for_texts(codes);
  for (const auto& [column, form] : forms) {
    forms_[column] = form;
    if (form.kind == ColumnForm::Kind::moment) moments_[column];
    if (role_of(column) == Role::target)
      targets_ = TargetTally(DataOptions::TaskChoice::regression);
  }
}

void Scanner::read_all(const Progress& progress) {
  if (encoding_.labelled)
    reader_.keep_spelling(kLabelColumn);
  else if (encoding_.targets.size() == 1)
    reader_.keep_spelling(encoding_.targets[0]);
  const Index most = block_rows(schema_.columns);
  RawBlock block;
  for (Index read = 0; options_.rows == 0 || read < options_.rows; read += block.rows) {
    const Index wanted = options_.rows == 0 ? most : std::min(most, options_.rows - read);
    if (!reader_.next(block, wanted)) break;
    guard_.add(block, name_);  // before anything in the block is changed
    missing_words_.mark(block);
    read_forms(block);
    add(block);
    require_sample();
    const double share = reader_.progress();
    const Index done = read + block.rows;
    report(progress, "reading", done,
           share > 0 ? std::max(done, static_cast<Index>(static_cast<double>(done) / share)) : 0);
  }
  reader_.rewind();
  block.clear();
  guard_.add(block, name_);
  KERF_REQUIRE(rows_ + dropped_rows_ > 0, data, "{} has {}", name_,
               schema_.names.empty() ? "no rows" : "a header but no rows");
  KERF_REQUIRE(rows_ > 0 || !missing_.empty(), data,
               "{}: every one of the {} rows has a missing cell", name_, dropped_rows_);
  KERF_REQUIRE(rows_ == 0 || (weight_ > 0 && std::isfinite(weight_)), data,
               "{}: the weights sum to {}; some must be above 0", name_, weight_);
}

std::set<Index> Scanner::mixed_columns() const {
  std::set<Index> mixed;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const auto column = static_cast<Index>(j);
    if (encoding_.columns[j].role == Role::number && is_category(column) &&
        !mixed_.contains(column) && columns_.numbers(column) > 0)
      mixed.insert(column);
  }
  return mixed;
}

std::set<Index> Scanner::code_columns() const {
  std::set<Index> codes;
  if (encoding_.kind != SourceKind::table) return codes;
  for (const Index column : reader_.code_columns())
    if (role_of(column) == Role::number && !is_category(column)) codes.insert(column);
  return codes;
}

/// Words that are numbers in the form of their column.
void Scanner::read_forms(RawBlock& block) const {
  if (forms_.empty()) return;
  for (OddCell& cell : block.odd) {
    const auto form = forms_.find(cell.column);
    if (form == forms_.end() || cell.is_number || block.is_missing(cell)) continue;
    const auto value = read_cell(block.text(cell), form->second, encoding_.decimal());
    if (!value) continue;
    block.cells(cell.row, cell.column) = *value;
    cell.is_read = true;
  }
}

void Scanner::add_odd(const RawBlock& block, const OddCell& cell) {
  const Role role = role_of(cell.column);
  if (cell.is_read) return;
  if (cell.is_number && !mixed_.contains(cell.column))
    merged_[cell.column].add(block.cells(cell.row, cell.column), block.text(cell));
  else if (cell.is_number)
    columns_.add_level(cell.column, block.text(cell), options_.max_levels);
  else if (role == Role::number)
    columns_.add_odd(block, cell, options_.max_levels);
  else if (role == Role::target)
    columns_.add_odd(block, cell, 0);  // for its form alone
}

void Scanner::add(RawBlock& block) {
  // Labels may put their odd cells at the end: bring the cells of each row together.
  std::ranges::stable_sort(block.odd, {}, &OddCell::row);
  std::size_t begin = 0, end = 0;
  for (Index i = 0; i < block.rows; ++i, begin = end) {
    while (end < block.odd.size() && block.odd[end].row == i) ++end;
    const std::span<const OddCell> odd(block.odd.data() + begin, end - begin);
    if (!keeps(block, odd)) {
      ++dropped_rows_;
      continue;
    }
    for (const OddCell& cell : odd) add_odd(block, cell);
    for (auto& [column, moments] : moments_)
      if (const double micros = block.cells(i, column); !std::isnan(micros)) moments.add(micros);
    for (const Index column : mixed_)
      if (const double value = block.cells(i, column); !block.words_kept && !std::isnan(value))
        columns_.add_level(column, format_number(value), options_.max_levels);
    add_targets(block, i, odd);
    sample_.offer(block, i, rows_, begin, end);
    if (schema_.sparse) {
      columns_.add_sparse(block.sparse.view().row(i));
    } else if (schema_.bytes) {
      columns_.add_pixels(block.pixels.row(i));
    } else {
      columns_.add_cells(block.cells.row(i), odd);
      if (!options_.image.empty() && bytes_) bytes_ = inputs_are_bytes(block.cells.row(i));
    }
    ++rows_;
  }
}

/// The sample of wide rows is large: it is there as read, put together, and encoded.
void Scanner::require_sample() const {
  if (options_.memory_limit == 0 || schema_.sparse) return;
  const Index bytes = schema_.bytes ? 1 + 1 + 4 : 8 + 8 + 4;
  require_memory(
      std::min(rows_, kSampleRows) * schema_.columns * bytes, options_.memory_limit,
      fmt::format("{}: to hold the rows of a sample, of {} columns,", name_, schema_.columns),
      "take fewer " + spell("rows") + ", or raise " + spell("memory"));
}

/// Whether a row stays; notes missing cells that may not be missing.
bool Scanner::keeps(const RawBlock& block, std::span<const OddCell> odd) {
  for (const OddCell& cell : odd) {
    const Role role = role_of(cell.column);
    if (role == Role::dropped || !block.is_missing(cell)) continue;
    const bool input = role == Role::number;
    if (options_.missing == Missing::drop) {
      if (role == Role::target && !block.text(cell).empty())
        ++missing_targets_[std::string(block.text(cell))];
      return false;
    }
    if (input && options_.missing != Missing::error) {
      ++missing_cells_;
      continue;
    }
    MissingCells& missing = missing_[cell.column];
    if (missing.cells++ == 0) missing = {1, block.where(cell), std::string(block.text(cell))};
    if (!input) return false;  // the other cells of the row are looked at in any case
  }
  return true;
}

void Scanner::add_targets(const RawBlock& block, Index i, std::span<const OddCell> odd) {
  double weight = 1;
  if (weight_column_ >= 0) {
    weight = block.cells(i, weight_column_);
    KERF_REQUIRE(weight >= 0, data, "{}: a weight ({}) must be a number that is not negative",
                 block.where(i, weight_column_), label_of(weight_column_));
  }
  if (schema_.weighted) {
    weight = block.weights[i];
    KERF_REQUIRE(weight >= 0 && std::isfinite(weight), data,
                 "row {} has the weight {}: a weight must be a number that is not negative",
                 block.first_row + i, weight);
  }
  weight_ += weight;
  note_range(block, i);
  if (encoding_.target_count() != 1) {
    for (const OddCell& cell : odd)
      KERF_REQUIRE(cell.column != kLabelColumn || role_of(cell.column) != Role::target, data,
                   "{}: the target {} should be a finite number, not {}", block.where(cell),
                   label_of(cell.column), quoted(block.text(cell)));
    return;
  }
  const Index column = encoding_.labelled ? kLabelColumn : encoding_.targets[0];
  const auto row = static_cast<std::size_t>(i);
  const double value = encoding_.labelled ? block.labels[row] : block.cells(i, column);
  if (!std::isnan(value) && !schema_.classes.empty()) {
    class_rows_[static_cast<std::size_t>(value)] += weight;
    return;
  }
  if (!std::isnan(value)) {
    targets_.add(value, weight,
                 block.spelling.empty() ? format_number(value) : block.spelling[row]);
    return;
  }
  for (const OddCell& cell : odd)
    if (cell.column == column) targets_.add(block.text(cell), weight, block.where(cell));
}

void Scanner::note_range(const RawBlock& block, Index i) {
  targets_of_row_.clear();
  if (encoding_.labelled)
    for (Index t = 0; t < encoding_.labels; ++t)
      targets_of_row_.push_back(block.labels[i * encoding_.labels + t]);
  for (const Index column : encoding_.targets) targets_of_row_.push_back(block.cells(i, column));
  range_.add(targets_of_row_);
}

bool Scanner::inputs_are_bytes(std::span<const double> row) const {
  for (std::size_t j = 0; j < row.size(); ++j) {
    const bool byte = row[j] >= 0 && row[j] <= 255 && row[j] == std::floor(row[j]);
    if (!byte && role_of(static_cast<Index>(j)) == Role::number) return false;
  }
  return true;
}

Index block_rows(Index columns) {
  constexpr Index kMostRows = 2048, kMostCells = 1 << 20;
  return std::clamp<Index>(kMostCells / std::max<Index>(columns, 1), 1, kMostRows);
}

ScanResult scan(Reader& reader, const DataOptions& options, const std::string& name, rng::Key key,
                const Progress& progress) {
  Scanner scanner(reader, options, name, key);
  scanner.read_all(progress);
  scanner.refuse_bad_columns();
  const auto forms = scanner.found_forms();
  auto mixed = scanner.mixed_columns();
  for (const auto& [column, form] : forms) mixed.erase(column);
  const auto codes = scanner.code_columns();
  if (forms.empty() && mixed.empty() && codes.empty()) return scanner.finish();
  Scanner again(reader, options, name, key, scanner.guard_for_next_pass());
  again.know(mixed, codes, forms);
  again.read_all(progress);
  again.refuse_bad_columns();
  return again.finish();
}

}  // namespace kerf::detail::io
