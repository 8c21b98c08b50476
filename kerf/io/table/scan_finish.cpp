// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

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

}  // namespace

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
      if (const auto merged = merged_.find(at); merged != merged_.end())
        if (std::string note = merged->second.note(label); !note.empty())
          result.notes.push_back(std::move(note));
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
    for (const auto& [name, level] : levels) column.levels.push_back(name);
    std::ranges::sort(column.levels, name_before);
    for (const std::string& level : column.levels) {
      summary.mean.push_back(static_cast<double>(levels.at(level).count) / n);
      summary.mean_square.push_back(summary.mean.back());
      summary.least.push_back(0);
      summary.greatest.push_back(1);
      result.variance.push_back(summary.mean.back() * (1 - summary.mean.back()));
    }
    encoding_.inputs += static_cast<Index>(levels.size());
  }
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
    finish_plain(result);
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

}  // namespace kerf::detail::io
