// Dates and times of day as text, and what a table makes of them: numbers.
//
//   2024-01-31   2024/1/31   2024-01   31.01.2024   31/01/2024 or 01/31/2024   31-Jan-2024   Jan 31, 2024
//   12:30   12:30:05.25   2:30 PM, alone or behind a date and a blank or T; then Z, UTC, +02 or +02:00
//
// Years have four digits: 01/02/03 may be anything.  Times with a zone are those of UTC.
//
// Error:      whole microseconds, more digits are cut off; exact in double from 1685 to 2255.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kerf::detail {

/// What 01/02/2024 means.  Years in front and names of months leave no doubt.
enum class DateOrder : std::uint8_t { automatic, dmy, mdy };
constexpr auto names_of(DateOrder) { return std::array{"auto", "dmy", "mdy"}; }

namespace io {

struct Moment {
  std::int64_t micros = 0;  ///< since 1970, or since midnight where there is no date
  bool has_date = false, has_clock = false, has_zone = false;
  bool ordered = false;  ///< the order of day and month was decided by `order`
};

/// What all of `text` spells, or nothing.
std::optional<Moment> parse_moment(std::string_view text, DateOrder order);

/// The inputs that a column of moments may become: days since 1970, the hour of the day (0 .. 24), the
/// day of the week (1: Monday .. 7), the month (1 .. 12).
enum class MomentPart : std::uint8_t { day, hour, weekday, month };
inline constexpr std::array kMomentParts = {MomentPart::day, MomentPart::hour, MomentPart::weekday,
                                            MomentPart::month};
inline constexpr std::string_view kMomentLetters = "dhwm";  ///< of the parts, in model files
constexpr auto names_of(MomentPart) { return std::array{"day", "hour", "weekday", "month"}; }

/// A part of a moment, whose `micros` are given as a number.
double part_of(double micros, MomentPart part);

}  // namespace io
}  // namespace kerf::detail
