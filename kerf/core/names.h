// Names of enumerators, stated once beside their type:
//
//   enum class Loss { squared, logistic };
//   constexpr auto names_of(Loss) { return std::array{"squared", "logistic"}; }
//
//   name_of(Loss::squared)            "squared"
//   find_by_name<Loss>("logistic")    Loss::logistic
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kerf::detail {

/// Enumerators count from 0 in the order of their names.
template <class E>
constexpr const char* name_of(E value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// The enumerator of that name, or nothing.
template <class E>
std::optional<E> find_by_name(std::string_view name) {
  const auto names = names_of(E{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<E>(found - names.begin());
}

}  // namespace kerf::detail
