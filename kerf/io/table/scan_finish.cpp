// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "kerf/core/hash.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/io/class_names.h"
#include "kerf/io/table/scanner.h"

namespace kerf::detail::io {
namespace {

/// What to know of numbers among the words of a column: the first two that are one word, the first two
/// that are one number but not one word.
void note_equal_numbers(const std::string& column, const ColumnTally::Levels& levels,
                        std::vector<std::string>& notes) {
  const auto one =
      std::ranges::find_if(levels, [](const auto& l) { return !l.second.other.empty(); });
  if (one != levels.end())
    notes.push_back(fmt::format("{} has {} and {}, which are one number: taken for one word",
                                column, quoted(std::min(one->second.text, one->second.other)),
                                quoted(std::max(one->second.text, one->second.other))));
  std::map<std::string, std::string> seen;
  for (const auto& [name, level] : levels) {
    const std::string value = exact_number(name);
    if (value.empty()) continue;
    const auto [same, is_new] = seen.emplace(value, name);
    if (is_new) continue;
    notes.push_back(
        fmt::format("{} has {} and {}, equal numbers written differently: taken for "
                    "two words",
                    column, quoted(same->second), quoted(name)));
    return;
  }
}

/// Words that mean a missing cell, but may be the name of a class.
bool leaves_doubt(const std::string& word) {
  constexpr std::string_view kWords[] = {"-", ".", "none", "None", "NONE"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

constexpr double kHeldWhole = 9007199254740992;  // 2^53

/// Whether the column is a whole number and the number of the row, and no more.
bool counts_rows(const RawBlock& sample, Index column) {
  const auto row_of = [&](Index i) { return static_cast<double>(sample.origin_of(i).row); };
  const double first = sample.cells(0, column) - row_of(0);
  if (first != std::floor(first)) return false;
  for (Index i = 1; i < sample.rows; ++i)
    if (sample.origin_of(i).file != sample.origin_of(0).file ||
        sample.cells(i, column) - row_of(i) != first)
      return false;
  return true;
}

bool all_different(const RawBlock& sample, Index column) {
  std::set<double> seen;
  for (Index i = 0; i < sample.rows; ++i) {
    const double value = sample.cells(i, column);
    if (value != std::floor(value) || std::abs(value) >= kHeldWhole) return false;
    if (!seen.insert(value).second) return false;
  }
  return true;
}

/// id, ID, user_id, userId, index, key, uuid, "" and what pandas calls "".
bool is_id_name(const std::string& name) {
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto ends_with = [&](std::string_view end) { return lower.ends_with(end); };
  const bool camel = name.size() > 2 && (name.ends_with("Id") || name.ends_with("ID"));
  return lower == "id" || lower == "index" || lower == "key" || lower == "uuid" ||
         lower == "rownames" || lower == "row" || lower.starts_with("unnamed: ") || camel ||
         ends_with("_id") || ends_with(" id") || ends_with("-id") || ends_with(".id") ||
         ends_with("_key");
}

}  // namespace

/// Decides which columns are categories, and gathers means.
void Scanner::finish_table(ScanResult& result) {
  encoding_.inputs = 0;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    EncodedColumn& column = encoding_.columns[j];
    const auto at = static_cast<Index>(j);
    if (const auto form = forms_.find(at); form != forms_.end()) column.form = form->second;
    if (column.form.kind == ColumnForm::Kind::amount)
      result.notes.push_back(fmt::format(
          "{}{} {}: read as numbers", column.role == Role::target ? "the target " : "",
          label_of(at),
          column.form.unit.empty() ? "has marks between thousands"
                                   : fmt::format("holds amounts in {}", column.form.unit)));
    if (column.role != Role::number) continue;
    if (is_moment(at))
      finish_moment(at, result);
    else if (is_category(at))
      finish_category(at, result);
    else
      finish_number(at, result);
    finish_indicator(at, result);
    encoding_.inputs += column.inputs();
  }
}

void Scanner::finish_number(Index at, ScanResult& result) {
  DataSummary& summary = result.summary;
  const double mean = columns_.mean(at);
  if (options_.missing != Missing::error) encoding_.columns[at].mean = mean;
  summary.mean.push_back(mean);
  summary.mean_square.push_back(columns_.mean_square(at));
  summary.least.push_back(columns_.least(at));
  summary.greatest.push_back(columns_.greatest(at));
  result.variance.push_back(columns_.variance(at));
  if (const auto merged = merged_.find(at); merged != merged_.end())
    if (std::string note = merged->second.note(label_of(at)); !note.empty())
      result.notes.push_back(std::move(note));
}

void Scanner::finish_category(Index at, ScanResult& result) {
  EncodedColumn& column = encoding_.columns[at];
  DataSummary& summary = result.summary;
  const auto& levels = columns_.levels(at);
  note_words(at, label_of(at), result.notes);
  column.role = Role::category;
  for (const auto& [name, level] : levels) column.levels.push_back(name);
  std::ranges::sort(column.levels, name_before);
  for (const std::string& level : column.levels) {
    summary.mean.push_back(static_cast<double>(levels.at(level).count) /
                           static_cast<double>(rows_));
    summary.mean_square.push_back(summary.mean.back());
    summary.least.push_back(0);
    summary.greatest.push_back(1);
    result.variance.push_back(summary.mean.back() * (1 - summary.mean.back()));
  }
}

/// Parts that never vary are left out, unless that is all of them.
void Scanner::finish_moment(Index at, ScanResult& result) {
  EncodedColumn& column = encoding_.columns[at];
  DataSummary& summary = result.summary;
  const MomentTally& moments = moments_.at(at);
  column.role = Role::moment;
  for (const MomentPart part : kMomentParts)
    if (moments.part(part).varies() && (column.form.has_date || part == MomentPart::hour))
      column.parts.push_back(part);
  if (column.parts.empty())
    column.parts = {column.form.has_date ? MomentPart::day : MomentPart::hour};
  column.origin = column.form.has_date ? std::floor(moments.part(MomentPart::day).least) : 0;
  const auto known = static_cast<double>(moments.count()) / static_cast<double>(rows_);
  std::string names;
  for (const MomentPart part : column.parts) {
    MomentTally::Part values = moments.part(part);
    const double zero = part == MomentPart::day ? column.origin : 0;
    const double mean = values.mean - zero;
    if (options_.missing != Missing::error) column.part_means.push_back(mean);
    summary.mean.push_back(mean);
    // The mean stands for missing ones, which do not vary.
    summary.mean_square.push_back(mean * mean + values.variance * known);
    summary.least.push_back(values.least - zero);
    summary.greatest.push_back(values.greatest - zero);
    result.variance.push_back(values.variance * known);
    names += (names.empty() ? "" : ", ") + std::string(name_of(part));
  }
  result.notes.push_back(fmt::format("{} holds {}: taken for numbers ({})", label_of(at),
                                     column.form.has_date ? "dates" : "times of day", names));
}

/// An input more that says where a cell is missing.
void Scanner::finish_indicator(Index at, ScanResult& result) {
  const Index missing = columns_.missing(at);
  if (options_.missing != Missing::indicator || missing == 0) return;
  encoding_.columns[at].indicator = true;
  const double share = static_cast<double>(missing) / static_cast<double>(rows_);
  result.summary.mean.push_back(share);
  result.summary.mean_square.push_back(share);
  result.summary.least.push_back(0);
  result.summary.greatest.push_back(1);
  result.variance.push_back(share * (1 - share));
}

/// Sparse rows and pixels: every column is a number.
void Scanner::finish_plain(ScanResult& result) {
  DataSummary& summary = result.summary;
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

/// Words are one input each: says where that is hardly what was meant.
void Scanner::note_words(Index column, const std::string& label,
                         std::vector<std::string>& notes) const {
  note_equal_numbers(label, columns_.levels(column), notes);
  constexpr Index kFewestRows = 20;
  const auto words = static_cast<Index>(columns_.levels(column).size());
  if (rows_ >= kFewestRows && 10 * words >= 9 * rows_)
    notes.push_back(fmt::format(
        "{} has {} different words in {} rows, each an input of its own: an ID? {} leaves it out",
        label, words, rows_, mend("drop", column)));
}

/// Numbers that count the rows, or are all different under the name of an ID.
void Scanner::note_ids(ScanResult& result) const {
  constexpr Index kFewestRows = 20;
  const RawBlock& sample = result.raw_sample;
  const auto inputs = std::ranges::count_if(encoding_.columns, &EncodedColumn::is_input);
  if (sample.rows < kFewestRows || inputs < 2 || encoding_.kind != SourceKind::table) return;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const auto column = static_cast<Index>(j);
    if (encoding_.columns[j].role != Role::number || forms_.contains(column)) continue;
    const bool named = is_id_name(encoding_.columns[j].name);
    // Arrays hold what somebody put there; files what some program wrote.
    const bool counts = (named || !schema_.typed) && counts_rows(sample, column);
    if (!counts && !(named && all_different(sample, column))) continue;
    result.notes.push_back(fmt::format(
        "{} {}: an ID? {} leaves it out", label_of(column),
        counts ? "counts the rows" : "has another number in each row", mend("drop", column)));
  }
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
    if (forms_.contains(column))
      summary.task_reason = fmt::format(
          "the target {} holds {}", label_of(column),
          forms_.at(column).unit.empty() ? "numbers" : "numbers in " + forms_.at(column).unit);
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
    finish_plain(result);
  }
  if (encoding_.kind == SourceKind::pixels && options_.missing != Missing::error)
    encoding_.means = summary.mean;
  finish_targets(result);
  for (const auto& [word, rows] : missing_targets_)
    if (leaves_doubt(word))
      result.notes.push_back(
          fmt::format("{} rows whose target is {} are left out as missing; {} takes it for a word",
                      rows, quoted(word), spell("na", "=")));
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
  note_ids(result);
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

}  // namespace kerf::detail::io
