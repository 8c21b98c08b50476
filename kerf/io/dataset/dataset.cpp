// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/dataset/dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/stopwatch.h"
#include "kerf/io/arrays/idx.h"
#include "kerf/io/dataset/id_column.h"
#include "kerf/io/registry.h"
#include "kerf/io/table/scan.h"

namespace kerf::detail {
namespace {

std::string name_of(const std::vector<std::string>& paths) {
  if (paths.empty()) return "the data";
  const std::string first = paths[0] == "-" ? "standard input" : paths[0];
  return paths.size() == 1 ? first : fmt::format("{} and {} more", first, paths.size() - 1);
}

/// Every Encoding carries one entry per input of its columns, in order.
std::vector<EncodedColumn*> number_columns(Encoding& encoding) {
  std::vector<EncodedColumn*> inputs;
  for (EncodedColumn& column : encoding.columns) {
    inputs.insert(inputs.end(), static_cast<std::size_t>(column.inputs()), nullptr);
    if (column.role == Role::number) inputs[inputs.size() - column.inputs()] = &column;
  }
  return inputs;
}

/// Names of the columns that are inputs; none if one of them has none.
std::vector<std::string> names_of_inputs(const Encoding& encoding) {
  std::vector<std::string> names;
  for (const EncodedColumn& column : encoding.columns) {
    if (!column.is_input()) continue;
    if (column.name.empty()) return {};
    names.push_back(column.name);
  }
  return names;
}

/// What the first row of a table was taken for, and how that is changed.
std::string note_header(const io::Schema& schema) {
  if (!schema.guessed_header) return "";
  return schema.names.empty() ? "no header: the first row is taken for a row (" +
                                    spell("header", "yes") + ": for column names)"
                              : "header: the first row is taken for column names (" +
                                    spell("header", "no") + ": for a row)";
}

}  // namespace

EncodedSource::EncodedSource(std::unique_ptr<io::Reader> reader, const Encoding& encoding,
                             std::string name, io::Targets targets, Index rows, io::PassGuard guard,
                             Index id)
    : reader_(std::move(reader)),
      encoding_(encoding),
      name_(std::move(name)),
      targets_(targets),
      most_rows_(rows),
      guard_(std::move(guard)),
      id_(id),
      missing_words_(encoding.na, encoding.na_only) {
  make_encoder();
}

void EncodedSource::make_encoder() {
  encoder_ = std::make_unique<io::Encoder>(encoding_, reader_->schema(), name_, targets_);
  tell_reader();
}

/// Which cells it keeps as they are written.
void EncodedSource::tell_reader() {
  reader_->keep_spelling(encoder_->class_column());
  std::vector<Index> words = encoder_->word_columns();
  if (id_ != io::kNoColumn) words.push_back(id_);
  reader_->keep_words(words);
}

EncodedSource::~EncodedSource() = default;

void EncodedSource::encode(const io::RawBlock& raw, RowBlock& out) const {
  io::Encoder(encoding_, reader_->schema(), name_, targets_).encode(raw, out);
}

void EncodedSource::set_encoding(const Encoding& encoding) {
  rewind();  // the reading thread must not see the encoding change
  // Refused, it leaves everything as it was.
  auto encoder = std::make_unique<io::Encoder>(encoding, reader_->schema(), name_, targets_);
  encoding_ = encoding;
  encoder_ = std::move(encoder);
  tell_reader();
}

std::unique_ptr<io::Reader> EncodedSource::take_reader() {
  rewind();
  return std::move(reader_);
}

void EncodedSource::put_back(std::unique_ptr<io::Reader> reader) { reader_ = std::move(reader); }

void EncodedSource::rewind() {
  try {
    reading_.wait();
  } catch (...) {
    // What was wrong with rows that nobody asked for is found again when they are.
  }
  counts_ = {};
  reader_->rewind();
  guard_.rewind();
  make_encoder();
  raw_rows_ = rows_ = 0;
  part_ = 0;
}

bool EncodedSource::next(RowBlock& block) {
  if (!reading_.busy()) reading_.start([this] { read_ahead(); });
  reading_.wait();
  std::swap(block, ahead_);
  std::swap(ids_, ahead_ids_);
  counts_ = encoder_->counts();
  part_ = ahead_part_;
  const bool more = block.rows() > 0;
  if (more) reading_.start([this] { read_ahead(); });
  return more;
}

/// The next block to ahead_; no rows at the end.
void EncodedSource::read_ahead() {
  for (;;) {
    Index wanted = io::block_rows(reader_->schema().columns);
    if (most_rows_ > 0) wanted = std::min(wanted, most_rows_ - raw_rows_);
    if (wanted <= 0 || !reader_->next(raw_, wanted)) raw_.clear();
    guard_.add(raw_, name_);
    missing_words_.mark(raw_);
    encoder_->encode(raw_, ahead_);
    ahead_.first_row = rows_;
    if (id_ != io::kNoColumn) take_ids();
    number_rows();
    raw_rows_ += raw_.rows;
    rows_ += ahead_.rows();
    ahead_part_ = most_rows_ > 0
                      ? std::max(reader_->progress(),
                                 static_cast<double>(raw_rows_) / static_cast<double>(most_rows_))
                      : reader_->progress();
    if (ahead_.rows() > 0 || raw_.rows == 0) return;
  }
}

/// Of the rows that were not left out.
void EncodedSource::take_ids() {
  ahead_ids_ = io::texts_of(raw_, id_);
  if (ahead_.numbers.empty()) return;
  for (std::size_t i = 0; i < ahead_.numbers.size(); ++i)
    ahead_ids_[i] = std::move(ahead_ids_[ahead_.numbers[i]]);
  ahead_ids_.resize(ahead_.numbers.size());
}

std::string EncodedSource::id_name() const {
  const auto& names = reader_->schema().names;
  return id_ >= 0 && id_ < std::ssize(names) ? names[id_] : "";
}

/// Rows that were left out count too: the others keep the numbers they have in the files.
void EncodedSource::number_rows() {
  if (ahead_.numbers.empty() && raw_rows_ == rows_) return;
  if (ahead_.numbers.empty()) {
    ahead_.numbers.resize(ahead_.rows());
    std::iota(ahead_.numbers.begin(), ahead_.numbers.end(), 0);
  }
  for (Index& number : ahead_.numbers) number += raw_rows_;
}

void Dataset::centre_large_columns() {
  constexpr double kDigitsLost = 256;
  const auto columns = number_columns(encoding);
  bool changed = false;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const double mean = summary.mean[j];
    if (columns[j] == nullptr || mean == 0) continue;
    if (mean * mean <= kDigitsLost * kDigitsLost * variance[j]) continue;
    columns[j]->offset += mean;
    summary.mean[j] = 0;
    summary.mean_square[j] = variance[j];
    changed = true;
    if (summary.least.empty()) continue;
    summary.least[j] -= mean;
    summary.greatest[j] -= mean;
  }
  if (!changed) return;
  source->set_encoding(encoding);
  // From the raw rows: the digits that matter are lost in the floats of the first encoding.
  source->encode(raw_sample, summary.sample);
}

