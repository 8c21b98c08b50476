// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/encoding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/shallow_json.h"

namespace kerf::detail {
namespace {

using nlohmann::json;

constexpr Index kMostColumns = Index{1} << 30;
constexpr std::string_view kRoleLetters = "nctwdm";  // of Role, in its order

[[noreturn]] void fail_json(const std::string& what) {
  fail(ErrorKind::data, "the model's description of its columns is damaged: {}", what);
}

Index whole(const json& object, const char* key, Index min, Index max) {
  const json& value = object.at(key);
  if (!value.is_number_integer()) fail_json(std::string(key) + " is not a whole number");
  const auto number = value.get<std::int64_t>();
  if (number < min || number > max || (value.is_number_unsigned() && number < 0))
    fail_json(fmt::format("{} is {}", key, number));
  return number;
}

template <class E>
E choice(const json& object, const char* key) {
  const auto word = object.at(key).get<std::string>();
  const auto found = find_by_name<E>(word);
  if (!found) fail_json(fmt::format("{} is '{}'", key, word));
  return *found;
}

/// Readers give UTF-8.  Anything else must not be written with other characters in its place: the
/// names would no longer match those of new rows.
std::string text_of(const json& object) {
  try {
    return object.dump();
  } catch (const json::exception&) {
    fail(ErrorKind::data, "a name of a column, level or class is not UTF-8");
  }
}

/// Per-column numbers are stored only where one of them is not 0.
void write_numbers(json& object, const char* key, const std::vector<EncodedColumn>& columns,
                   double EncodedColumn::*member) {
  const auto is_set = [&](const EncodedColumn& column) { return column.*member != 0; };
  if (std::ranges::none_of(columns, is_set)) return;
  for (const EncodedColumn& column : columns) object[key].push_back(column.*member);
}

void read_numbers(const json& object, const char* key, std::vector<EncodedColumn>& columns,
                  double EncodedColumn::*member) {
  if (!object.contains(key)) return;
  const auto numbers = object.at(key).get<std::vector<double>>();
  if (numbers.size() != columns.size())
    fail_json(fmt::format("{} has {} numbers for {} columns", key, numbers.size(), columns.size()));
  for (std::size_t j = 0; j < numbers.size(); ++j) columns[j].*member = numbers[j];
}

void read_columns(const json& object, Encoding& encoding) {
  const auto roles = object.at("roles").get<std::string>();
  encoding.columns.resize(roles.size());
  for (std::size_t j = 0; j < roles.size(); ++j) {
    const std::size_t role = kRoleLetters.find(roles[j]);
    if (role == std::string_view::npos) fail_json("a column has no known role");
    encoding.columns[j].role = static_cast<Role>(role);
  }
  if (object.contains("names")) {
    const auto names = object.at("names").get<std::vector<std::string>>();
    if (names.size() != roles.size()) fail_json("names and roles differ in number");
    for (std::size_t j = 0; j < names.size(); ++j) encoding.columns[j].name = names[j];
  }
  if (object.contains("levels")) {
    auto levels = object.at("levels").get<std::vector<std::vector<std::string>>>();
    std::size_t next = 0;
    for (EncodedColumn& column : encoding.columns)
      if (column.role == Role::category && next < levels.size())
        column.levels = std::move(levels[next++]);
    if (next != levels.size()) fail_json("there are more lists of levels than categories");
  }
  read_numbers(object, "means", encoding.columns, &EncodedColumn::mean);
  read_numbers(object, "offsets", encoding.columns, &EncodedColumn::offset);
}

/// What only some columns have, by their number: amounts, moments, indicators.
void write_forms(json& object, const std::vector<EncodedColumn>& columns) {
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const EncodedColumn& column = columns[j];
    const std::string at = fmt::to_string(j);
    if (column.indicator) object["indicators"].push_back(j);
    if (column.form.kind == ColumnForm::Kind::amount) object["amounts"][at] = column.form.unit;
    if (column.role != Role::moment) continue;
    std::string parts;
    for (const io::MomentPart part : column.parts)
      parts += io::kMomentLetters[static_cast<std::size_t>(part)];
    object["moments"][at] = {{"parts", parts},
                             {"order", name_of(column.form.order)},
                             {"date", column.form.has_date},
                             {"zone", column.form.has_zone},
                             {"origin", column.origin},
                             {"means", column.part_means}};
  }
}

EncodedColumn& column_at(Encoding& encoding, const std::string& number) {
  const auto at = parse_number(number);
  if (!at || *at < 0 || *at >= static_cast<double>(encoding.columns.size()) ||
      *at != std::floor(*at))
    fail_json(fmt::format("there is no column {}", number));
  return encoding.columns[static_cast<std::size_t>(*at)];
}

void read_moment(const json& object, EncodedColumn& column) {
  if (column.role != Role::moment) fail_json("a column has parts of moments, but is none");
  column.form = {.kind = ColumnForm::Kind::moment,
                 .order = choice<DateOrder>(object, "order"),
                 .has_date = object.at("date").get<bool>(),
                 .has_zone = object.at("zone").get<bool>()};
  for (const char letter : object.at("parts").get<std::string>()) {
    const std::size_t part = io::kMomentLetters.find(letter);
    if (part == std::string_view::npos) fail_json("a moment has no known parts");
    column.parts.push_back(static_cast<io::MomentPart>(part));
  }
  column.origin = object.at("origin").get<double>();
  column.part_means = object.at("means").get<std::vector<double>>();
}

void read_forms(const json& object, Encoding& encoding) {
  if (object.contains("indicators"))
    for (const auto j : object.at("indicators").get<std::vector<std::int64_t>>())
      column_at(encoding, fmt::to_string(j)).indicator = true;
  if (object.contains("amounts"))
    for (const auto& [at, unit] : object.at("amounts").items()) {
      EncodedColumn& column = column_at(encoding, at);
      if (column.role != Role::number && column.role != Role::target)
        fail_json("only numbers are amounts");
      column.form = {.kind = ColumnForm::Kind::amount, .unit = unit.get<std::string>()};
    }
  if (object.contains("moments"))
    for (const auto& [at, moment] : object.at("moments").items())
      read_moment(moment, column_at(encoding, at));
}

Index table_inputs(const std::vector<EncodedColumn>& columns) {
  Index inputs = 0;
  for (const EncodedColumn& column : columns) inputs += column.inputs();
  return inputs;
}

void require_distinct(const std::vector<std::string>& names, const char* what) {
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    fail_json(fmt::format("two {} have the same name", what));
}

/// What its role allows.
void validate_column(const EncodedColumn& column) {
  const bool is_moment = column.role == Role::moment;
  if (column.role == Role::category && column.levels.empty()) fail_json("a category has no levels");
  require_distinct(column.levels, "levels of a category");
  if (!std::isfinite(column.mean) || !std::isfinite(column.offset) ||
      !std::isfinite(column.origin) ||
      !std::ranges::all_of(column.part_means, [](double mean) { return std::isfinite(mean); }))
    fail_json("the mean of a column is not finite");
  if (column.indicator && !column.is_input()) fail_json("only inputs have indicators");
  const std::set<io::MomentPart> parts(column.parts.begin(), column.parts.end());
  if (is_moment == column.parts.empty() || parts.size() != column.parts.size() ||
      !(column.part_means.empty() || column.part_means.size() == column.parts.size()))
    fail_json("the parts of a moment do not fit it");
}

}  // namespace

