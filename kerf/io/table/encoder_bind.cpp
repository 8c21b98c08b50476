// How the columns of new rows are matched with those of the training rows.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/rows/image_text.h"
#include "kerf/io/table/encoder.h"

namespace kerf::detail::io {

Encoder::Encoder(const Encoding& encoding, const Schema& schema, const std::string& source_name,
                 Targets targets)
    : encoding_(encoding),
      wanted_(targets),
      class_names_(encoding.classes),
      named_(schema.classes),
      typed_(schema.typed) {
  for (const std::string& name : named_) number_of_.push_back(class_names_.find(name));
  const bool sparse = encoding_.kind == SourceKind::sparse;
  KERF_REQUIRE(sparse == schema.sparse, data, "the training rows were {}, but {} holds {} rows",
               sparse ? "sparse" : "dense", source_name, schema.sparse ? "sparse" : "dense");
  const bool target_wanted = encoding_.target_count() > 0 && targets != Targets::ignore;
  if (schema.labelled && target_wanted && encoding_.target_count() == schema.labels) {
    has_targets_ = true;
    label_route_ = {.role = Role::target, .label = "the label"};
  }
  if (encoding_.kind == SourceKind::table) bind_table(schema, source_name);
  if (encoding_.kind == SourceKind::pixels) bind_plain(schema, source_name);
  if (wanted_ == Targets::ignore)
    for (Route& to : routes_)
      if (to.role == Role::target || to.role == Role::weight) to.role = Role::dropped;
  KERF_REQUIRE(targets != Targets::require || has_targets_, usage,
               "{} has no target: its rows cannot be compared with predictions", source_name);
  make_runs();
}

void Encoder::bind_table(const Schema& schema, const std::string& name) {
  KERF_REQUIRE(!schema.bytes, data,
               "the training rows were a table of {} columns, but {} holds images",
               encoding_.columns.size(), name);
  routes_.assign(schema.columns, Route());
  Index input = 0;
  for (const EncodedColumn& column : encoding_.columns) {
    first_input_.push_back(input);
    level_number_.push_back(levels_.size());
    input += column.inputs();
    if (column.role == Role::category) levels_.emplace_back(column.levels);
  }
  if (!bind_by_name(schema, name)) bind_by_position(schema, name);
  for (const Schema::Known& known : schema.known) {
    Route& to = routes_[known.column];
    to.in_micros = known.is_moment;
    if (!known.is_moment || to.role == Role::dropped) continue;
    const bool fits = to.role == Role::moment && to.column->form.has_date &&
                      to.column->form.has_zone == known.has_zone;
    KERF_REQUIRE(fits, data, "{}: {} should be {}, not {}", name, to.label,
                 to.role == Role::category ? "a word" : describe(to.column->form),
                 known.has_zone ? "dates with a zone" : "dates without a zone");
  }
  if (label_route_.role == Role::target)
    for (Route& to : routes_)
      if (to.role == Role::target) to.role = Role::dropped;  // the label is the target
}

/// Connects raw column `raw_column` with column `column` of the encoding.
void Encoder::route(Index raw_column, std::size_t column) {
  const EncodedColumn& from = encoding_.columns[column];
  Route& to = routes_[raw_column];
  to.role = from.role;
  to.to = first_input_[column];
  to.offset = from.offset;
  to.mean = from.mean;
  to.levels = level_number_[column];
  to.column = &from;
  if (from.indicator) to.indicator = to.to + from.inputs() - 1;
  to.label = (from.role == Role::target ? "the target " : "") +
             column_label(from.name, static_cast<Index>(column));
  if (from.role == Role::target)
    to.to = std::ranges::find(encoding_.targets, static_cast<Index>(column)) -
            encoding_.targets.begin();
}

/// False: one of the two has no names, or names that occur twice.
bool Encoder::bind_by_name(const Schema& schema, const std::string& name) {
  std::map<std::string, Index> places;
  for (const std::string& column : schema.names)
    places.emplace(column, static_cast<Index>(places.size()));
  if (schema.names.empty() || places.size() != schema.names.size()) return false;
  std::map<std::string, int> ours;
  for (const EncodedColumn& column : encoding_.columns)
    if (column.name.empty() || ++ours[column.name] > 1) return false;
  std::size_t targets = 0;
  std::string absent_target;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const EncodedColumn& column = encoding_.columns[j];
    const auto found = places.find(column.name);
    if (found != places.end()) {
      route(found->second, j);
      targets += column.role == Role::target;
      continue;
    }
    if (column.role == Role::target) absent_target = column.name;
    KERF_REQUIRE(!column.is_input(), data, "{} has no column '{}', which the training rows had{}",
                 name, column.name, did_you_mean(column.name, schema.names));
  }
  const bool all = targets == encoding_.targets.size();
  KERF_REQUIRE(all || targets == 0 || wanted_ != Targets::require, usage,
               "{} has no target column '{}'", name, absent_target);
  if (targets > 0 && all && wanted_ != Targets::ignore) has_targets_ = true;
  if (!all)
    for (Route& to : routes_)
      if (to.role == Role::target) to.role = Role::dropped;
  return true;
}

