// Columns that cannot be taken as they are: all of them in one message, each with what mends it.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/io/table/scanner.h"

namespace kerf::detail::io {
namespace {

constexpr std::size_t kMostNamed = 8;

std::string places(Index count) { return count == 1 ? "" : fmt::format(" ({} such cells)", count); }

}  // namespace

std::string Scanner::mend(const char* option, Index column) const {
  return spell(option, column_word(encoding_.columns, column));
}

bool Scanner::may_have_form(Index column) const {
  const Role role = role_of(column);
  if (encoding_.kind != SourceKind::table || column == kLabelColumn) return false;
  if (declared_.contains(column) || forms_.contains(column)) return false;
  return role == Role::number ||
         (role == Role::target && options_.task != DataOptions::TaskChoice::classification);
}

FormTally::Result Scanner::form_of(Index column) const {
  return columns_.form(column).decide(columns_.numbers(column), decimal_of(options_),
                                      options_.dates);
}

Scanner::Forms Scanner::found_forms() const {
  Forms forms;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const auto column = static_cast<Index>(j);
    if (!may_have_form(column)) continue;
    const FormTally::Result found = form_of(column);
    if (found.form.kind != ColumnForm::Kind::plain) forms.emplace(column, found.form);
  }
  return forms;
}

void Scanner::refuse_bad_columns() const {
  std::vector<std::string> bad;
  bad_missing(bad);
  bad_decimals(bad);
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j)
    if (std::string problem = bad_column(static_cast<Index>(j)); !problem.empty())
      bad.push_back(std::move(problem));
  if (encoding_.labelled)
    if (std::string problem = bad_target(kLabelColumn); !problem.empty())
      bad.push_back(std::move(problem));
  if (bad.empty()) return;
  if (bad.size() == 1) fail(ErrorKind::data, "{}", bad[0]);
  const auto named = std::min(bad.size(), kMostNamed);
  std::string all;
  for (std::size_t k = 0; k < named; ++k)
    all += fmt::format("{}({}) {}", k ? "; " : "", k + 1, bad[k]);
  if (named < bad.size()) all += fmt::format("; and {} more", bad.size() - named);
  fail(ErrorKind::data, "{} things are to be said about {}: {}", bad.size(), name_, all);
}

/// Missing cells where nothing says what to do about them.
void Scanner::bad_missing(std::vector<std::string>& bad) const {
  std::string first, others;
  std::size_t columns = 0;
  for (const auto& [column, missing] : missing_) {
    const bool input = role_of(column) == Role::number;
    if (input && columns_.missing(column) >= rows_) continue;  // that is another thing to say
    const std::string name = label_of(column) + places(missing.cells);
    const std::string word = missing.text.empty() ? "" : fmt::format(" ({})", quoted(missing.text));
    if (!input) {
      bad.push_back(fmt::format("{}: the value of {} is missing{}; {} leaves such rows out",
                                missing.first, name, word, spell("missing", "drop")));
      if (!word.empty()) bad.back() += fmt::format(", {} takes it for a word", spell("na", "="));
    } else if (columns++ == 0) {
      first = fmt::format("{}: the value of {} is missing{}", missing.first, name, word);
    } else if (columns <= kMostNamed) {
      others += fmt::format("{}{}", others.empty() ? ", and of " : ", ", name);
    }
  }
  if (columns == 0) return;
  if (columns > kMostNamed) others += fmt::format(" and {} more columns", columns - kMostNamed);
  const std::string ways[] = {"mean", "indicator", "drop"};
  bad.push_back(
      fmt::format("{}{}; {} says what to do about that", first, others, spell("missing", ways)));
}

/// Numbers of which only the decimal mark says what they are: one option for all of them.
void Scanner::bad_decimals(std::vector<std::string>& bad) const {
  std::vector<Index> columns;
  bool comma = false;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const auto column = static_cast<Index>(j);
    if (!may_have_form(column)) continue;
    const FormTally::Result found = form_of(column);
    if (!found.decimal) continue;
    if (found.comma && !comma)
      columns.insert(columns.begin(), column);
    else
      columns.push_back(column);
    comma = comma || found.comma;
  }
  if (columns.empty()) return;
  const std::string others =
      columns.size() == 1 ? "" : fmt::format(" (and cells of {} more columns)", columns.size() - 1);
  const std::string what =
      comma ? fmt::format("has a decimal comma; {} reads it", spell("decimal", ","))
            : fmt::format("may be thousands or a decimal comma; {} or {} says which",
                          spell("decimal", "."), spell("decimal", ","));
  bad.push_back(fmt::format("{} in {}{} {}", columns_.first_word(columns[0]), label_of(columns[0]),
                            others, what));
}