Index EncodedColumn::inputs() const {
  if (!is_input()) return 0;
  const auto values = role == Role::number     ? 1
                      : role == Role::category ? static_cast<Index>(levels.size())
                                               : static_cast<Index>(parts.size());
  return values + (indicator ? 1 : 0);
}

std::vector<bool> Encoding::one_hot() const {
  std::vector<bool> result;
  bool any = false;
  for (const EncodedColumn& column : columns) {
    // The indicator of a category is one more of its words; that of a number stands by itself.
    const bool words = column.role == Role::category;
    result.insert(result.end(), static_cast<std::size_t>(column.inputs()), words);
    any = any || words;
  }
  return any ? result : std::vector<bool>();
}

std::vector<std::string> Encoding::input_names() const {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const std::string label = column_label(columns[j].name, static_cast<Index>(j));
    if (columns[j].role == Role::number) names.push_back(label);
    if (columns[j].role == Role::category)
      for (const std::string& level : columns[j].levels)
        names.push_back(fmt::format("{}={}", label, level));
    for (const io::MomentPart part : columns[j].parts)
      names.push_back(part == io::MomentPart::day ? label
                                                  : fmt::format("{} ({})", label, name_of(part)));
    if (columns[j].indicator) names.push_back(label + " missing");
  }
  return names;
}

std::string Encoding::to_json() const {
  json object = {{"kind", name_of(kind)},       {"inputs", inputs},      {"labelled", labelled},
                 {"missing", name_of(missing)}, {"task", name_of(task)}, {"classes", classes}};
  if (!label_type.empty()) object["label_type"] = label_type;
  if (!na.empty()) object["na"] = na;
  if (na_only) object["na_only"] = true;
  if (decimal_comma) object["decimal"] = ",";
  if (labels != 1) object["labels"] = labels;
  if (channels_first) object["channels_first"] = true;
  if (kind == SourceKind::sparse) object["first_index"] = first_index;
  if (is_bytes) object["bytes"] = true;
  if (wide) object["wide"] = true;
  if (image.present()) object["image"] = {image.height, image.width, image.channels};
  if (!means.empty()) object["means"] = means;
  if (kind != SourceKind::table) return text_of(object);
  object["targets"] = targets;
  std::string roles;
  bool named = false, categories = false;
  for (const EncodedColumn& column : columns) {
    roles += kRoleLetters[static_cast<std::size_t>(column.role)];
    named = named || !column.name.empty();
    categories = categories || column.role == Role::category;
  }
  object["roles"] = roles;
  for (const EncodedColumn& column : columns) {
    if (named) object["names"].push_back(column.name);
    if (column.role == Role::category) object["levels"].push_back(column.levels);
  }
  write_numbers(object, "means", columns, &EncodedColumn::mean);
  write_numbers(object, "offsets", columns, &EncodedColumn::offset);
  write_forms(object, columns);
  return text_of(object);
}

