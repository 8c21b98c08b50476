// SPDX-License-Identifier: Apache-2.0
#include "kerf/api/behind/tables.h"

#include <cmath>
#include <set>
#include <unordered_map>

#include "kerf/core/require.h"

namespace kerf {

using detail::io::ElementType;

namespace {

template <class T>
constexpr ElementType kTypeOf = ElementType::f64;
template <>
constexpr ElementType kTypeOf<float> = ElementType::f32;
template <>
constexpr ElementType kTypeOf<std::uint8_t> = ElementType::u8;

Index rows_of(const Rows& x) {
  return std::visit([](const auto& view) { return view.rows; }, x);
}

/// Rows may be a slice of others, whose offsets do not begin at 0, or none.
detail::io::SparseArray sparse_array(const CsrView& x, HeldTable& held) {
  const Index first = x.rows > 0 ? x.offsets[0] : 0;
  held.offsets.assign(1, 0);
  for (Index i = 0; i < x.rows; ++i) held.offsets.push_back(x.offsets[i + 1] - first);
  return {.values = reinterpret_cast<const char*>(x.values + first),
          .value_type = ElementType::f32,
          .columns = reinterpret_cast<const char*>(x.columns + first),
          .offsets = reinterpret_cast<const char*>(held.offsets.data()),
          .column_type = ElementType::i32,
          .offset_type = ElementType::i64,
          .entries = held.offsets.back(),
          .width = x.cols};
}

template <class T>
void add_numbers(const MatrixView<const T>& x, detail::io::MemoryTable& to) {
  constexpr auto kSize = static_cast<Index>(sizeof(T));
  if (x.cols > 0)
    to.parts.emplace_back(detail::io::NumberArray{reinterpret_cast<const char*>(x.data), kTypeOf<T>,
                                                  x.cols, x.stride * kSize, kSize});
}

template <class T>
detail::io::ImageArray image_array(const MatrixView<const T>& x, const ImageShape& shape) {
  constexpr auto kSize = static_cast<Index>(sizeof(T));
  KERF_REQUIRE(shape.height > 0 && shape.width > 0 && shape.channels > 0, usage,
               "there are no images of {} x {} x {}", shape.height, shape.width, shape.channels);
  KERF_REQUIRE(x.cols == detail::values_of(shape), usage,
               "images of {} x {} x {} have {} numbers, but rows have {} columns", shape.height,
               shape.width, shape.channels, detail::values_of(shape), x.cols);
  return {reinterpret_cast<const char*>(x.data),
          kTypeOf<T>,
          shape,
          x.stride * kSize,
          shape.width * shape.channels * kSize,
          shape.channels * kSize,
          kSize};
}

void add_inputs(const Table& table, HeldTable& held) {
  detail::io::MemoryTable& to = held.view;
  std::visit(
      [&]<class View>(const View& x) {
        if constexpr (std::is_same_v<View, CsrView>)
          to.sparse = sparse_array(x, held);
        else if (table.image.present())
          to.images = image_array(x, table.image);
        else
          add_numbers(x, to);
      },
      table.x);
}

/// Words as numbers in a list of them, as they first come.
void add_words(const Words& column, Index rows, HeldTable& held) {
  KERF_REQUIRE(std::ssize(column.values) == rows, usage, "column {} has {} words for {} rows",
               column.name, column.values.size(), rows);
  std::unordered_map<std::string_view, std::int32_t> numbers;
  std::vector<std::string> words;
  std::vector<std::int32_t> codes;
  for (const std::string& word : column.values) {
    if (word.empty()) {
      codes.push_back(-1);
      continue;
    }
    const auto [at, is_new] = numbers.try_emplace(word, static_cast<std::int32_t>(words.size()));
    if (is_new) words.push_back(word);
    codes.push_back(at->second);
  }
  held.codes.push_back(std::move(codes));
  held.view.parts.emplace_back(detail::io::WordArray{std::move(words), held.codes.back()});
}

/// What would be misread in silence.
void check_names(const Table& table) {
  const Index columns = std::visit([](const auto& x) { return x.cols; }, table.x);
  KERF_REQUIRE(table.names.empty() ? table.words.empty() || columns == 0
                                   : std::ssize(table.names) == columns,
               usage, "x has {} columns and {} names: it needs one for each{}", columns,
               table.names.size(), table.words.empty() ? "" : ", since words stand beside it");
  std::set<std::string> seen;
  for (const std::string& name : table.classes)
    KERF_REQUIRE(!name.empty() && seen.insert(name).second, usage,
                 "classes need names that differ, but one is '{}'{}", name,
                 name.empty() ? "" : " twice");
}

/// Those of the inputs and of the targets, as a header would have them.
std::vector<std::string> all_names(const Table& table) {
  std::vector<std::string> names = table.names;
  for (const Words& column : table.words) names.push_back(column.name);
  if (names.empty()) return names;
  for (Index t = 0; t < table.y.cols; ++t)
    names.push_back(table.y.cols == 1 ? "target" : fmt::format("target {}", t + 1));
  return names;
}

/// Blocks of a stream, each read as a table in memory.
class StreamReader final : public detail::io::Reader {
 public:
  explicit StreamReader(RowStream& rows) : rows_(rows) {
    rewind();
    KERF_REQUIRE(advance(), data, "the stream has no rows");
    schema_ = inner_->schema();
    rewind();
  }
  const detail::io::Schema& schema() const override { return schema_; }
  void rewind() override {
    rows_.rewind();
    inner_.reset();
    first_row_ = 0;
  }
  bool next(detail::io::RawBlock& block, Index max_rows) override {
    while (inner_ != nullptr || advance()) {
      if (inner_->next(block, max_rows)) {
        block.first_row += first_row_;
        return true;
      }
      first_row_ += held_.view.rows;
      inner_.reset();
    }
    block.clear();
    return false;
  }

