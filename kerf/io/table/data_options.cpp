// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/data_options.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "kerf/core/require.h"
#include "kerf/core/rows/image_text.h"
#include "kerf/core/spelling.h"

namespace kerf::detail {
namespace {

std::optional<Index> whole_number(std::string_view text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part(text.data() + begin, end - begin);
    const std::size_t first = part.find_first_not_of(' ');
    if (first != std::string_view::npos)
      parts.emplace_back(part.substr(first, part.find_last_not_of(' ') - first + 1));
    begin = end + 1;
  }
  return parts;
}

/// Finds columns by name or number.
class Finder {
 public:
  Finder(const io::Schema& schema, const std::string& source) : schema_(schema), source_(source) {}

  Index count() const { return schema_.columns; }
  bool is_name(const std::string& word) const {
    return std::ranges::find(schema_.names, word) != schema_.names.end();
  }

  std::optional<Index> named(std::string_view name) const {
    const auto found = std::ranges::find(schema_.names, name);
    if (found == schema_.names.end()) return std::nullopt;
    const auto other = std::find(found + 1, schema_.names.end(), name);
    KERF_REQUIRE(other == schema_.names.end(), usage,
                 "{}: columns {} and {} are both called '{}': name them by their numbers", source_,
                 found - schema_.names.begin(), other - schema_.names.begin(), name);
    return found - schema_.names.begin();
  }

  /// A name wins over a number; negative numbers count from the end.
  Index column(const std::string& word, const char* option) const {
    if (const auto found = named(word)) return *found;
    const auto number = whole_number(word);
    if (number && *number >= -count() && *number < count())
      return *number < 0 ? *number + count() : *number;
    if (number)
      fail(ErrorKind::usage, "{}: {} has {} columns, 0 to {}", spell(option, word), source_,
           count(), count() - 1);
    fail(ErrorKind::usage, "{} '{}': {} has no such column{}", spell(option), word, source_,
         schema_.names.empty() ? " (it has no header, so columns have numbers only)"
                               : did_you_mean(word, schema_.names));
  }

  /// A column, or a range of numbers such as 3-7.
  std::vector<Index> columns(const std::string& word, const char* option) const {
    const std::size_t dash = word.find('-', 1);
    if (named(word) || dash == std::string::npos) return {column(word, option)};
    const auto first = whole_number(std::string_view(word).substr(0, dash));
    const auto last = whole_number(std::string_view(word).substr(dash + 1));
    if (!first || !last) return {column(word, option)};
    KERF_REQUIRE(*first >= 0 && *first <= *last && *last < count(), usage,
                 "{}: {} has columns 0 to {}", spell(option, word), source_, count() - 1);
    std::vector<Index> result;
    for (Index j = *first; j <= *last; ++j) result.push_back(j);
    return result;
  }

 private:
  const io::Schema& schema_;
  const std::string& source_;
};

void plan_targets(Encoding& encoding, const Finder& finder, const DataOptions& options,
                  const std::string& source) {
  if (options.target == "last" || options.target == "first") {
    std::vector<Index> free;
    for (std::size_t j = 0; j < encoding.columns.size(); ++j)
      if (encoding.columns[j].is_input()) free.push_back(static_cast<Index>(j));
    KERF_REQUIRE(!free.empty(), data, "{}: no column is left for the target", source);
    encoding.targets = {options.target == "last" ? free.back() : free.front()};
  } else if (const auto named = finder.named(options.target)) {
    encoding.targets = {*named};  // a name may contain a comma
  } else {
    for (const std::string& word : split(options.target))
      encoding.targets.push_back(finder.column(word, "target"));
  }
  KERF_REQUIRE(!encoding.targets.empty(), usage, "{} is empty", spell("target"));
  for (const Index j : encoding.targets) {
    EncodedColumn& column = encoding.columns[j];
    KERF_REQUIRE(column.is_input(), usage, "{}: {} is given twice, or dropped, or the weights",
                 spell("target"), column_label(column.name, j));
    KERF_REQUIRE(column.role == Role::number, usage,
                 "{}: {} is the target; {} says that its values are classes",
                 spell("categorical", options.categorical), column_label(column.name, j),
                 spell("task", "classification"));
    column.role = Role::target;
  }
}

/// Numbers that are codes: words, as the scan will find them.
void plan_categories(Encoding& encoding, const Finder& finder, const DataOptions& options) {
  const auto add = [&](Index j) {
    Role& role = encoding.columns[j].role;
    KERF_REQUIRE(role == Role::number || role == Role::category, usage,
                 "{}: {} is dropped, or the weights", spell("categorical", options.categorical),
                 column_label(encoding.columns[j].name, j));
    role = Role::category;
  };
  if (!options.categorical.empty() && finder.is_name(options.categorical))
    return add(finder.column(options.categorical, "categorical"));  // a name may contain a comma
  for (const std::string& word : split(options.categorical))
    for (const Index j : finder.columns(word, "categorical")) add(j);
}

void plan_table(Encoding& encoding, const io::Schema& schema, const DataOptions& options,
                const std::string& source) {
  const Finder finder(schema, source);
  encoding.columns.resize(schema.columns);
  for (std::size_t j = 0; j < schema.names.size(); ++j) encoding.columns[j].name = schema.names[j];
  for (const std::string& word : split(options.drop))
    for (const Index j : finder.columns(word, "drop")) encoding.columns[j].role = Role::dropped;
  if (!options.weights.empty()) {
    const Index j = finder.column(options.weights, "weights");
    Role& role = encoding.columns[j].role;
    KERF_REQUIRE(role == Role::number, usage, "{}: that column is dropped",
                 spell("weights", options.weights));
    role = Role::weight;
  }
  plan_categories(encoding, finder, options);
  for (Index j = schema.columns - schema.targets; j < schema.columns; ++j) {
    KERF_REQUIRE(encoding.columns[j].role == Role::number, usage,
                 "{} and {} are for columns of X, and X has {}", spell("drop"),
                 spell("categorical"), schema.columns - schema.targets);
    encoding.targets.push_back(j);
    encoding.columns[j].role = Role::target;
  }
  if (options.target != "none" && !schema.labelled && schema.targets == 0)
    plan_targets(encoding, finder, options, source);
  encoding.inputs = std::ranges::count_if(encoding.columns, &EncodedColumn::is_input);
  KERF_REQUIRE(encoding.inputs > 0, data, "{}: no input column is left beside the target", source);
}

}  // namespace

