// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/scan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "kerf/core/hash.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/io/class_names.h"
#include "kerf/io/table/column_tally.h"
#include "kerf/io/table/encoder.h"
#include "kerf/io/table/raw_sample.h"
#include "kerf/io/table/target_tally.h"

namespace kerf::detail::io {
namespace {

class Scanner {
 public:
  Scanner(Reader& reader, const DataOptions& options, const std::string& name, rng::Key key,
          PassGuard guard = {})
      : reader_(reader),
        guard_(std::move(guard)),
        schema_(reader.schema()),
        options_(options),
        name_(name),
        key_(key),
        encoding_(plan_encoding(schema_, options, name)),
        columns_(schema_.sparse_columns > 0 ? schema_.sparse_columns + 1 : schema_.columns,
                 options.memory_limit),
        targets_(options.task),
        class_rows_(schema_.classes.size()),
        sample_(key) {
    for (std::size_t j = 0; j < encoding_.columns.size(); ++j)
      if (encoding_.columns[j].role == Role::weight) weight_column_ = static_cast<Index>(j);
  }

  void read_all(const Progress& progress) {
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
      add(block);
      require_sample();
      const double share = reader_.progress();
      report(progress, "reading", read,
             share > 0 ? static_cast<Index>(static_cast<double>(read) / share) : 0);
    }
    reader_.rewind();
    block.clear();
    guard_.add(block, name_);
    KERF_REQUIRE(rows_ + dropped_rows_ > 0, data, "{} has {}", name_,
                 schema_.names.empty() ? "no rows" : "a header but no rows");
    KERF_REQUIRE(rows_ > 0, data, "{}: every one of the {} rows has a missing cell", name_,
                 dropped_rows_);
    KERF_REQUIRE(weight_ > 0 && std::isfinite(weight_), data,
                 "{}: the weights sum to {}; some must be above 0", name_, weight_);
  }

  /// Columns of words in which numbers occur too: their levels are known after another pass only.
  std::set<Index> mixed_columns() const {
    std::set<Index> mixed;
    for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
      const auto column = static_cast<Index>(j);
      if (encoding_.columns[j].role == Role::number && is_category(column) &&
          columns_.numbers(column) > 0)
        mixed.insert(column);
    }
    return mixed;
  }
  void know_mixed(std::set<Index> mixed) {
    mixed_ = std::move(mixed);
    reader_.keep_words({mixed_.begin(), mixed_.end()});
  }
  PassGuard guard_for_next_pass() const {
    PassGuard guard = guard_;
    guard.rewind();
    return guard;
  }

  ScanResult finish();

 private:
  bool is_category(Index column) const {
    return mixed_.contains(column) || columns_.words(column) > columns_.numbers(column);
  }
  Role role_of(Index column) const {
    if (column == kLabelColumn) return encoding_.labelled ? Role::target : Role::dropped;
    return encoding_.kind == SourceKind::table ? encoding_.columns[column].role : Role::number;
  }
  std::string label_of(Index column) const {
    if (column == kLabelColumn) return "label";
    return column_label(encoding_.kind == SourceKind::table ? encoding_.columns[column].name : "",
                        column);
  }

  void add(RawBlock& block);
  void require_sample() const;
  bool keeps(const RawBlock& block, std::span<const OddCell> odd);
  void add_targets(const RawBlock& block, Index i, std::span<const OddCell> odd);
  void note_range(const RawBlock& block, Index i);
  bool inputs_are_bytes(std::span<const double> row) const;
  void finish_table(ScanResult& result);
  void note_words(Index column, const std::string& label, std::vector<std::string>& notes) const;
  void finish_targets(ScanResult& result) const;
  void finish_classes(DataSummary& summary) const;
  void finish_image(DataSummary& summary) const;

  Reader& reader_;
  PassGuard guard_;
  const Schema& schema_;
  const DataOptions& options_;
  const std::string& name_;
  rng::Key key_;
  Encoding encoding_;
  ColumnTally columns_;
  TargetTally targets_;
  std::vector<double> class_rows_;  // of Schema::classes
  TargetRange range_;
  std::vector<double> targets_of_row_;
  RawSample sample_;
  std::set<Index> mixed_;
  Index weight_column_ = -1;
  Index rows_ = 0, dropped_rows_ = 0, missing_cells_ = 0;
  double weight_ = 0;
  bool bytes_ = true;  // every input is a whole number 0 .. 255; looked at for --image only
};

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
    for (const OddCell& cell : odd)
      if (cell.is_number)
        columns_.add_level(cell.column, number_name(block.text(cell)), options_.max_levels);
      else if (role_of(cell.column) == Role::number)
        columns_.add_odd(block, cell, options_.max_levels);
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

