// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/arrays/npy.h"

#include <charconv>
#include <map>

#include "kerf/core/require.h"

namespace kerf::detail::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 1 << 20;

/// The header is a Python dict literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  /// What follows `'key':`, without blanks in front.
  std::string_view value(std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::string word = quote + std::string(key) + quote;
      std::size_t at = text_.find(word);
      if (at == std::string_view::npos) continue;
      at = text_.find_first_not_of(" ", at + word.size());
      if (at == std::string_view::npos || text_[at] != ':') continue;
      at = text_.find_first_not_of(" ", at + 1);
      if (at != std::string_view::npos) return text_.substr(at);
    }
    fail(ErrorKind::data, "{} is damaged: its npy header has no '{}'", name_, key);
  }

  std::string_view string(std::string_view key) const {
    const std::string_view rest = value(key);
    KERF_REQUIRE(rest[0] == '\'' || rest[0] == '"', data,
                 "{} holds records with several fields; save a plain 2-d array of numbers", name_);
    return rest.substr(1, rest.find(rest[0], 1) - 1);
  }

  bool boolean(std::string_view key) const {
    const std::string_view rest = value(key);
    KERF_REQUIRE(rest.starts_with("True") || rest.starts_with("False"), data,
                 "{} is damaged: '{}' of its npy header is neither True nor False", name_, key);
    return rest[0] == 'T';
  }

  std::vector<Index> shape() const {
    std::string_view rest = value("shape");
    const std::size_t close = rest.find(')');
    KERF_REQUIRE(rest[0] == '(' && close != std::string_view::npos, data,
                 "{} is damaged: the shape in its npy header is no tuple", name_);
    rest = rest.substr(1, close - 1);
    std::vector<Index> sizes;
    for (;;) {
      const std::size_t at = rest.find_first_not_of(" ,");
      if (at == std::string_view::npos) return sizes;
      rest.remove_prefix(at);
      Index size = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      KERF_REQUIRE(error == std::errc() && size >= 0 && sizes.size() < 8, data,
                   "{} is damaged: {} is no size of an array", name_, quoted(rest));
      sizes.push_back(size);
      rest.remove_prefix(end - rest.data());
      if (rest.starts_with('L')) rest.remove_prefix(1);  // Python 2 wrote 3L
    }
  }

 private:
  std::string_view text_;
  const std::string& name_;
};

ElementType element_type(std::string_view descr, const std::string& name) {
  static const std::map<std::string_view, ElementType> kTypes = {
      {"b1", ElementType::u8},  {"u1", ElementType::u8},  {"i1", ElementType::i8},
      {"u2", ElementType::u16}, {"i2", ElementType::i16}, {"u4", ElementType::u32},
      {"i4", ElementType::i32}, {"u8", ElementType::u64}, {"i8", ElementType::i64},
      {"f2", ElementType::f16}, {"f4", ElementType::f32}, {"f8", ElementType::f64}};
  const auto found = descr.size() == 3 ? kTypes.find(descr.substr(1)) : kTypes.end();
  KERF_REQUIRE(found != kTypes.end(), data,
               "{} holds elements of type {}, not numbers; save it as float32 or float64", name,
               quoted(descr));
  return found->second;
}

}  // namespace

bool looks_like_npy(std::string_view head) { return head.starts_with(kMagic); }

ArrayHeader read_npy_header(InputStream& input) {
  unsigned char start[12] = {};
  std::size_t got = input.read(start, 10);
  const int version = start[6];
  KERF_REQUIRE(got == 10 && version >= 1 && version <= 3, data,
               "{} is not an npy file of version 1, 2 or 3", input.name());
  std::size_t length = start[8] | std::size_t{start[9]} << 8;
  std::size_t offset = 10;
  if (version >= 2) {
    got = input.read(start + 10, 2);
    length |= std::size_t{start[10]} << 16 | std::size_t{start[11]} << 24;
    offset = 12;
  }
  KERF_REQUIRE(length <= kLongestHeader, data, "{} is damaged: its npy header claims {} bytes",
               input.name(), length);
  std::vector<char> text;
  input.read_some(text, static_cast<Index>(length));
  KERF_REQUIRE(text.size() == length && length > 0, data, "{} is cut short within its npy header",
               input.name());
  const HeaderText values({text.data(), text.size()}, input.name());
  const std::string_view descr = values.string("descr");
  ArrayHeader header;
  header.type = element_type(descr, input.name());
  header.swapped = descr[0] == '>';
  header.shape = values.shape();
  const std::size_t dimensions = header.shape.size();
  KERF_REQUIRE(
      dimensions >= 1 && dimensions <= 4, data,
      "{} holds an array of {} dimensions; kerf reads 1 (one column), 2 (a table), 3 and 4 "
      "(images)",
      input.name(), dimensions);
  header.by_columns = values.boolean("fortran_order") && dimensions > 1;
  header.data_offset = static_cast<Index>(offset + length);
  return header;
}

std::unique_ptr<Reader> open_npy(InputStream input, const ReadOptions&) {
  ArrayHeader header = read_npy_header(input);
  return open_array(std::move(input), std::move(header));
}

}  // namespace kerf::detail::io
