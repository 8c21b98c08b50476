// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/model_arrays.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "kerf/core/require.h"

namespace kerf::detail {
namespace {

template <class T>
constexpr const char* kType = nullptr;
template <>
constexpr const char* kType<double> = "float64";
template <>
constexpr const char* kType<float> = "float32";
template <>
constexpr const char* kType<std::int32_t> = "int32";
template <>
constexpr const char* kType<Index> = "int64";

std::size_t size_of(std::string_view type) {
  if (type == "float64" || type == "int64") return 8;
  if (type == "float32" || type == "int32") return 4;
  fail(ErrorKind::data, "an array is of the unknown type '{}'", type);
}

}  // namespace

void ArrayWriter::put(const std::string& name, const char* type, Index rows, Index cols,
                      const void* data, std::size_t size) {
  entries_.push_back({name, type, rows, cols});
  parts_.emplace_back(static_cast<const char*>(data), size);
}

nlohmann::json ArrayWriter::list() const {
  auto list = nlohmann::json::array();
  for (const Entry& entry : entries_)
    list.push_back(
        {{"name", entry.name}, {"type", entry.type}, {"rows", entry.rows}, {"cols", entry.cols}});
  return list;
}

void ArrayWriter::add(const std::string& name, MatrixView<const double> values) {
  put(name, kType<double>, values.rows, values.cols, values.data,
      static_cast<std::size_t>(values.rows * values.cols) * sizeof(double));
}
void ArrayWriter::add(const std::string& name, MatrixView<const float> values) {
  put(name, kType<float>, values.rows, values.cols, values.data,
      static_cast<std::size_t>(values.rows * values.cols) * sizeof(float));
}
void ArrayWriter::add(const std::string& name, std::span<const double> column) {
  put(name, kType<double>, std::ssize(column), 1, column.data(), column.size_bytes());
}
void ArrayWriter::add(const std::string& name, std::span<const float> column) {
  put(name, kType<float>, std::ssize(column), 1, column.data(), column.size_bytes());
}
void ArrayWriter::add(const std::string& name, std::span<const std::int32_t> column) {
  put(name, kType<std::int32_t>, std::ssize(column), 1, column.data(), column.size_bytes());
}
void ArrayWriter::add(const std::string& name, std::span<const Index> column) {
  put(name, kType<Index>, std::ssize(column), 1, column.data(), column.size_bytes());
}
void ArrayWriter::add_numbers(const std::string& name, std::vector<double> numbers) {
  add(name, std::span<const double>(numbers_.emplace_back(std::move(numbers))));
}

void ArrayWriter::append_to(std::string& bytes) const {
  for (const std::string_view part : parts_)
    if (!part.empty()) bytes.append(part);
}

std::string ArrayWriter::first_not_finite() const {
  const auto all_finite = [](std::string_view bytes, auto zero) {
    using T = decltype(zero);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      if (!std::isfinite(value)) return false;
    }
    return true;
  };
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const std::string& type = entries_[k].type;
    if ((type == kType<double> && !all_finite(parts_[k], double{0})) ||
        (type == kType<float> && !all_finite(parts_[k], float{0})))
      return entries_[k].name;
  }
  return "";
}

ArrayReader::ArrayReader(const nlohmann::json& list, std::string_view bytes) {
  for (const auto& item : list) {
    const auto name = item.at("name").get<std::string>();
    // Files of the first versions hold float64 only and do not say so.
    const auto type = item.value("type", std::string("float64"));
    const auto rows = item.at("rows").get<std::uint64_t>();
    const auto cols = item.at("cols").get<std::uint64_t>();
    const std::uint64_t room = bytes.size() / size_of(type);
    KERF_REQUIRE(rows <= room && cols <= room && (cols == 0 || rows <= room / cols), data,
                 "array '{}' does not fit the file", name);
    const std::size_t size = rows * cols * size_of(type);
    const Entry entry{type, static_cast<Index>(rows), static_cast<Index>(cols),
                      bytes.substr(0, size)};
    KERF_REQUIRE(entries_.emplace(name, entry).second, data, "array '{}' is there twice", name);
    bytes.remove_prefix(size);
  }
  KERF_REQUIRE(bytes.empty(), data, "there is more than its header says");
}

std::vector<std::string> ArrayReader::names(std::string_view prefix) const {
  std::vector<std::string> found;
  for (const auto& [name, entry] : entries_)
    if (name.starts_with(prefix)) found.push_back(name);
  return found;
}

template <class T>
const ArrayReader::Entry& ArrayReader::take(std::string_view name) {
  const auto found = entries_.find(name);
  KERF_REQUIRE(found != entries_.end(), data, "there is no array '{}'", name);
  Entry& entry = found->second;
  KERF_REQUIRE(entry.type == kType<T>, data, "array '{}' is of type {}, not {}", name, entry.type,
               kType<T>);
  entry.was_read = true;
  return entry;
}

template <class T>
Matrix<T> ArrayReader::matrix(std::string_view name) {
  const Entry& entry = take<T>(name);
  Matrix<T> values(entry.rows, entry.cols);
  if (!entry.bytes.empty()) std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
  if constexpr (std::is_floating_point_v<T>)
    for (Index i = 0; i < values.rows(); ++i)
      for (const T v : values.row(i))
        KERF_REQUIRE(std::isfinite(v), data, "array '{}' holds a number that is not finite", name);
  return values;
}

template <class T>
std::vector<T> ArrayReader::vector(std::string_view name) {
  const Matrix<T> column = matrix<T>(name);
  return {column.data(), column.data() + column.rows() * column.cols()};
}

void ArrayReader::require_all_read() const {
  for (const auto& [name, entry] : entries_)
    KERF_REQUIRE(entry.was_read, data, "array '{}' does not belong to such a model", name);
}

template Matrix<double> ArrayReader::matrix<double>(std::string_view);
template Matrix<float> ArrayReader::matrix<float>(std::string_view);
template std::vector<double> ArrayReader::vector<double>(std::string_view);
template std::vector<float> ArrayReader::vector<float>(std::string_view);
template std::vector<std::int32_t> ArrayReader::vector<std::int32_t>(std::string_view);
template std::vector<Index> ArrayReader::vector<Index>(std::string_view);

}  // namespace kerf::detail
