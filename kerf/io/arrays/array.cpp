// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/arrays/array.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "kerf/core/require.h"

namespace kerf::detail::io {
namespace {

constexpr Index kMostColumns = Index{1} << 30;
constexpr Index kWide = 8;  // bytes of the whole numbers that a double may not hold

double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value;
  if (exponent == 0)
    value = std::ldexp(fraction, -24);
  else if (exponent == 31)
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  else
    value = std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <class T, bool kHalf = false>
void convert(bool swapped, const char* from, Index count, double* to, Index step) {
  if (step == 0) step = static_cast<Index>(sizeof(T));
  for (Index i = 0; i < count; ++i) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, from + i * step, sizeof(T));
    if (swapped) std::reverse(bytes, bytes + sizeof(T));
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    if constexpr (kHalf)
      to[i] = half_to_double(value);
    else
      to[i] = static_cast<double>(value);
  }
}

class ArrayReader final : public Reader {
 public:
  ArrayReader(InputStream input, ArrayHeader header)
      : input_(std::move(input)), header_(std::move(header)) {
    check();
    if (header_.shape.size() >= 3)
      schema_.image = {header_.shape[1], header_.shape[2],
                       header_.shape.size() == 4 ? header_.shape[3] : 1};
    schema_.columns = columns_;
    schema_.bytes = header_.type == ElementType::u8 && schema_.image.present();
  }

  const Schema& schema() const override { return schema_; }
  void rewind() override {
    row_ = 0;
    if (!moved_) return;  // a pipe can be read once only
    moved_ = false;
    input_.rewind();
    input_.read_some(bytes_, header_.data_offset);
  }
  void keep_spelling(Index column) override {
    spelled_ = is_wide() ? column : kNoColumn;  // a double holds all others
  }
  void keep_words(const std::vector<Index>& columns) override {
    words_ = is_wide() ? columns : std::vector<Index>();
  }
  std::vector<Index> code_columns() const override { return {codes_.begin(), codes_.end()}; }
  double progress() const override {
    return header_.rows() == 0 ? 0
                               : static_cast<double>(row_) / static_cast<double>(header_.rows());
  }

  bool next(RawBlock& block, Index max_rows) override {
    block.clear();
    block.file = input_.name();
    block.first_row = row_;
    const Index rows = std::min(max_rows, header_.rows() - row_);
    if (rows <= 0) {
      // Compressed data have a checksum behind the last element: look at it.
      if (!header_.by_columns) input_.peek(1);
      return false;
    }
    if (header_.by_columns) {
      read_columns(block, rows);
    } else {
      read_rows(block, rows);
    }
    block.rows = rows;
    row_ += rows;
    for (Index i = 0; i < rows && !schema_.bytes; ++i) block.list_odd(i);
    if (is_wide()) look_for_codes(block);
    return true;
  }

 private:
  void check() {
    for (const Index size : header_.shape)
      KERF_REQUIRE(size >= 0, data, "{} is damaged: its header has a size of {}", input_.name(),
                   size);
    columns_ = 1;
    for (std::size_t k = 1; k < header_.shape.size(); ++k) {
      const Index size = header_.shape[k];
      KERF_REQUIRE(size > 0 && columns_ <= kMostColumns / size, data,
                   "{}: rows of {} numbers are not possible", input_.name(),
                   fmt::join(header_.shape.begin() + 1, header_.shape.end(), " x "));
      columns_ *= size;
    }
    KERF_REQUIRE(header_.rows() > 0, data, "{} has no rows", input_.name());
    const Index row_bytes = columns_ * element_size(header_.type);
    KERF_REQUIRE(header_.rows() <= std::numeric_limits<Index>::max() / 16 / row_bytes, data,
                 "{} claims {} rows of {} numbers, which no file can hold", input_.name(),
                 header_.rows(), columns_);
    if (!input_.compressed() && input_.file().size() >= 0) {
      const Index wanted = header_.data_offset + header_.rows() * row_bytes;
      KERF_REQUIRE(input_.file().size() >= wanted, data,
                   "{} is cut short: its header tells of {} rows of {} numbers, {} bytes, but it "
                   "has {}",
                   input_.name(), header_.rows(), columns_, wanted, input_.file().size());
    }
    const bool seekable = input_.file().seekable() && !input_.compressed();
    KERF_REQUIRE(!header_.by_columns || (seekable && header_.shape.size() == 2), data,
                 "{} is stored by columns (Fortran order); save it with numpy.ascontiguousarray",
                 input_.name());
  }

  void read_rows(RawBlock& block, Index rows) {
    const Index wanted = rows * columns_ * element_size(header_.type);
    moved_ = true;  // even if this fails
    input_.read_some(bytes_, wanted);
    KERF_REQUIRE(static_cast<Index>(bytes_.size()) == wanted, data,
                 "{} is cut short: it ends within row {} of {}", input_.name(),
                 row_ + static_cast<Index>(bytes_.size()) / (wanted / rows), header_.rows());
    if (schema_.bytes) {
      block.pixels.resize(rows, columns_);
      std::memcpy(block.pixels.data(), bytes_.data(), bytes_.size());
    } else {
      block.cells.resize(rows, columns_);
      convert_elements(header_.type, header_.swapped, bytes_.data(), rows * columns_,
                       block.cells.data());
      if (spelled_ >= 0)
        spell(bytes_.data() + spelled_ * kWide, columns_, rows,
              [&](Index, std::string text) { block.spelling.push_back(std::move(text)); });
      for (const Index column : words_)
        keep_numbers(bytes_.data() + column * kWide, columns_, rows, column, block);
    }
  }

