// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/amount.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kerf/core/options.h"

namespace kerf::detail::io {
namespace {

constexpr std::string_view kMoney[] = {"$", "€", "£", "¥", "₹"};
constexpr std::string_view kNarrowBlanks[] = {"\xC2\xA0", "\xE2\x80\xAF"};  // that do not break

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

bool take_back(std::string_view& text, std::string_view what) {
  if (!text.ends_with(what)) return false;
  text.remove_suffix(what.size());
  return true;
}

void take_blanks_back(std::string_view& text) {
  while (take_back(text, " ") || take_back(text, kNarrowBlanks[0]) ||
         take_back(text, kNarrowBlanks[1]))
    continue;
}

/// The unit in front of or behind the number.
std::string_view take_unit(std::string_view& text) {
  for (const std::string_view money : kMoney)
    if (take(text, money)) {
      take(text, " ");
      return money;
    }
  for (const std::string_view money : kMoney)
    if (take_back(text, money)) {
      take_blanks_back(text);
      return money;
    }
  if (!take_back(text, "%")) return "";
  take_blanks_back(text);
  return "%";
}

/// What stands between groups of digits; "": this is no such mark.
std::string_view mark_at(std::string_view text, char decimal) {
  for (const std::string_view blank : kNarrowBlanks)
    if (text.starts_with(blank)) return blank;
  const bool mark = text.starts_with(decimal == '.' ? ',' : '.') || text.starts_with(' ') ||
                    text.starts_with('\'');
  return mark ? text.substr(0, 1) : std::string_view();
}

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

}  // namespace

std::optional<Amount> parse_amount(std::string_view text, char decimal) {
  Amount amount;
  bool minus = text.size() > 2 && text.front() == '(' && text.back() == ')';
  if (minus) text = text.substr(1, text.size() - 2);
  bool has_sign = minus;
  const auto take_sign = [&] {
    if (has_sign || !(text.starts_with('-') || text.starts_with('+'))) return;
    minus = text.front() == '-';
    has_sign = true;
    text.remove_prefix(1);
  };
  take_sign();
  amount.unit = take_unit(text);
  take_sign();
  std::size_t size = count_digits(text);
  std::string digits(text.substr(0, size));
  text.remove_prefix(size);
  const std::string_view mark = mark_at(text, decimal);
  int groups = 0;
  // 0,125 is no thousand: nobody begins one with a zero.
  if (!mark.empty() && (size == 0 || size > 3 || digits.front() == '0')) return std::nullopt;
  for (; !mark.empty() && text.starts_with(mark); ++groups) {
    text.remove_prefix(mark.size());
    if (count_digits(text) != 3) return std::nullopt;
    digits += text.substr(0, 3);
    text.remove_prefix(3);
  }
  const bool has_decimals = text.starts_with(decimal);
  if (has_decimals) {
    text.remove_prefix(1);
    size = count_digits(text);
    digits += '.';
    digits += text.substr(0, size);
    text.remove_prefix(size);
  }
  if (!text.empty() || digits.empty() || digits == ".") return std::nullopt;
  const auto value = parse_number(digits.front() == '.' ? "0" + digits : digits);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  amount.value = minus ? -*value : *value;
  const bool money = !amount.unit.empty() && amount.unit != "%";
  amount.in_doubt = groups == 1 && !has_decimals && !money && (mark == "," || mark == ".");
  return amount;
}

std::optional<double> parse_comma_number(std::string_view text) {
  if (text.find('.') != std::string_view::npos) return std::nullopt;
  std::string number(text);
  std::ranges::replace(number, ',', '.');  // a second one is no number either
  const auto value = parse_number(number);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace kerf::detail::io