/// What is wrong with a column besides missing cells; "": nothing.
std::string Scanner::bad_column(Index column) const {
  const Role role = role_of(column);
  if (role == Role::target) return bad_target(column);
  if (role != Role::number) return "";
  if (columns_.missing(column) >= rows_ && rows_ > 0)
    return fmt::format("{}: all values of {} are missing; leave it out with {}", name_,
                       label_of(column), mend("drop", column));
  return columns_.words(column) > 0 || mixed_.contains(column) ? bad_words(column) : "";
}

/// Words that are nearly dates or amounts.
std::string Scanner::bad_form(Index column, const FormTally::Result& found) const {
  const std::string label = label_of(column);
  const std::string& first = columns_.first_word(column);
  if (found.units)
    return fmt::format("{} in {} and other cells are in different units; make them one, or {}",
                       first, label, mend("drop", column));
  if (found.mixed)
    return fmt::format(
        "{} in {} is a date or a time, but other cells are of another kind (numbers, another "
        "order, with or without zone); make them one, {}, or {}",
        first, label, mend("categorical", column), mend("drop", column));
  if (found.order && options_.dates != DateOrder::automatic)
    return fmt::format("the dates of {} (the first: {}) do not fit {}; leave it out, or {}", label,
                       first, spell("dates", name_of(options_.dates)), mend("drop", column));
  if (found.order)
    return fmt::format("{} in {} is a date, but no cell tells day from month; {} or {} does", first,
                       label, spell("dates", "dmy"), spell("dates", "mdy"));
  return "";
}

std::string Scanner::bad_words(Index column) const {
  const std::string label = label_of(column);
  const std::string& first = columns_.first_word(column);
  if (may_have_form(column)) {
    const FormTally::Result found = form_of(column);
    // Of numbers bad_decimals() tells.
    if (found.decimal || found.form.kind != ColumnForm::Kind::plain) return "";
    if (std::string problem = bad_form(column, found); !problem.empty()) return problem;
  }
  if (!is_category(column)) {
    const std::string& text = columns_.first_text(column);
    const bool plain =
        text.find(',') == std::string::npos && quoted(text) == fmt::format("'{}'", text);
    const std::string na = plain ? spell("na", argument(text)) : spell("na");
    return fmt::format(
        "{} in {}, where the other cells are numbers; {} if it means a missing value, {} if the "
        "numbers are words, or {}",
        first, label,
        options_.missing == Missing::error ? fmt::format("{} {}", na, spell("missing", "mean"))
                                           : na,
        mend("categorical", column), mend("drop", column));
  }
  if (static_cast<Index>(columns_.levels(column).size()) <= options_.max_levels) return "";
  return fmt::format("{}: {} has more than {} different words; leave it out with {}, or raise {}",
                     name_, label, options_.max_levels, mend("drop", column), spell("max-levels"));
}

std::string Scanner::bad_target(Index column) const {
  const bool is_label = column == kLabelColumn;
  const bool looked_at =
      is_label ? options_.task != DataOptions::TaskChoice::classification : may_have_form(column);
  if (columns_.words(column) == 0 || !looked_at) return "";
  const std::string label = label_of(column);
  const std::string& first = columns_.first_word(column);
  const std::string classes =
      fmt::format("{} takes them for classes", spell("task", "classification"));
  const FormTally::Result found = form_of(column);
  if (found.form.kind == ColumnForm::Kind::moment || found.order || found.mixed)
    return fmt::format("{}: the target {} holds dates or times; {} names another column, {}", first,
                       label, spell("target"), classes);
  if (is_label && (found.decimal || found.form.kind == ColumnForm::Kind::amount))
    return fmt::format("{} in the labels is no plain number; {} reads decimal commas, {}", first,
                       spell("decimal", ","), classes);
  if (found.units)
    return fmt::format("{} in the target {} and other cells are in different units; make them one",
                       first, label);
  if (encoding_.target_count() > 1 && found.form.kind == ColumnForm::Kind::plain)
    return fmt::format("{}: the target {} should be a finite number", first, label);
  return "";
}

}  // namespace kerf::detail::io
