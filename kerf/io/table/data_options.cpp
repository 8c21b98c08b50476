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

  std::optional<Index> named(std::string_view name) const {
    const auto found = std::ranges::find(schema_.names, name);
    if (found == schema_.names.end()) return std::nullopt;
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
      if (encoding.columns[j].role == Role::number) free.push_back(static_cast<Index>(j));
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
    KERF_REQUIRE(column.role == Role::number, usage,
                 "{}: {} is given twice, or dropped, or the weights", spell("target"),
                 column_label(column.name, j));
    column.role = Role::target;
  }
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
  for (Index j = schema.columns - schema.targets; j < schema.columns; ++j) {
    encoding.targets.push_back(j);
    encoding.columns[j].role = Role::target;
  }
  if (options.target != "none" && !schema.labelled && schema.targets == 0)
    plan_targets(encoding, finder, options, source);
  encoding.inputs = std::ranges::count_if(
      encoding.columns, [](const EncodedColumn& column) { return column.role == Role::number; });
  KERF_REQUIRE(encoding.inputs > 0, data, "{}: no input column is left beside the target", source);
}

}  // namespace

void DataOptions::describe(OptionVisitor& v) {
  v.text("target", target,
         "target: last, first, none, a column name or number (0 is the first, -1 the last), or "
         "several: A,B");
  v.choice("task", task, "what the target is");
  v.text("drop", drop, "columns to leave out: names, numbers, ranges such as 3-7");
  v.text("weights", weights, "column with a weight for each row");
  v.text("labels", labels, "file with one label per row");
  v.text("delimiter", delimiter, "what separates cells: auto, tab, space or one character");
  v.choice("header", header, "whether the first row holds column names");
  v.choice("missing", missing,
           "missing cells (empty, NA, NaN, ?, null): error, mean of the column, or drop the row");
  v.integer("rows", rows, {0, 1e15}, "read the first rows only (0: all)");
  v.text("image", image, "rows are images: HEIGHTxWIDTHxCHANNELS");
  v.integer("max-levels", max_levels, {2, 65536}, "most different words of an input column");
}

namespace io {

ReadOptions read_options_of(const DataOptions& options) {
  return {.delimiter = options.delimiter,
          .header = static_cast<ReadOptions::Header>(options.header),
          .memory_limit = options.memory_limit};
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
    KERF_REQUIRE(options.drop.empty() && options.weights.empty(), usage,
                 "{} and {} are for tables, and {} is none", spell("drop"), spell("weights"), name);
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