/// Whether a row stays; Error for a missing cell that may not be missing.
bool Scanner::keeps(const RawBlock& block, std::span<const OddCell> odd) {
  for (const OddCell& cell : odd) {
    const Role role = role_of(cell.column);
    if (role == Role::dropped || !block.is_missing(cell)) continue;
    const bool input = role == Role::number;
    if (options_.missing == Missing::drop) return false;
    if (input && options_.missing == Missing::mean) {
      ++missing_cells_;
      continue;
    }
    fail(ErrorKind::data, "{}: the value of {} is missing; {}", block.where(cell),
         label_of(cell.column),
         input ? spell("missing", "mean") + " or " + spell("missing", "drop") +
                     " says what to do about that"
               : spell("missing", "drop") + " leaves such rows out");
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
      KERF_REQUIRE(role_of(cell.column) != Role::target, data,
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

/// Decides which columns are categories, and gathers means.
void Scanner::finish_table(ScanResult& result) {
  DataSummary& summary = result.summary;
  encoding_.inputs = 0;
  const auto n = static_cast<double>(rows_);
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    EncodedColumn& column = encoding_.columns[j];
    const auto at = static_cast<Index>(j);
    if (column.role != Role::number) continue;
    const std::string label = label_of(at);
    KERF_REQUIRE(columns_.missing(at) < rows_, data,
                 "{}: all values of {} are missing; leave it out with {}", name_, label,
                 spell("drop"));
    if (!is_category(at)) {
      KERF_REQUIRE(columns_.words(at) == 0, data, "{} in {}, where the other cells are numbers{}",
                   columns_.first_word(at), label,
                   columns_.decimal_commas(at) ? "; kerf reads a decimal point, not a comma" : "");
      const double mean = columns_.mean(at);
      if (options_.missing != Missing::error) column.mean = mean;
      summary.mean.push_back(mean);
      summary.mean_square.push_back(columns_.mean_square(at));
      summary.least.push_back(columns_.least(at));
      summary.greatest.push_back(columns_.greatest(at));
      result.variance.push_back(columns_.variance(at));
      ++encoding_.inputs;
      continue;
    }
    const auto& levels = columns_.levels(at);
    KERF_REQUIRE(static_cast<Index>(levels.size()) <= options_.max_levels, data,
                 "{}: {} has more than {} different words{}; leave it out with {}, or raise {}",
                 name_, label, options_.max_levels,
                 columns_.decimal_commas(at)
                     ? ", which look like numbers with a decimal comma (kerf reads a point)"
                     : "",
                 spell("drop"), spell("max-levels"));
    note_words(at, label, result.notes);
    column.role = Role::category;
    for (const auto& [level, count] : levels) column.levels.push_back(level);
    std::ranges::sort(column.levels, name_before);
    for (const std::string& level : column.levels) {
      summary.mean.push_back(static_cast<double>(levels.at(level)) / n);
      summary.mean_square.push_back(summary.mean.back());
      summary.least.push_back(0);
      summary.greatest.push_back(1);
      result.variance.push_back(summary.mean.back() * (1 - summary.mean.back()));
    }
    encoding_.inputs += static_cast<Index>(levels.size());
  }
}

/// The first two levels that are one number.
std::optional<std::pair<std::string, std::string>> equal_numbers(
    const std::map<std::string, Index>& levels) {
  std::map<std::string, std::string> seen;
  for (const auto& [level, count] : levels) {
    const std::string value = exact_number(level);
    if (value.empty()) continue;
    const auto [same, is_new] = seen.emplace(value, level);
    if (!is_new) return std::pair(same->second, level);
  }
  return std::nullopt;
}

/// Words are one input each: says where that is hardly what was meant.
void Scanner::note_words(Index column, const std::string& label,
                         std::vector<std::string>& notes) const {
  if (const auto equal = equal_numbers(columns_.levels(column)))
    notes.push_back(
        fmt::format("{} has {} and {}, equal numbers written differently: taken for "
                    "two words",
                    label, quoted(equal->first), quoted(equal->second)));
  constexpr Index kFewestRows = 20;
  const auto words = static_cast<Index>(columns_.levels(column).size());
  if (columns_.decimal_commas(column))
    notes.push_back(fmt::format(
        "{} looks like numbers with a decimal comma: its {} words are taken for classes, and kerf "
        "reads a decimal point",
        label, words));
  else if (rows_ >= kFewestRows && 10 * words >= 9 * rows_)
    notes.push_back(fmt::format(
        "{} has {} different words in {} rows, each an input of its own: {} leaves it out", label,
        words, rows_, spell("drop")));
}

void Scanner::finish_image(DataSummary& summary) const {
  const ImageShape& image = encoding_.image;
  KERF_REQUIRE(image.height * image.width * image.channels == encoding_.inputs, usage,
               "{} has {} values, but the rows of {} have {}",
               spell("image", fmt::format("{}x{}x{}", image.height, image.width, image.channels)),
               image.height * image.width * image.channels, name_, encoding_.inputs);
  summary.image = image;
}

void Scanner::finish_targets(ScanResult& result) const {
  DataSummary& summary = result.summary;
  summary.task_reason = "there is no target";
  if (encoding_.target_count() > 1) {
    KERF_REQUIRE(options_.task != DataOptions::TaskChoice::classification, usage,
                 "classification wants one target, not {}", encoding_.target_count());
    summary.task_reason = "there are several targets";
  } else if (encoding_.target_count() == 1 && !schema_.classes.empty()) {
    finish_classes(summary);
  } else if (encoding_.target_count() == 1) {
    const Index column = encoding_.labelled ? kLabelColumn : encoding_.targets[0];
    targets_.decide(rows_, schema_.bytes, label_of(column), summary);
    if (targets_.decimal_commas())
      result.notes.push_back(fmt::format(
          "the target {} looks like numbers with a decimal comma, taken for classes: kerf reads a "
          "decimal point",
          label_of(column)));
    if (summary.task == Task::classification)
      if (std::string note = targets_.spelling_note(label_of(column)); !note.empty())
        result.notes.push_back(std::move(note));
  }
}

/// Classes that the source has named, in the order of all classes.
void Scanner::finish_classes(DataSummary& summary) const {
  std::vector<std::size_t> order(schema_.classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, name_before, [&](std::size_t k) { return schema_.classes[k]; });
  summary.task = Task::classification;
  summary.task_reason = "as asked for";
  for (const std::size_t k : order) {
    summary.classes.push_back(schema_.classes[k]);
    summary.class_rows.push_back(class_rows_[k]);
  }
}

ScanResult Scanner::finish() {
  ScanResult result;
  DataSummary& summary = result.summary;
  summary.rows = rows_;
  summary.weight = weight_;
  if (encoding_.kind == SourceKind::table) {
    finish_table(result);
  } else {
    encoding_.first_index = schema_.sparse ? std::min<Index>(columns_.smallest_index(), 1) : 1;
    const Index first = schema_.sparse ? encoding_.first_index : 0;
    KERF_REQUIRE(columns_.columns() > first, data, "{} has no values at all", name_);
    encoding_.inputs = columns_.columns() - first;
    for (Index j = first; j < columns_.columns(); ++j) {
      KERF_REQUIRE(columns_.words(j) == 0, data, "{}, where a finite number is wanted",
                   columns_.first_word(j));
      KERF_REQUIRE(columns_.missing(j) < rows_, data, "{}: all values of {} are missing", name_,
                   label_of(j));
      summary.mean.push_back(columns_.mean(j));
      summary.mean_square.push_back(columns_.mean_square(j));
      result.variance.push_back(columns_.variance(j));
      if (schema_.bytes) continue;
      summary.least.push_back(columns_.least(j));
      summary.greatest.push_back(columns_.greatest(j));
    }
  }
  if (encoding_.kind == SourceKind::pixels && options_.missing != Missing::error)
    encoding_.means = summary.mean;
  finish_targets(result);
  if (summary.task == Task::regression) {
    summary.target_scale = range_.scales();
    summary.target_deviation = range_.deviations();
  }
  encoding_.task = summary.task;
  encoding_.classes = summary.classes;
  if (!options_.image.empty() && !schema_.bytes) encoding_.is_bytes = bytes_;
  if (encoding_.image.present()) finish_image(summary);
  summary.cols = encoding_.inputs;
  summary.is_sparse = schema_.sparse;
  summary.is_bytes = encoding_.is_bytes;
  summary.targets = encoding_.target_count();
  summary.one_hot = encoding_.one_hot();
  summary.names = encoding_.input_names();
  Encoder encoder(encoding_, schema_, name_, Targets::optional);
  result.raw_sample = sample_.finish(schema_);
  encoder.encode(result.raw_sample, summary.sample);
  // Other columns or classes of the same file are another data set.
  const std::string columns = encoding_.to_json();
  summary.fingerprint =
      mix_bits(guard_.value() ^ hash_values(std::span(columns.data(), columns.size())));
  result.guard = guard_for_next_pass();
  result.encoding = std::move(encoding_);
  result.dropped_rows = dropped_rows_;
  result.missing_cells = missing_cells_;
  return result;
}

}  // namespace

Index block_rows(Index columns) {
  constexpr Index kMostRows = 2048, kMostCells = 1 << 20;
  return std::clamp<Index>(kMostCells / std::max<Index>(columns, 1), 1, kMostRows);
}

ScanResult scan(Reader& reader, const DataOptions& options, const std::string& name, rng::Key key,
                const Progress& progress) {
  Scanner scanner(reader, options, name, key);
  scanner.read_all(progress);
  const auto mixed = scanner.mixed_columns();
  if (mixed.empty()) return scanner.finish();
  Scanner again(reader, options, name, key, scanner.guard_for_next_pass());
  again.know_mixed(mixed);
  again.read_all(progress);
  return again.finish();
}

}  // namespace kerf::detail::io
