// What the columns of a source hold: sums of numbers, counts of words and of missing cells.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kerf/io/reader.h"
#include "kerf/io/table/encoding.h"

namespace kerf::detail::io {

/// The moments of a column, part by part.
class MomentTally {
 public:
  void add(double micros);
  struct Part {
    double mean = 0, variance = 0;  ///< over the moments there are
    double least = 0, greatest = 0;
    bool varies() const { return least < greatest; }
  };
  Part part(io::MomentPart part) const;
  Index count() const { return count_; }

 private:
  struct Sums {
    double shift = 0, sum = 0, square = 0, least = 0, greatest = 0;
  };
  Index count_ = 0;
  std::array<Sums, kMomentParts.size()> sums_ = {};
};

/// Sums are taken around the first row's values, so that large offsets lose no digits.
class ColumnTally {
 public:
  explicit ColumnTally(Index columns, Index memory_limit = 0);

  /// An odd cell of an input column.
  void add_odd(const RawBlock& block, const OddCell& cell, Index max_levels);
  /// A word, or a number in a column that is known to hold words.
  void add_level(Index column, std::string_view text, Index max_levels);
  /// The numbers of a row; odd cells of it hold NaN and must be listed.
  void add_cells(std::span<double> row, std::span<const OddCell> odd);
  void add_pixels(std::span<const std::uint8_t> row);
  void add_sparse(const SparseRow& row);

  Index rows() const { return rows_; }
  Index words(Index column) const { return at(column).words; }
  Index missing(Index column) const { return at(column).missing; }
  Index numbers(Index column) const { return rows_ - words(column) - missing(column); }
  const std::string& first_word(Index column) const { return at(column).first_word; }
  const std::string& first_text(Index column) const { return at(column).first_text; }
  /// What all words of the column may be besides words.
  const FormTally& form(Index column) const { return at(column).form; }
  struct Level {
    Index count = 0;
    std::string text, other;  ///< as it is written, and another way; "": there is none
  };
  using Levels = std::map<std::string, Level, std::less<>>;  ///< by word_name()
  const Levels& levels(Index column) const { return at(column).levels; }

  /// Over the cells that are numbers.
  double mean(Index column) const;
  /// Around the mean, without the cancellation of mean_square - mean^2.
  double variance(Index column) const;
  /// Over all rows, with the mean in place of missing cells.
  double mean_square(Index column) const;
  /// Of the numbers, 0 among them where rows are sparse; none seen: least > greatest.
  double least(Index column) const { return least_[column]; }
  double greatest(Index column) const { return greatest_[column]; }

  /// Sparse: smallest and largest index that occurred; columns() is one more than the largest.
  Index smallest_index() const { return smallest_; }
  Index columns() const { return static_cast<Index>(sum_.size()); }

 private:
  struct Words {
    Index words = 0, missing = 0;
    FormTally form;
    std::string first_word;  // quoted, with its place
    std::string first_text;  // as it is
    Levels levels;           // at most max_levels + 1
  };
  static const Words kNone;
  const Words& at(Index column) const {
    const auto found = words_.find(column);
    return found == words_.end() ? kNone : found->second;
  }

  Index rows_ = 0, smallest_ = 1;
  /// Sums around shift_ of the values, and of their squares.
  double sum(std::size_t j) const { return sum_[j] + (j < pixel_sum_.size() ? pixel_sum_[j] : 0); }
  double square(std::size_t j) const {
    return square_[j] + (j < pixel_square_.size() ? pixel_square_[j] : 0);
  }
  void settle_pixels();

  std::vector<double> shift_, sum_, square_, least_, greatest_;
  // Of the bytes since settle_pixels(): whole numbers are summed faster than doubles.
  std::vector<std::uint32_t> pixel_sum_, pixel_square_;
  Index pixel_rows_ = 0, memory_limit_ = 0;
  std::map<Index, Words> words_;
};

}  // namespace kerf::detail::io
