// Decimal text to double, several times faster than strtod, with the same bits.
//
//   value = m 10^e;  when m <= 2^53 and |e| <= 22 both m and 10^|e| are doubles without error, and
//   one multiplication or division rounds correctly.  Everything else goes to fast_float.
//
// Digits are read eight at a time: the bytes of a 64-bit word are the digits of a number, which
// three multiplications put together.
//
// Error:      none: correctly rounded, always.
// Cost:       a few nanoseconds for a number of 8 characters.
// Reference:  Clinger, "How to read floating point numbers accurately", PLDI 1990; Lemire, "Number
//             parsing at a gigabyte per second", 2021.
// Differs:    digit runs of any length up to 8 are read without a loop (a shift aligns them).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kerf::detail::io {

static_assert(std::endian::native == std::endian::little, "digits are read as little-endian words");

/// Bytes that must be readable after the text that parse_decimal() is given.
inline constexpr std::size_t kNumberPadding = 32;

namespace detail {

inline constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t kWholePowers[] = {1,      10,      100,      1000,     10000,
                                                 100000, 1000000, 10000000, 100000000};

/// The run of digits at p, at most 8: its length, and its value.
inline int eight_digits(const char* p, std::uint64_t& value) {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  word ^= 0x3030303030303030u;  // digits become 0 .. 9, anything else more
  const std::uint64_t other = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
  const int count = other == 0 ? 8 : std::countr_zero(other) >> 3;
  // Move the digits to the end of the word; leading zeros fill the front.  Two shifts, because a
  // shift by 64 (no digits) is undefined.
  word = word << (4 * (8 - count)) << (4 * (8 - count));
  word = word * 10 + (word >> 8);
  constexpr std::uint64_t kPairs = 0x000000FF000000FFu;
  value = ((word & kPairs) * 0x000F424000000064u + ((word >> 16) & kPairs) * 0x0000271000000001u) >>
              32 &
          0xFFFFFFFFu;
  return count;
}

/// The run of digits at p put behind `mantissa`; its length.  Wraps around beyond 19 digits.
inline int append_digits(const char* p, std::uint64_t& mantissa) {
  std::uint64_t value;
  int count = eight_digits(p, value);
  mantissa = mantissa * kWholePowers[count] + value;
  for (int more = count; more == 8; count += more) {
    more = eight_digits(p + count, value);
    mantissa = mantissa * kWholePowers[more] + value;
  }
  return count;
}

/// The complete way: begin .. end is a well-formed number without a plus sign in front.
double parse_any_decimal(const char* begin, const char* end);

}  // namespace detail

/// Reads the number that starts at `p`: [+-] digits [. digits] [e [+-] digits], with a digit before
/// or after the point.  Returns the position after it, or nullptr if there is none.  A number
/// beyond double is infinite.  kNumberPadding bytes after the text must be readable, and the text
/// must be followed by something that no number contains.
[[gnu::always_inline]] inline const char* parse_decimal(const char* p, double& value) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* const begin = p;
  std::uint64_t mantissa = 0;
  int digits = detail::append_digits(p, mantissa);
  p += digits;
  int exponent = 0;
  if (*p == '.') {
    ++p;
    const int decimals = detail::append_digits(p, mantissa);
    p += decimals;
    digits += decimals;
    exponent = -decimals;
  }
  if (digits == 0) return nullptr;
  if ((*p | 32) == 'e') {
    const char* q = p + 1;
    const bool minus = *q == '-';
    q += minus || *q == '+';
    std::uint64_t power = 0;
    const int length = detail::append_digits(q, power);
    if (length > 0) {
      p = q + length;
      // Beyond 8 digits the exponent is absurd anyway; the complete way deals with it.
      exponent = length > 8 ? 1000 : exponent + static_cast<int>(minus ? -power : power);
    }
  }
  if (digits <= 19 && mantissa <= std::uint64_t{1} << 53 && exponent >= -22 && exponent <= 22) {
    const auto m = static_cast<double>(mantissa);
    const double magnitude =
        exponent < 0 ? m / detail::kPowers[-exponent] : m * detail::kPowers[exponent];
    value = negative ? -magnitude : magnitude;
    return p;
  }
  value = detail::parse_any_decimal(begin, p);
  if (negative) value = -value;
  return p;
}

/// A number written with a decimal comma: 3,5 or -0,25e3.
bool has_decimal_comma(std::string_view text);

}  // namespace kerf::detail::io
