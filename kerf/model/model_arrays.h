// The arrays of a model file: named, typed, in any order, read as untrusted input.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// Collects arrays: list() goes into the header, their bytes follow it.
class ArrayWriter {
 public:
  /// Of the caller's memory, which must outlive this.
  void add(const std::string& name, MatrixView<const double> values);
  void add(const std::string& name, MatrixView<const float> values);
  void add(const std::string& name, std::span<const double> column);
  void add(const std::string& name, std::span<const float> column);
  void add(const std::string& name, std::span<const std::int32_t> column);
  void add(const std::string& name, std::span<const Index> column);
  /// The same of numbers that this keeps.
  void add_numbers(const std::string& name, std::vector<double> numbers);

  nlohmann::json list() const;
  /// The arrays one after the other.
  std::span<const std::string_view> parts() const { return parts_; }
  void append_to(std::string& bytes) const;
  /// The name of an array that ArrayReader would refuse, or "".
  std::string first_not_finite() const;

 private:
  void put(const std::string& name, const char* type, Index rows, Index cols, const void* data,
           std::size_t size);

  struct Entry {
    std::string name, type;
    Index rows, cols;
  };
  std::vector<Entry> entries_;
  std::vector<std::string_view> parts_;
  std::deque<std::vector<double>> numbers_;  // which parts point into
};

/// Hands arrays out by name; each must fit the file, have the type asked for and be finite.
class ArrayReader {
 public:
  ArrayReader(const nlohmann::json& list, std::string_view bytes);

  bool has(std::string_view name) const { return entries_.contains(name); }
  /// Names that begin so.
  std::vector<std::string> names(std::string_view prefix) const;
  template <class T>
  Matrix<T> matrix(std::string_view name);
  template <class T>
  std::vector<T> vector(std::string_view name);
  /// Throws if an array was not asked for.
  void require_all_read() const;

 private:
  struct Entry {
    std::string type;
    Index rows, cols;
    std::string_view bytes;
    bool was_read = false;
  };
  template <class T>
  const Entry& take(std::string_view name);
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace kerf::detail