void Dataset::keep_double() {
  encoding.wide = encoding.kind != SourceKind::sparse;
  source->set_encoding(encoding);
}

std::vector<std::string> files_read(const std::vector<std::string>& paths) {
  std::vector<std::string> files = io::expand_directories(paths);
  for (std::size_t k = 0, count = files.size(); k < count; ++k)
    if (const std::string labels = io::labels_sibling(files[k]); !labels.empty())
      files.push_back(labels);
  return files;
}

Dataset open_dataset(const std::vector<std::string>& paths, const DataOptions& options,
                     rng::Key key, const Progress& progress) {
  return open_dataset(io::open_source(paths, io::read_options_of(options), options.labels, true),
                      options, name_of(paths), key, progress);
}

Dataset open_dataset(std::unique_ptr<io::Reader>&& reader, const DataOptions& options,
                     const std::string& name, rng::Key key, const Progress& progress) {
  double seconds = 0;
  std::optional<Stopwatch> watch(seconds);
  io::ScanResult result = io::scan(*reader, options, name, key, progress);
  watch.reset();
  Dataset data;
  data.options = options;
  data.encoding = std::move(result.encoding);
  data.summary = std::move(result.summary);
  data.summary.seconds = seconds;
  data.variance = std::move(result.variance);
  data.raw_sample = std::move(result.raw_sample);
  data.dropped_rows = result.dropped_rows;
  data.missing_cells = result.missing_cells;
  data.notes = reader->schema().remarks;
  data.notes.insert(data.notes.end(), result.notes.begin(), result.notes.end());
  data.header_note = note_header(reader->schema());
  data.source =
      std::make_unique<EncodedSource>(std::move(reader), data.encoding, name, io::Targets::optional,
                                      options.rows, std::move(result.guard));
  return data;
}

DataOptions options_beside(const Dataset& training, const std::string& labels) {
  DataOptions options = training.options;
  options.labels = labels;
  options.rows = 0;
  options.weights.clear();
  return options;
}

std::unique_ptr<EncodedSource> open_test(const Dataset& training,
                                         const std::vector<std::string>& paths,
                                         const std::string& labels) {
  const bool needs_labels = training.encoding.labelled && labels.empty();
  auto source = open_for_model(paths, training.encoding, options_beside(training, labels),
                               needs_labels ? io::Targets::optional : io::Targets::require);
  KERF_REQUIRE(
      source->has_targets(), usage,
      "{}: these rows have no labels; give them with {} FILE ({} is for the training rows)",
      spell("test", fmt::to_string(fmt::join(paths, " "))), spell("test-labels"), spell("labels"));
  return source;
}

std::unique_ptr<EncodedSource> open_for_model(const std::vector<std::string>& paths,
                                              const Encoding& encoding, const DataOptions& options,
                                              io::Targets targets, const std::string& target,
                                              const std::string& id) {
  const std::string name = name_of(paths);
  io::ReadOptions reading = io::read_options_of(options);
  reading.known_names = names_of_inputs(encoding);
  // New files are written as the training files were, unless somebody says otherwise.
  const char decimal = io::decimal_of(options);
  reading.decimal_comma = decimal == 0 ? encoding.decimal_comma : decimal == ',';
  auto reader = io::open_source(paths, reading, options.labels, false);
  Encoding columns =
      target.empty() ? encoding : io::with_target(encoding, reader->schema(), target, name);
  columns.decimal_comma = reading.decimal_comma;
  if (!options.weights.empty())
    columns = io::with_weights(columns, reader->schema(), options.weights, name);
  Index place = io::kNoColumn;
  if (!id.empty()) {
    place = io::find_id(columns, reader->schema(), id, name);
    columns = io::with_id(columns, reader->schema(), place, name);
  }
  return std::make_unique<EncodedSource>(std::move(reader), columns, name, targets, options.rows,
                                         io::PassGuard{}, place);
}

}  // namespace kerf::detail