void DataOptions::describe(OptionVisitor& v) {
  v.text("target", target,
         "target: last, first, none, a column name or number (0 is the first, -1 the last), or "
         "several: A,B");
  v.choice("task", task, "what the target is");
  v.text("drop", drop, "columns to leave out: names, numbers, ranges such as 3-7");
  v.text("categorical", categorical,
         "columns whose numbers are codes, one input for each: names, numbers, ranges");
  v.text("weights", weights, "column with a weight for each row");
  v.text("labels", labels, "file with one label per row");
  v.text("delimiter", delimiter, "what separates cells: auto, tab, space or one character");
  v.text("decimal", decimal,
         "decimal mark of numbers: . or , (the other one then parts thousands); auto: a point");
  v.choice("dates", dates, "order of day and month in 01/02/2024; auto: where some cell tells it");
  v.choice("header", header, "whether the first row holds column names");
  v.choice(
      "missing", missing,
      "missing cells (empty, NA, N/A, NaN, None, null, NaT, ?, -, .): error, mean of the column, "
      "drop the row, or indicator: mean, and an input that says which were missing");
  v.text("na", na, "more words or numbers that mean a missing cell: A,B; =A,B: these only");
  v.integer("rows", rows, {0, 1e15}, "read the first rows only (0: all)");
  v.text("image", image, "rows are images: HEIGHTxWIDTHxCHANNELS");
  v.integer("max-levels", max_levels, {2, 65536}, "most different words of an input column");
}

