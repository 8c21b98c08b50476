// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/number.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "kerf/core/random/random.h"

namespace kerf::detail::io {
namespace {

/// The position behind the number, or -1; the text is copied to where reading ahead is allowed.
int parse(const std::string& text, double& value) {
  std::string padded = text + ',' + std::string(kNumberPadding, '7');
  const char* end = parse_decimal(padded.data(), value);
  return end == nullptr ? -1 : static_cast<int>(end - padded.data());
}

void expect_as_strtod(const std::string& text) {
  double value = 0;
  ASSERT_EQ(parse(text, value), static_cast<int>(text.size())) << text;
  const double exact = std::strtod(text.c_str(), nullptr);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(exact)) << text;
}

TEST(ParseDecimal, AgreesWithStrtodOnAwkwardNumbers) {
  for (const char* text : {"0",
                           "-0",
                           "+1",
                           "1.",
                           ".5",
                           "-.5e-3",
                           "1e5",
                           "1E+05",
                           "12345678",
                           "123456789",
                           "1234567812345678",
                           "9007199254740993",
                           "9007199254740992",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999999",
                           "0.1",
                           "0.30000000000000004",
                           "1e22",
                           "1e23",
                           "1e-22",
                           "1e-23",
                           "1e400",
                           "-1e400",
                           "1e-400",
                           "4.9e-324",
                           "2.2250738585072011e-308",
                           "1.7976931348623157e308",
                           "00000000000000000000000001",
                           "0.00000000000000000000000123",
                           "1e0000000000000000000000001",
                           "1e999999999999",
                           "123.456e-10"})
    expect_as_strtod(text);
}

TEST(ParseDecimal, AgreesWithStrtodOnRandomNumbers) {
  const rng::Key key{5};
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const auto words = rng::bits(key, i);
    const double any = std::bit_cast<double>(words[0] | std::uint64_t{words[1]} << 32);
    if (std::isfinite(any)) expect_as_strtod(fmt::format("{}", any));
    const double usual = (static_cast<double>(words[2]) - 2e9) * 1e-6;
    expect_as_strtod(fmt::format("{:.{}f}", usual, words[3] % 10));
    expect_as_strtod(fmt::format("{:.{}e}", usual, words[3] % 17));
  }
}

TEST(ParseDecimal, StopsWhereTheNumberDoes) {
  double value;
  EXPECT_EQ(parse("", value), -1);
  EXPECT_EQ(parse("-", value), -1);
  EXPECT_EQ(parse(".", value), -1);
  EXPECT_EQ(parse("abc", value), -1);
  EXPECT_EQ(parse("nan", value), -1);
  EXPECT_EQ(parse("1e", value), 1);
  EXPECT_EQ(parse("1e+", value), 1);
  EXPECT_EQ(parse("1.5x", value), 3);
  EXPECT_EQ(parse("1.5.2", value), 3);
  EXPECT_EQ(parse("--1", value), -1);
}

}  // namespace
}  // namespace kerf::detail::io
