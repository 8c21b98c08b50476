// SPDX-License-Identifier: Apache-2.0
#include "kerf/api/behind/tables.h"

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

detail::io::SparseArray sparse_array(const CsrView& x) {
  return {.values = reinterpret_cast<const char*>(x.values),
          .value_type = ElementType::f32,
          .columns = reinterpret_cast<const char*>(x.columns),
          .offsets = reinterpret_cast<const char*>(x.offsets),
          .column_type = ElementType::i32,
          .offset_type = ElementType::i64,
          .entries = x.rows == 0 ? 0 : x.offsets[x.rows],
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

void add_inputs(const Table& table, detail::io::MemoryTable& to) {
  std::visit(
      [&]<class View>(const View& x) {
        if constexpr (std::is_same_v<View, CsrView>)
          to.sparse = sparse_array(x);
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
    const detail::io::Schema& now = inner_->schema();
    KERF_REQUIRE(schema_.columns + schema_.sparse_columns == 0 ||
                     (now.columns == schema_.columns && now.names == schema_.names &&
                      now.sparse_columns == schema_.sparse_columns &&
                      now.targets == schema_.targets && now.classes == schema_.classes),
                 data, "row {}: a block of the stream has other columns than the first one",
                 first_row_);
    return true;
  }

  RowStream& rows_;
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
  add_inputs(table, held.view);
  held.codes.reserve(table.words.size());  // views into it must stay valid
  for (const Words& column : table.words) add_words(column, held.view.rows, held);
  held.view.names = all_names(table);
  held.view.targets = table.y;
  held.view.classes = table.classes;
  held.view.weights = table.weights;
  return held;
}

RoundedRows::RoundedRows(const Rows& rows) {
  if (const auto* sparse = std::get_if<CsrView>(&rows)) {
    view = *sparse;
  } else if (const auto* single = std::get_if<MatrixView<const float>>(&rows)) {
    view = *single;
  } else if (const auto* wide = std::get_if<MatrixView<const double>>(&rows)) {
    rounded_ = detail::copy_of<float>(*wide);
    view = {rounded_.view(), *wide};
  } else {
    rounded_ = detail::copy_of<float>(std::get<MatrixView<const std::uint8_t>>(rows));
    view = rounded_.view();
  }
}

std::unique_ptr<detail::io::Reader> open_stream(RowStream& rows) {
  return std::make_unique<StreamReader>(rows);
}

}  // namespace kerf