  /// Fortran order: a piece of each column, gathered.
  void read_columns(RawBlock& block, Index rows) {
    const Index size = element_size(header_.type);
    block.cells.resize(rows, columns_);
    bytes_.resize(rows * size);
    column_.resize(rows);
    for (Index j = 0; j < columns_; ++j) {
      const Index offset = header_.data_offset + (j * header_.rows() + row_) * size;
      KERF_REQUIRE(input_.file().read(offset, bytes_.data(), bytes_.size()) == bytes_.size(), data,
                   "{} is cut short", input_.name());
      convert_elements(header_.type, header_.swapped, bytes_.data(), rows, column_.data());
      for (Index i = 0; i < rows; ++i) block.cells(i, j) = column_[i];
      if (j == spelled_)
        spell(bytes_.data(), 1, rows,
              [&](Index, std::string text) { block.spelling.push_back(std::move(text)); });
      if (std::ranges::find(words_, j) != words_.end())
        keep_numbers(bytes_.data(), 1, rows, j, block);
    }
  }

  /// Whole numbers of 64 bits, every `step`-th, with all their digits.
  template <class Put>
  void spell(const char* from, Index step, Index rows, const Put& put) const {
    for (Index i = 0; i < rows; ++i) {
      char bytes[kWide];
      std::memcpy(bytes, from + i * step * kWide, kWide);
      if (header_.swapped) std::reverse(bytes, bytes + kWide);
      std::uint64_t value;
      std::memcpy(&value, bytes, kWide);
      put(i, header_.type == ElementType::u64
                 ? fmt::format("{}", value)
                 : fmt::format("{}", static_cast<std::int64_t>(value)));
    }
  }

  void keep_numbers(const char* from, Index step, Index rows, Index column, RawBlock& block) const {
    block.words_kept = true;
    spell(from, step, rows, [&](Index i, const std::string& text) {
      block.add_odd(i, column, 0, text);
      block.odd.back().is_number = true;
    });
  }

  void look_for_codes(const RawBlock& block) {
    constexpr double kHeldWhole = 9007199254740992;  // 2^53
    for (Index i = 0; i < block.rows; ++i)
      for (Index j = 0; j < columns_; ++j)
        if (std::abs(block.cells(i, j)) >= kHeldWhole) codes_.insert(j);
  }

  bool is_wide() const {
    return header_.type == ElementType::i64 || header_.type == ElementType::u64;
  }

  InputStream input_;
  ArrayHeader header_;
  Schema schema_;
  Index columns_ = 0, row_ = 0;
  Index spelled_ = kNoColumn;
  std::vector<Index> words_;  // columns whose numbers are listed with all their digits
  std::set<Index> codes_;     // see code_columns()
  bool moved_ = false;        // input_ does not stand behind the header
  std::vector<char> bytes_;
  std::vector<double> column_;
};

}  // namespace

Index element_size(ElementType type) {
  switch (type) {
    case ElementType::u8:
    case ElementType::i8:
      return 1;
    case ElementType::u16:
    case ElementType::i16:
    case ElementType::f16:
      return 2;
    case ElementType::u32:
    case ElementType::i32:
    case ElementType::f32:
      return 4;
    default:
      return 8;
  }
}

void convert_elements(ElementType type, bool swapped, const char* from, Index count, double* to,
                      Index step) {
  switch (type) {
    case ElementType::u8:
      return convert<std::uint8_t>(swapped, from, count, to, step);
    case ElementType::i8:
      return convert<std::int8_t>(swapped, from, count, to, step);
    case ElementType::u16:
      return convert<std::uint16_t>(swapped, from, count, to, step);
    case ElementType::i16:
      return convert<std::int16_t>(swapped, from, count, to, step);
    case ElementType::u32:
      return convert<std::uint32_t>(swapped, from, count, to, step);
    case ElementType::i32:
      return convert<std::int32_t>(swapped, from, count, to, step);
    case ElementType::u64:
      return convert<std::uint64_t>(swapped, from, count, to, step);
    case ElementType::i64:
      return convert<std::int64_t>(swapped, from, count, to, step);
    case ElementType::f16:
      return convert<std::uint16_t, true>(swapped, from, count, to, step);
    case ElementType::f32:
      return convert<float>(swapped, from, count, to, step);
    case ElementType::f64:
      return convert<double>(swapped, from, count, to, step);
  }
}

std::unique_ptr<Reader> open_array(InputStream input, ArrayHeader header) {
  return std::make_unique<ArrayReader>(std::move(input), std::move(header));
}

}  // namespace kerf::detail::io