/// The file has all columns of the training file, or all but its targets, or the inputs alone.
void Encoder::bind_by_position(const Schema& schema, const std::string& name) {
  const auto all = static_cast<Index>(encoding_.columns.size());
  const auto targets = static_cast<Index>(encoding_.targets.size());
  const Index inputs = std::ranges::count_if(encoding_.columns, &EncodedColumn::is_input);
  const bool full = schema.columns == all;
  const bool no_targets = schema.columns == all - targets;
  KERF_REQUIRE(full || no_targets || schema.columns == inputs, data,
               "{} has {} columns, but the training rows had {}{}", name, schema.columns, all,
               targets == 0 ? "" : fmt::format(" ({} without the target)", all - targets));
  Index raw = 0;
  for (std::size_t j = 0; j < encoding_.columns.size(); ++j) {
    const EncodedColumn& column = encoding_.columns[j];
    if (full || (no_targets && column.role != Role::target) || column.is_input()) route(raw++, j);
  }
  if (full && targets > 0 && wanted_ != Targets::ignore) has_targets_ = true;
}

/// Every column is a number, and a target may stand behind them.
void Encoder::bind_plain(const Schema& schema, const std::string& name) {
  const bool behind = schema.columns == encoding_.inputs + 1 && !schema.labelled &&
                      !schema.image.present() && encoding_.target_count() == 1;
  KERF_REQUIRE(
      schema.columns == encoding_.inputs || behind, data,
      "{} has {} columns, but the training rows had {}{}", name, schema.columns, encoding_.inputs,
      encoding_.image.present() ? fmt::format(" ({} x {} x {})", encoding_.image.height,
                                              encoding_.image.width, encoding_.image.channels)
                                : "");
  KERF_REQUIRE(
      !schema.image.present() || !encoding_.image.present() || schema.image == encoding_.image,
      data, "{} has images of {}, but the training images were {}", name,
      format_image_shape(schema.image), format_image_shape(encoding_.image));
  routes_.assign(schema.columns, Route());
  for (Index j = 0; j < encoding_.inputs; ++j) {
    Route& to = routes_[j];
    to.role = Role::number;
    to.to = j;
    to.label = column_label("", j);
    if (!encoding_.means.empty()) to.mean = encoding_.means[j];
  }
  if (!behind) return;
  routes_.back() = {.role = Role::target, .label = "the target"};
  has_targets_ = wanted_ != Targets::ignore;
}

void Encoder::make_runs() {
  for (std::size_t j = 0; j < routes_.size(); ++j) {
    const Route& to = routes_[j];
    offsets_.push_back(to.role == Role::number ? to.offset : 0);
    if (to.role != Role::number) continue;
    const auto column = static_cast<Index>(j);
    const bool continues = !runs_.empty() && runs_.back().from + runs_.back().count == column &&
                           runs_.back().to + runs_.back().count == to.to;
    if (continues)
      ++runs_.back().count;
    else
      runs_.push_back({column, to.to, 1});
  }
  Index copied = 0;
  for (const Run& run : runs_) copied += run.count;
  fills_ = copied < encoding_.inputs;
}

Index Encoder::class_column() const {
  if (encoding_.task != Task::classification || !has_targets_) return kNoColumn;
  if (label_route_.role == Role::target) return kLabelColumn;
  const auto target = std::ranges::find(routes_, Role::target, &Route::role);
  return target == routes_.end() ? kNoColumn : target - routes_.begin();
}

}  // namespace kerf::detail::io
