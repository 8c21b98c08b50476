// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/moment.h"

#include <chrono>
#include <cmath>

namespace kerf::detail::io {
namespace {

constexpr std::int64_t kSecond = 1000000, kMinute = 60 * kSecond, kHour = 60 * kMinute,
                       kDay = 24 * kHour;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

/// A place in the text; what is taken is behind it.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_[0]; }
  bool take(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// The one of `any` that stands here, or 0.
  char take_any(std::string_view any) {
    const char c = peek();
    return c != '\0' && any.find(c) != std::string_view::npos && take(c) ? c : '\0';
  }
  /// A number of `least` to `most` digits, with no other digit behind it; -1: there is none.
  int number(int least, int most) {
    int value = 0, count = 0;
    while (count < static_cast<int>(text_.size()) && is_digit(text_[count])) {
      if (count == most) return -1;
      value = value * 10 + (text_[count++] - '0');
    }
    if (count < least) return -1;
    text_.remove_prefix(count);
    return value;
  }
  /// The letters that stand here.
  std::string_view word() {
    std::size_t size = 0;
    while (size < text_.size() && is_letter(text_[size])) ++size;
    const std::string_view letters = text_.substr(0, size);
    text_.remove_prefix(size);
    return letters;
  }

 private:
  std::string_view text_;
};

bool same_word(std::string_view word, std::string_view lower_case) {
  if (word.size() != lower_case.size()) return false;
  for (std::size_t k = 0; k < word.size(); ++k)
    if (lower(word[k]) != lower_case[k]) return false;
  return true;
}

/// 1 .. 12 of "Jan", "january"; 0: no month.
int month_of(std::string_view word) {
  constexpr std::string_view kMonths[] = {"january",   "february", "march",    "april",
                                          "may",       "june",     "july",     "august",
                                          "september", "october",  "november", "december"};
  for (int k = 0; k < 12; ++k)
    if (same_word(word, kMonths[k]) || same_word(word, kMonths[k].substr(0, 3))) return k + 1;
  return same_word(word, "sept") ? 9 : 0;
}

struct Date {
  int year = -1, month = -1, day = -1;
};

/// "Jan 31, 2024"
bool take_month_first(Cursor& at, Date& date) {
  date.month = month_of(at.word());
  at.take('.');
  if (date.month == 0 || !at.take(' ')) return false;
  date.day = at.number(1, 2);
  at.take(',');
  if (!at.take(' ')) return false;
  date.year = at.number(4, 4);
  return true;
}

/// Behind a first number of one or two digits.
bool take_day_first(Cursor& at, int first, DateOrder order, Date& date, bool& ordered) {
  const char mark = at.take_any("/-. ");
  if (mark == '\0') return false;
  if (is_letter(at.peek())) {
    date.day = first;
    date.month = month_of(at.word());
    if (date.month == 0 || mark == '.' || !(at.take(mark) || at.take(' '))) return false;
    date.year = at.number(4, 4);
    return true;
  }
  const int second = at.number(1, 2);
  if (second < 0 || mark == ' ' || !at.take(mark)) return false;
  date.year = at.number(4, 4);
  ordered = mark != '.';
  const bool month_first = ordered && order == DateOrder::mdy;
  date.month = month_first ? first : second;
  date.day = month_first ? second : first;
  return true;
}

bool take_date(Cursor& at, DateOrder order, Moment& moment) {
  Date date;
  if (is_letter(at.peek())) {
    if (!take_month_first(at, date)) return false;
  } else if (Cursor ahead = at; (date.year = ahead.number(4, 4)) >= 0) {
    const char mark = ahead.take_any("-/.");
    date.month = mark == '\0' ? -1 : ahead.number(1, 2);
    date.day = 1;
    if (mark != '\0' && ahead.take(mark))
      date.day = ahead.number(1, 2);
    else if (mark != '-' || !ahead.at_end())
      return false;  // 2024-01 is a month, 2024.01 a number
    at = ahead;
  } else if (const int first = at.number(1, 2);
             first < 0 || !take_day_first(at, first, order, date, moment.ordered)) {
    return false;
  }
  if (date.year < 0 || date.month < 1 || date.day < 1) return false;
  const std::chrono::year_month_day civil{std::chrono::year(date.year),
                                          std::chrono::month(static_cast<unsigned>(date.month)),
                                          std::chrono::day(static_cast<unsigned>(date.day))};
  if (!civil.ok()) return false;
  moment.micros = std::chrono::sys_days(civil).time_since_epoch().count() * kDay;
  moment.has_date = true;
  return true;
}

/// Digits of a second behind its point, in microseconds; -1: there are none.
std::int64_t take_fraction(Cursor& at) {
  std::int64_t micros = 0, unit = kSecond / 10;
  if (!is_digit(at.peek())) return -1;
  for (char c = at.take_any("0123456789"); c != '\0'; c = at.take_any("0123456789"), unit /= 10)
    micros += unit * (c - '0');
  return micros;
}

bool take_clock(Cursor& at, Moment& moment) {
  int hour = at.number(1, 2);
  if (hour < 0 || !at.take(':')) return false;
  const int minute = at.number(2, 2);
  int second = 0;
  std::int64_t fraction = 0;
  if (at.take(':')) {
    second = at.number(2, 2);
    if (at.take('.')) fraction = take_fraction(at);
  }
  if (minute < 0 || minute > 59 || second < 0 || second > 59 || fraction < 0 || hour > 23)
    return false;
  Cursor ahead = at;
  ahead.take(' ');
  const std::string_view half = ahead.word();
  if (const bool pm = same_word(half, "pm"); pm || same_word(half, "am")) {
    if (hour < 1 || hour > 12) return false;
    hour = hour % 12 + (pm ? 12 : 0);
    at = ahead;
  }
  moment.micros += hour * kHour + minute * kMinute + second * kSecond + fraction;
  moment.has_clock = true;
  return true;
}

bool take_zone(Cursor& at, Moment& moment) {
  at.take(' ');
  moment.has_zone = true;
  if (is_letter(at.peek())) {
    const std::string_view name = at.word();
    return name == "Z" || name == "UTC" || name == "GMT";
  }
  const char sign = at.take_any("+-");
  if (sign == '\0') return false;
  Cursor ahead = at;
  int hours = ahead.number(4, 4), minutes = 0;
  if (hours >= 0) {
    minutes = hours % 100;
    hours /= 100;
    at = ahead;
  } else {
    hours = at.number(2, 2);
    if (at.take(':')) minutes = at.number(2, 2);
  }
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return false;
  const std::int64_t ahead_of_utc = hours * kHour + minutes * kMinute;
  moment.micros += sign == '-' ? ahead_of_utc : -ahead_of_utc;
  return true;
}

}  // namespace

std::optional<Moment> parse_moment(std::string_view text, DateOrder order) {
  constexpr std::size_t kShortest = 4, kLongest = 48;  // 9:05, and a word is no moment
  if (text.size() < kShortest || text.size() > kLongest) return std::nullopt;
  Moment moment;
  Cursor at(text);
  if (text[1] == ':' || text[2] == ':')
    return take_clock(at, moment) && at.at_end() ? std::optional(moment) : std::nullopt;
  if (!take_date(at, order, moment)) return std::nullopt;
  if (at.at_end()) return moment;
  if (at.take_any(" T") == '\0' || !take_clock(at, moment)) return std::nullopt;
  if (!at.at_end() && !take_zone(at, moment)) return std::nullopt;
  return at.at_end() ? std::optional(moment) : std::nullopt;
}

double part_of(double micros, MomentPart part) {
  const auto whole = static_cast<std::int64_t>(micros);
  const std::int64_t days = whole / kDay - (whole % kDay < 0 ? 1 : 0);
  switch (part) {
    case MomentPart::day:
      return micros / static_cast<double>(kDay);
    case MomentPart::hour:
      return static_cast<double>(whole - days * kDay) / static_cast<double>(kHour);
    case MomentPart::weekday:
      return static_cast<double>(((days + 3) % 7 + 7) % 7 + 1);  // 1970 began on a Thursday
    case MomentPart::month:
      break;
  }
  const std::chrono::year_month_day civil{
      std::chrono::sys_days(std::chrono::days(static_cast<std::int32_t>(days)))};
  return static_cast<unsigned>(civil.month());
}

}  // namespace kerf::detail::io
