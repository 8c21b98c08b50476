// SPDX-License-Identifier: Apache-2.0
#include "kerf/api/dataset.h"

#include "kerf/api/behind/tables.h"
#include "kerf/core/options.h"
#include "kerf/core/require.h"

namespace kerf {
namespace {

constexpr const char* kOwner = "data";

detail::DataOptions read_options(const Params& options, const Context& context) {
  auto read = detail::read_options<detail::DataOptions>(options, kOwner);
  read.memory_limit = context.memory_limit;
  return read;
}

/// Memory says by itself what its targets are, and has no text to read.
Params of_memory(const DataOptions& options, bool has_targets, bool classes) {
  Params params = options.params();
  for (const char* option : {"target", "weights", "labels", "delimiter", "header", "image"})
    KERF_REQUIRE(!params.contains(option), usage,
                 "option {} is for files: a table says it by its members", option);
  KERF_REQUIRE(!classes || params["task"] != "regression", usage,
               "a table with classes is no regression");
  params["task"] = classes ? "classification" : "regression";
  if (!has_targets) params["target"] = "none";
  return params;
}

const std::vector<std::string> kNone;

}  // namespace

Dataset::Dataset(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

Index Dataset::rows() const {
  return inside_->data ? inside_->data->summary.rows : inside_->rows_read;
}
Index Dataset::columns() const {
  return inside_->data ? inside_->data->summary.cols : inside_->rows->cols();
}
Task Dataset::task() const {
  return inside_->data ? inside_->data->summary.task : inside_->rows->encoding().task;
}
const std::vector<std::string>& Dataset::classes() const {
  return inside_->data ? inside_->data->summary.classes : inside_->rows->encoding().classes;
}
const std::vector<std::string>& Dataset::notes() const {
  return inside_->data ? inside_->data->notes : kNone;
}

detail::Dataset& Dataset::Inside::to_learn_from(std::uint64_t wanted, const Context& context) {
  KERF_REQUIRE(data, usage, "{}: rows that a model opened are for this model, not to learn from",
               name);
  if (changed || seed != wanted) {
    auto reader = data->source->take_reader();
    try {
      detail::Dataset again = detail::open_dataset(std::move(reader), data->options, name,
                                                   detail::rng::Key{wanted}, context.progress);
      data = std::move(again);
    } catch (...) {
      data->source->put_back(std::move(reader));
      throw;
    }
    seed = wanted;
  }
  changed = true;
  read_for = nullptr;
  return *data;
}

detail::EncodedSource& Dataset::Inside::for_model(
    const std::shared_ptr<const Model::Inside>& model) {
  detail::EncodedSource& source = data ? *data->source : *rows;
  if (read_for == model) {
    source.rewind();
    return source;
  }
  changed = true;
  read_for = nullptr;
  source.set_encoding(table ? encoding_for(model->model, *table)
                            : detail::encoding_of(model->model));
  read_for = model;
  return source;
}

Dataset open_dataset(const std::vector<std::string>& paths, const DataOptions& options,
                     const Context& context) {
  auto inside = std::make_unique<Dataset::Inside>();
  inside->data = detail::open_dataset(paths, read_options(options.params(), context),
                                      detail::rng::Key{inside->seed}, context.progress);
  inside->name = inside->data->source->name();
  return Dataset(std::move(inside));
}

Dataset open_dataset(const Table& table, const DataOptions& options, const Context& context) {
  auto inside = std::make_unique<Dataset::Inside>();
  inside->name = "the table";
  inside->table = std::make_shared<HeldTable>(hold(table));
  inside->data = detail::open_dataset(
      detail::io::open_memory(inside->table->view),
      read_options(of_memory(options, table.y.cols > 0, !table.classes.empty()), context),
      inside->name, detail::rng::Key{inside->seed}, context.progress);
  return Dataset(std::move(inside));
}

Dataset open_dataset(RowStream& rows, const DataOptions& options, const Context& context) {
  auto inside = std::make_unique<Dataset::Inside>();
  inside->name = "the stream";
  auto reader = open_stream(rows);
  const detail::io::Schema& schema = reader->schema();
  const Params params =
      of_memory(options, schema.targets > 0 || schema.labelled, !schema.classes.empty());
  inside->data =
      detail::open_dataset(std::move(reader), read_options(params, context), inside->name,
                           detail::rng::Key{inside->seed}, context.progress);
  return Dataset(std::move(inside));
}

}  // namespace kerf
