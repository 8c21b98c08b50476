// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/class_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kerf/core/options.h"

namespace kerf::detail::io {
namespace {

constexpr double kHeldWhole = 9007199254740992;  // 2^53: doubles hold all whole numbers below

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool takes_sign(std::string_view& text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  return minus;
}

std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const std::string_view digits = text.substr(0, end - text.begin());
  text.remove_prefix(digits.size());
  return digits;
}

/// The power of ten behind an e; false: there is no number.
bool take_exponent(std::string_view& text, Index& exponent) {
  constexpr Index kAbsurd = Index{1} << 40;
  text.remove_prefix(1);
  const bool minus = takes_sign(text);
  const std::string_view digits = take_digits(text);
  Index value = 0;
  for (const char c : digits) value = std::min(kAbsurd, value * 10 + (c - '0'));
  exponent += minus ? -value : value;
  return !digits.empty();
}

/// What exact_number() made of a whole number that somebody may write out; "": of another one.
std::string all_digits(const std::string& exact) {
  constexpr double kMostZeros = 40;
  const std::size_t e = exact.find('e');
  if (e == std::string::npos) return exact;
  const double zeros = parse_number(std::string_view(exact).substr(e + 1)).value_or(-1);
  if (zeros < 0 || zeros > kMostZeros) return "";
  return exact.substr(0, e) + std::string(static_cast<std::size_t>(zeros), '0');
}

}  // namespace

std::string exact_number(std::string_view text) {
  const bool minus = takes_sign(text);
  std::string digits(take_digits(text));
  Index exponent = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view decimals = take_digits(text);
    digits += decimals;
    exponent -= static_cast<Index>(decimals.size());
  }
  if (digits.empty()) return "";
  if ((text.starts_with('e') || text.starts_with('E')) && !take_exponent(text, exponent)) return "";
  if (!text.empty()) return "";
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  const std::size_t last = digits.find_last_not_of('0');
  exponent += static_cast<Index>(digits.size() - 1 - last);
  return fmt::format("{}{}e{}", minus ? "-" : "", digits.substr(first, last + 1 - first), exponent);
}

bool has_leading_zeros(std::string_view text) {
  takes_sign(text);
  return text.size() >= 2 && text[0] == '0' && is_digit(text[1]);
}

std::string class_key(std::string_view text) {
  std::string number = has_leading_zeros(text) ? "" : exact_number(text);
  return number.empty() ? std::string(text) : number;
}

std::string number_name(std::string_view text) {
  if (has_leading_zeros(text)) return std::string(text);
  const std::string exact = exact_number(text);
  const double value = parse_number(text).value_or(0);
  if (std::abs(value) < kHeldWhole) {
    std::string name = value == 0 ? "0" : format_number(value);
    if (exact_number(name) == exact) return name;
  }
  const std::string whole = all_digits(exact);
  return whole.empty() ? std::string(text) : whole;
}

std::string word_name(std::string_view text) {
  return exact_number(text).empty() ? std::string(text) : number_name(text);
}

ClassNames::ClassNames(const std::vector<std::string>& classes) {
  std::set<std::string> plain;  // numbers that a class without zeros in front has
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const auto number = static_cast<Index>(k);
    by_text_.emplace(classes[k], number);
    const std::string value = exact_number(classes[k]);
    if (value.empty()) continue;
    const auto [entry, is_new] = by_number_.emplace(value, number);
    if (!has_leading_zeros(classes[k])) {
      if (plain.insert(value).second) entry->second = number;
    } else if (!is_new && !plain.contains(value)) {
      entry->second = -1;
    }
  }
}

Index ClassNames::find(std::string_view text) const {
  if (const auto found = by_text_.find(text); found != by_text_.end()) return found->second;
  const auto found = by_number_.find(exact_number(text));
  return found == by_number_.end() ? -1 : found->second;
}

}  // namespace kerf::detail::io
