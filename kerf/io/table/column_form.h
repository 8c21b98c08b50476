// How the text of a column becomes numbers where it is not plain digits: amounts, dates, times.
//
// A form is worked out from all words of a column (FormTally), stands in the model, and new rows are
// read by it: what does not fit it is an error there, never another number.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kerf/core/view.h"
#include "kerf/io/text/moment.h"

namespace kerf::detail {

struct ColumnForm {
  enum class Kind : std::uint8_t { plain, amount, moment };
  Kind kind = Kind::plain;
  std::string unit = {};                   ///< amount: the one unit that its cells may have
  DateOrder order = DateOrder::automatic;  ///< moment: automatic where no cell left it open
  bool has_date = true;                    ///< moment: false: times of day
  bool has_zone = false;                   ///< moment: all of them, or none

  bool operator==(const ColumnForm&) const = default;
};

/// The number that a cell of this form is (microseconds of a moment), or nothing.
std::optional<double> read_cell(std::string_view text, const ColumnForm& form, char decimal);

/// "an amount in $", "a date": what a cell of this form should be, for messages.
std::string describe(const ColumnForm& form);

namespace io {

/// Which forms fit all words of a column.
class FormTally {
 public:
  void add(std::string_view word);

  struct Result {
    ColumnForm form;       ///< plain: the words are words
    bool decimal = false;  ///< numbers, but only the decimal mark says which
    bool comma = false;    ///< of these: a comma fits, and a point does not
    bool units = false;    ///< amounts of several units
    bool order = false;    ///< dates, but day and month stand in no order that is known
    bool mixed = false;    ///< dates, times and numbers that are not of one kind
  };
  /// `numbers`: cells that are plain numbers; `decimal`: the mark, or 0: not said.
  Result decide(Index numbers, char decimal, DateOrder order) const;

 private:
  struct Amounts {
    Index count = 0;
    std::string unit;
    bool has_unit = false, units_differ = false, sure = false, all_have_unit = true;
  };
  void add_amount(std::string_view word, char decimal, Amounts& amounts) const;
  void add_moment(std::string_view word);
  bool fits(const Amounts& amounts) const { return words_ > 0 && amounts.count == words_; }

  Index words_ = 0, moments_ = 0, dates_ = 0, zones_ = 0;
  bool written_ = false;  // some word is more than digits: of frames, digits alone may be words
  bool dmy_ = true, mdy_ = true, ordered_ = false;
  Amounts point_, comma_;
};

}  // namespace io
}  // namespace kerf::detail