 private:
  bool advance() {
    Table table;
    if (!rows_.next(table)) return false;
    held_ = hold(table);
    inner_ = detail::io::open_memory(held_.view);
    const std::string now = shape_of(inner_->schema());
    KERF_REQUIRE(shape_.empty() || now == shape_, data,
                 "row {}: a block of the stream has {}, the first one has {}", first_row_, now,
                 shape_);
    shape_ = now;
    return true;
  }

  /// What all blocks have in common, in words.
  std::string shape_of(const detail::io::Schema& schema) const {
    std::string words;
    Index column = 0;
    for (const auto& part : held_.view.parts) {
      const auto* numbers = std::get_if<detail::io::NumberArray>(&part);
      column += numbers != nullptr ? numbers->columns : 1;
      if (numbers == nullptr) words += fmt::format(" {}", column - 1);
    }
    const ImageShape& image = schema.image;
    return fmt::format(
        "{}{} columns{}{}{}, {} target{}{}{}{}", schema.sparse ? "sparse rows of " : "",
        schema.sparse ? schema.sparse_columns : schema.columns - schema.targets,
        words.empty() ? "" : " (words in" + words + ")",
        image.present()
            ? fmt::format(" (images of {} x {} x {})", image.height, image.width, image.channels)
            : "",
        schema.bytes ? " of bytes" : "", held_.view.targets.cols,
        held_.view.targets.cols == 1 ? "" : "s", schema.weighted ? ", weights" : "",
        schema.names.empty() ? "" : fmt::format(", names {}", fmt::join(schema.names, " ")),
        schema.classes.empty() ? "" : fmt::format(", classes {}", fmt::join(schema.classes, " ")));
  }

  RowStream& rows_;
  std::string shape_;
  HeldTable held_;
  std::unique_ptr<detail::io::Reader> inner_;  // null: the next block is to come
  detail::io::Schema schema_;
  Index first_row_ = 0;  // of the block
};

}  // namespace

HeldTable hold(const Table& table) {
  HeldTable held;
  held.view.rows = rows_of(table.x);
  if (held.view.rows == 0 && !table.words.empty())
    held.view.rows = std::ssize(table.words[0].values);
  const bool is_plain = !std::holds_alternative<CsrView>(table.x) && !table.image.present();
  KERF_REQUIRE(is_plain || (table.words.empty() && table.names.empty()), usage,
               "names and words go with dense rows that are no images");
  check_names(table);
  add_inputs(table, held);
  held.codes.reserve(table.words.size());  // views into it must stay valid
  for (const Words& column : table.words) add_words(column, held.view.rows, held);
  held.view.names = all_names(table);
  held.view.targets = table.y;
  held.view.classes = table.classes;
  held.view.weights = table.weights;
  return held;
}

namespace {

void check_sparse(const CsrView& x) {
  for (Index i = 0; i < x.rows; ++i) {
    KERF_REQUIRE(x.offsets[i + 1] >= x.offsets[i], usage, "the offsets of sparse row {} go back",
                 i);
    for (const std::int32_t column : x.row(i).columns)
      KERF_REQUIRE(column >= 0 && column < x.cols, usage,
                   "sparse row {} has column {}, but there are {}", i, column, x.cols);
  }
}

template <class T>
void check_finite(std::span<const T> row, Index i) {
  for (const T value : row)
    KERF_REQUIRE(std::isfinite(value), data, "row {} has a number that is not finite", i);
}

}  // namespace

RoundedRows::RoundedRows(const Rows& rows) {
  if (const auto* sparse = std::get_if<CsrView>(&rows)) {
    check_sparse(*sparse);
    view = *sparse;
    for (Index i = 0; i < sparse->rows; ++i) check_finite(sparse->row(i).values, i);
    return;
  }
  if (const auto* single = std::get_if<MatrixView<const float>>(&rows)) {
    view = *single;
  } else if (const auto* wide = std::get_if<MatrixView<const double>>(&rows)) {
    rounded_ = detail::copy_of<float>(*wide);
    view = {rounded_.view(), *wide};
  } else {
    rounded_ = detail::copy_of<float>(std::get<MatrixView<const std::uint8_t>>(rows));
    view = rounded_.view();
  }
  for (Index i = 0; i < view.rows(); ++i)
    check_finite(std::span<const float>(view.dense().row(i)), i);
}

std::unique_ptr<detail::io::Reader> open_stream(RowStream& rows) {
  return std::make_unique<StreamReader>(rows);
}

}  // namespace kerf
