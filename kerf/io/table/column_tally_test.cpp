// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/column_tally.h"

#include <gtest/gtest.h>

#include <limits>

#include "kerf/io/finite.h"

namespace kerf::detail::io {
namespace {

TEST(ColumnTally, BytesAreSummedWithoutOverflow) {
  // More rows than the squares of bytes fit into 32 bits, against the same rows as numbers.
  constexpr Index kRows = 140000;
  ColumnTally bytes(3), numbers(3);
  for (Index i = 0; i < kRows; ++i) {
    const std::uint8_t row[] = {255, static_cast<std::uint8_t>(i % 256),
                                static_cast<std::uint8_t>(i % 7 == 0 ? 200 : 0)};
    double cells[] = {255, static_cast<double>(row[1]), static_cast<double>(row[2])};
    bytes.add_pixels(row);
    numbers.add_cells(cells, {});
  }
  EXPECT_EQ(bytes.rows(), kRows);
  EXPECT_EQ(bytes.mean(0), 255);
  EXPECT_EQ(bytes.variance(0), 0);
  EXPECT_EQ(bytes.mean_square(0), 255 * 255);
  for (Index j = 0; j < 3; ++j) {
    EXPECT_DOUBLE_EQ(bytes.mean(j), numbers.mean(j));
    EXPECT_NEAR(bytes.variance(j), numbers.variance(j), 1e-9 * numbers.variance(j));
    EXPECT_DOUBLE_EQ(bytes.mean_square(j), numbers.mean_square(j));
  }
}

TEST(AllFinite, FindsOneValueAnywhere) {
  for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 50u}) {
    std::vector<float> values(size, std::numeric_limits<float>::max());
    EXPECT_TRUE(all_finite<float>(values));
    for (std::size_t i = 0; i < size; ++i)
      for (const float odd :
           {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
            std::numeric_limits<float>::quiet_NaN()}) {
        values[i] = odd;
        EXPECT_FALSE(all_finite<float>(values)) << size << " " << i;
        values[i] = -1;
      }
  }
}

}  // namespace
}  // namespace kerf::detail::io