Encoding Encoding::from_json(std::string_view text) {
  Encoding encoding;
  try {
    const json object = parse_shallow_json<json>(text);
    if (!object.is_object()) fail_json("it is not an object");
    encoding.kind = choice<SourceKind>(object, "kind");
    encoding.inputs = whole(object, "inputs", 1, kMostColumns);
    encoding.labelled = object.at("labelled").get<bool>();
    encoding.missing = choice<Missing>(object, "missing");
    encoding.task = choice<Task>(object, "task");
    encoding.classes = object.at("classes").get<std::vector<std::string>>();
    encoding.label_type = object.value("label_type", "");
    if (object.contains("na")) encoding.na = object.at("na").get<std::vector<std::string>>();
    encoding.na_only = object.value("na_only", false);
    if (object.contains("decimal")) {
      encoding.decimal_comma = object.at("decimal").get<std::string>() == ",";
      if (!encoding.decimal_comma) fail_json("its decimal mark is unknown");
    }
    if (encoding.kind == SourceKind::sparse)
      encoding.first_index = whole(object, "first_index", 0, 1);
    encoding.is_bytes = object.value("bytes", false);
    if (object.contains("labels")) encoding.labels = whole(object, "labels", 1, kMostColumns);
    encoding.wide = object.value("wide", false);
    encoding.channels_first = object.value("channels_first", false);
    if (object.contains("image")) {
      const auto sizes = object.at("image").get<std::vector<std::int64_t>>();
      if (sizes.size() != 3) fail_json("image does not have three sizes");
      encoding.image = {sizes[0], sizes[1], sizes[2]};
    }
    if (encoding.kind == SourceKind::pixels && object.contains("means"))
      encoding.means = object.at("means").get<std::vector<double>>();
    if (encoding.kind == SourceKind::table) {
      encoding.targets = object.at("targets").get<std::vector<Index>>();
      read_columns(object, encoding);
      read_forms(object, encoding);
    }
  } catch (const json::exception& error) {
    fail_json(std::string(json_words(error)));
  }
  encoding.validate();
  return encoding;
}

void Encoding::validate() const {
  if (kind == SourceKind::table && table_inputs(columns) != inputs)
    fail_json(fmt::format("its columns make {} inputs, not {}", table_inputs(columns), inputs));
  Index target_columns = 0, weights = 0;
  for (const EncodedColumn& column : columns) {
    target_columns += column.role == Role::target;
    weights += column.role == Role::weight;
    validate_column(column);
  }
  if (weights > 1) fail_json("it has more than one column of weights");
  const std::set<Index> distinct(targets.begin(), targets.end());
  if (distinct.size() != targets.size() || target_columns != static_cast<Index>(targets.size()))
    fail_json("its targets are not its target columns");
  for (const Index j : targets)
    if (j < 0 || j >= static_cast<Index>(columns.size()) || columns[j].role != Role::target)
      fail_json("its targets are not its target columns");
  if (labelled && !targets.empty()) fail_json("it has both labels and target columns");
  if (image != ImageShape()) {
    const auto fits = [](Index size) { return size >= 1 && size <= (Index{1} << 20); };
    if (!fits(image.height) || !fits(image.width) || !fits(image.channels) ||
        image.height * image.width != inputs / image.channels || inputs % image.channels != 0)
      fail_json("its image size does not fit its inputs");
  }
  if (!means.empty() &&
      (kind != SourceKind::pixels || static_cast<Index>(means.size()) != inputs ||
       !std::ranges::all_of(means, [](double mean) { return std::isfinite(mean); })))
    fail_json("its means do not fit its inputs");
  if (task == Task::classification) {
    if (target_count() != 1) fail_json("classification needs one target");
    if (classes.size() < 2) fail_json("classification needs two classes");
    require_distinct(classes, "classes");
  } else if (!classes.empty()) {
    fail_json("regression has no classes");
  }
}

std::string column_label(const std::string& name, Index column) {
  return name.empty() ? fmt::format("column {}", column) : fmt::format("'{}'", name);
}

bool name_before(const std::string& a, const std::string& b) {
  const auto x = parse_number(a), y = parse_number(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

}  // namespace kerf::detail
