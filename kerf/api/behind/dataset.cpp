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

/// Memory says by itself whether its targets are classes.
Params with_task(const DataOptions& options, bool classes) {
  Params params = options.params();
  params.try_emplace("task", classes ? "classification" : "regression");
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
    const detail::DataOptions options = data->options;
    data = detail::open_dataset(data->source->take_reader(), options, name,
                                detail::rng::Key{wanted}, context.progress);
    seed = wanted;
  }
  changed = true;
  read_for = nullptr;
  return *data;
}

detail::EncodedSource& Dataset::Inside::for_model(const detail::Model& model) {
  detail::EncodedSource& source = data ? *data->source : *rows;
  if (read_for == &model) {
    source.rewind();
    return source;
  }
  source.set_encoding(detail::encoding_of(model));
  changed = true;
  read_for = &model;
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
  inside->data =
      detail::open_dataset(detail::io::open_memory(inside->table->view),
                           read_options(with_task(options, !table.classes.empty()), context),
                           inside->name, detail::rng::Key{inside->seed}, context.progress);
  return Dataset(std::move(inside));
}

Dataset open_dataset(RowStream& rows, const DataOptions& options, const Context& context) {
  auto inside = std::make_unique<Dataset::Inside>();
  inside->name = "the stream";
  auto reader = open_stream(rows);
  const bool classes = !reader->schema().classes.empty();
  inside->data =
      detail::open_dataset(std::move(reader), read_options(with_task(options, classes), context),
                           inside->name, detail::rng::Key{inside->seed}, context.progress);
  return Dataset(std::move(inside));
}

}  // namespace kerf