namespace io {

ReadOptions read_options_of(const DataOptions& options) {
  return {.delimiter = options.delimiter,
          .header = static_cast<ReadOptions::Header>(options.header),
          .memory_limit = options.memory_limit,
          .decimal_comma = decimal_of(options) == ','};
}

char decimal_of(const DataOptions& options) {
  const std::string& mark = options.decimal;
  if (mark == "auto" || mark.empty()) return 0;
  KERF_REQUIRE(mark == "." || mark == ",", usage, "{} is auto, a point or a comma, not '{}'",
               spell("decimal"), mark);
  return mark[0];
}

std::string column_word(const std::vector<EncodedColumn>& columns, Index column) {
  const std::string& name = columns[column].name;
  const bool plain = !name.empty() && name.find(',') == std::string::npos && name.front() != ' ' &&
                     name.back() != ' ' &&
                     std::ranges::count(columns, name, &EncodedColumn::name) == 1;
  return plain ? argument(name) : fmt::to_string(column);
}

std::string argument(const std::string& value) {
  const bool quotes = face() == Face::program &&
                      value.find_first_of(" \t\"$&|;()<>*?#\\!`[]{}~") != std::string::npos &&
                      value.find('\'') == std::string::npos;
  return quotes ? fmt::format("'{}'", value) : value;
}

Index find_column(const Schema& schema, const std::string& word, const char* option,
                  const std::string& source) {
  return Finder(schema, source).column(word, option);
}

Encoding with_target(const Encoding& encoding, const Schema& schema, const std::string& target,
                     const std::string& name) {
  KERF_REQUIRE(encoding.targets.size() == 1 && !schema.labelled, usage,
               "{}: the rows of the model, or those of {}, have no target column of which there "
               "could be another",
               spell("target", target), name);
  const Finder finder(schema, name);
  const Index place = target == "first"  ? 0
                      : target == "last" ? schema.columns - 1
                                         : finder.column(target, "target");
  Encoding moved = encoding;
  auto& columns = moved.columns;
  EncodedColumn column = std::move(columns[encoding.targets[0]]);
  columns.erase(columns.begin() + encoding.targets[0]);
  if (!schema.names.empty() && !column.name.empty()) {
    column.name = schema.names[place];
    std::erase_if(columns, [&](const EncodedColumn& other) {
      KERF_REQUIRE(other.name != column.name || other.role == Role::dropped, usage,
                   "{}: that column of {} is an input of the model, or its weights",
                   spell("target", target), name);
      return other.name == column.name;
    });
  }
  const Index at = std::min(place, static_cast<Index>(columns.size()));
  columns.insert(columns.begin() + at, std::move(column));
  moved.targets = {at};
  return moved;
}

Encoding with_weights(const Encoding& encoding, const Schema& schema, const std::string& weights,
                      const std::string& name) {
  KERF_REQUIRE(encoding.kind == SourceKind::table, usage, "{} is for tables, and {} is none",
               spell("weights"), name);
  const Index place = Finder(schema, name).column(weights, "weights");
  Encoding weighed = encoding;
  auto& columns = weighed.columns;
  for (EncodedColumn& column : columns)
    if (column.role == Role::weight) column.role = Role::dropped;
  const bool named = !schema.names.empty() && !columns.empty() && !columns[0].name.empty();
  const std::string title = named ? schema.names[place] : "";
  const auto size = static_cast<Index>(columns.size());
  Index at = named ? std::ranges::find(columns, title, &EncodedColumn::name) - columns.begin()
             : schema.columns == size ? place
                                      : size;
  if (at < size) {
    Role& role = columns[at].role;
    KERF_REQUIRE(role == Role::dropped, usage,
                 "{}: that column of {} is an input of the model, or its target",
                 spell("weights", weights), name);
    role = Role::weight;
    return weighed;
  }
  // A column that the training rows did not have.
  KERF_REQUIRE(named || schema.columns == size + 1, usage,
               "{}: {} has {} columns, those of the model and one of weights would be {}",
               spell("weights", weights), name, schema.columns, size + 1);
  at = named ? size : place;
  columns.insert(columns.begin() + at, {.name = title, .role = Role::weight, .levels = {}});
  for (Index& target : weighed.targets)
    if (target >= at) ++target;
  return weighed;
}

namespace {

/// What the file says and --image says must be the same; an array of four dimensions does not say
/// where its channels are, and nothing else would notice that they come first.
void plan_image(Encoding& encoding, const Schema& schema, const DataOptions& options,
                const std::string& name) {
  const ImageShape& own = schema.image;
  if (options.image.empty()) {
    const bool as_channels = own.height == 1 || own.height == 3 || own.height == 4;
    KERF_REQUIRE(!as_channels || own.channels <= 4, usage,
                 "{} holds images of {} (height, width, channels), which looks as if channels came "
                 "first: move that axis to the end, or say {} if it is so",
                 name, format_image_shape(own), spell("image", format_image_shape(own)));
    return;
  }
  encoding.image = parse_image_shape(options.image);
  KERF_REQUIRE(!own.present() || encoding.image == own, usage,
               "{}: {} holds images of {} (height, width, channels); if their channels come first, "
               "move that axis to the end",
               spell("image", options.image), name, format_image_shape(own));
}

}  // namespace

Encoding plan_encoding(const Schema& schema, const DataOptions& options, const std::string& name) {
  Encoding encoding;
  encoding.missing = options.missing;
  encoding.decimal_comma = decimal_of(options) == ',';
  encoding.na_only = options.na.starts_with('=');
  encoding.na = split(encoding.na_only ? options.na.substr(1) : options.na);
  encoding.is_bytes = schema.bytes;
  encoding.image = schema.image;
  encoding.labelled = schema.labelled && options.target != "none";
  if (encoding.labelled) encoding.labels = schema.labels;
  encoding.kind = schema.sparse            ? SourceKind::sparse
                  : schema.image.present() ? SourceKind::pixels
                                           : SourceKind::table;
  if (schema.labelled)
    KERF_REQUIRE(options.target == "last" || options.target == "first" || options.target == "none",
                 usage, "{} '{}': the target of {} is its label; only none is another choice",
                 spell("target"), options.target, name);
  if (encoding.kind == SourceKind::table) {
    plan_table(encoding, schema, options, name);
  } else {
    for (const auto& [option, value] :
         {std::pair("drop", &options.drop), std::pair("weights", &options.weights),
          std::pair("categorical", &options.categorical), std::pair("na", &options.na)})
      KERF_REQUIRE(value->empty(), usage, "{} is for tables, and {} is none", spell(option), name);
    KERF_REQUIRE(options.missing != Missing::indicator, usage,
                 "{} is for tables, and {} is none; take {}", spell("missing", "indicator"), name,
                 spell("missing", "mean"));
    KERF_REQUIRE(schema.labelled || options.target == "none", usage,
                 "{} has no labels: give them with {} FILE, or say {}", name, spell("labels"),
                 spell("target", "none"));
    encoding.inputs = schema.columns;
  }
  plan_image(encoding, schema, options, name);
  return encoding;
}

}  // namespace io
}  // namespace kerf::detail
