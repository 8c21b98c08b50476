// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/moment.h"

#include <gtest/gtest.h>

#include "kerf/io/text/amount.h"

namespace kerf::detail::io {
namespace {

constexpr double kDay = 86400e6;

double days(std::string_view text, DateOrder order = DateOrder::dmy) {
  const auto moment = parse_moment(text, order);
  return moment ? static_cast<double>(moment->micros) / kDay : -1e9;
}

TEST(Moment, DatesAreDaysSince1970) {
  // python3 -c "import datetime; print((datetime.date(2024, 1, 31) - datetime.date(1970, 1, 1)).days)"
  for (const char* text : {"2024-01-31", "2024/1/31", "2024.01.31", "31.01.2024", "31/01/2024",
                           "31-1-2024", "31-Jan-2024", "31 January 2024", "Jan 31, 2024",
                           "january 31 2024", "Jan. 31, 2024", "2024-01-31 00:00"})
    EXPECT_EQ(days(text), 19753) << text;
  EXPECT_EQ(days("01/31/2024", DateOrder::mdy), 19753);
  EXPECT_EQ(days("2024-01"), 19723);
  EXPECT_EQ(days("1969-12-31"), -1);
  EXPECT_EQ(days("1600-02-29"), -135081);
}

TEST(Moment, ClocksAndZones) {
  EXPECT_EQ(days("1970-01-02T12:00:00"), 1.5);
  EXPECT_EQ(days("1970-01-02 06:00 PM"), 1.75);
  EXPECT_EQ(days("1/2/1970 12:00 AM", DateOrder::mdy), 1);
  EXPECT_EQ(days("1970-01-02 12:00:00Z"), 1.5);
  EXPECT_EQ(days("1970-01-02 12:00:00+06:00"), 1.25);
  EXPECT_EQ(days("1970-01-02 12:00:00 -0600"), 1.75);
  EXPECT_EQ(parse_moment("12:00:00.25", DateOrder::dmy)->micros, 43200250000);
  EXPECT_EQ(parse_moment("0:00:00.1234567", DateOrder::dmy)->micros, 123456);
  EXPECT_FALSE(parse_moment("9:05", DateOrder::dmy)->has_date);
  EXPECT_TRUE(parse_moment("2024-01-31T09:05Z", DateOrder::dmy)->has_zone);
}

TEST(Moment, OtherWordsAreNone) {
  for (const char* text : {"",
                           "2024",
                           "20240131",
                           "2024-13-01",
                           "2024-02-30",
                           "31/01/24",
                           "24:00",
                           "12:60",
                           "12:5",
                           "1:2:3",
                           "2024.01",
                           "Mai 31, 2024",
                           "31/Foo/2024",
                           "2024-01-31 x",
                           "2024-01-31 12",
                           "2024-01-31T12:00:00+99:00",
                           "13:00 PM",
                           "-12:30",
                           "1.2.3",
                           "10.0.0.1",
                           "2024-01/31",
                           "aaaa-bb-cc",
                           "12:00:00.",
                           "2024-01-311",
                           "12345-01-01"})
    EXPECT_FALSE(parse_moment(text, DateOrder::dmy)) << text;
  EXPECT_FALSE(parse_moment("31/01/2024", DateOrder::mdy));
}

TEST(Moment, Parts) {
  const double moment = 19753 * kDay + 18.5 * 3600e6;  // Wednesday, 31 January 2024, 18:30
  EXPECT_EQ(part_of(moment, MomentPart::hour), 18.5);
  EXPECT_EQ(part_of(moment, MomentPart::weekday), 3);
  EXPECT_EQ(part_of(moment, MomentPart::month), 1);
  EXPECT_DOUBLE_EQ(part_of(moment, MomentPart::day), 19753 + 18.5 / 24);
  EXPECT_EQ(part_of(-1, MomentPart::weekday), 3);  // the last of 1969 was a Wednesday
  EXPECT_EQ(part_of(-1, MomentPart::month), 12);
  EXPECT_NEAR(part_of(-1, MomentPart::hour), 24, 1e-9);
}

TEST(Amount, IsANumber) {
  const auto value = [](const char* text, char decimal) {
    const auto amount = parse_amount(text, decimal);
    return amount ? amount->value : -1e9;
  };
  EXPECT_EQ(value("1,234.56", '.'), 1234.56);
  EXPECT_EQ(value("1,234,567", '.'), 1234567);
  EXPECT_EQ(value("$12.50", '.'), 12.5);
  EXPECT_EQ(value("-$12.50", '.'), -12.5);
  EXPECT_EQ(value("$-12.50", '.'), -12.5);
  EXPECT_EQ(value("($1,200)", '.'), -1200);
  EXPECT_EQ(value("12 €", '.'), 12);
  EXPECT_EQ(value("1.234,56 €", ','), 1234.56);
  EXPECT_EQ(value("1 234,5", ','), 1234.5);
  EXPECT_EQ(value("1\xC2\xA0"
                  "234",
                  '.'),
            1234);
  EXPECT_EQ(value("1'234.5", '.'), 1234.5);
  EXPECT_EQ(value("7%", '.'), 7);
  EXPECT_EQ(value(".5", '.'), 0.5);
  for (const char* text : {"", "$", "1,23", "1,2345", "12,34,567", "1,234.5.6", "0,125", "a1",
                           "1e5", "1,234 567", "--1", "(-1)", "$1$", "1 2", "()"})
    EXPECT_FALSE(parse_amount(text, '.')) << text;
  EXPECT_FALSE(parse_amount("3.5", ','));
  EXPECT_TRUE(parse_amount("1,234", '.')->in_doubt);
  EXPECT_FALSE(parse_amount("$1,234", '.')->in_doubt);
  EXPECT_FALSE(parse_amount("1,234,567", '.')->in_doubt);
}

TEST(Amount, DecimalCommas) {
  EXPECT_EQ(parse_comma_number("3,5"), 3.5);
  EXPECT_EQ(parse_comma_number("-2e3"), -2000);
  for (const char* text : {"3.5", "1,2,3", "", "inf", "x", "1.234,5"})
    EXPECT_FALSE(parse_comma_number(text)) << text;
}

}  // namespace
}  // namespace kerf::detail::io
