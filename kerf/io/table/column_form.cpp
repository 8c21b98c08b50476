// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/column_form.h"

#include "kerf/core/options.h"
#include "kerf/io/text/amount.h"

namespace kerf::detail {

std::optional<double> read_cell(std::string_view text, const ColumnForm& form, char decimal) {
  if (form.kind == ColumnForm::Kind::amount) {
    const auto amount = io::parse_amount(text, decimal);
    // 12 may stand for $12, but not for 12 %.
    const bool fits =
        amount && (amount->unit == form.unit || (amount->unit.empty() && form.unit != "%"));
    return fits ? std::optional(amount->value) : std::nullopt;
  }
  if (form.kind != ColumnForm::Kind::moment) return std::nullopt;
  const auto moment = io::parse_moment(text, form.order);
  if (!moment || moment->has_date != form.has_date || moment->has_zone != form.has_zone ||
      (moment->ordered && form.order == DateOrder::automatic))
    return std::nullopt;
  return static_cast<double>(moment->micros);
}

std::string describe(const ColumnForm& form) {
  if (form.kind == ColumnForm::Kind::plain) return "a finite number";
  if (form.kind == ColumnForm::Kind::amount)
    return form.unit.empty() ? "a number" : "a number in " + form.unit;
  if (!form.has_date) return "a time of day";
  const char* order = form.order == DateOrder::dmy   ? " (day before month)"
                      : form.order == DateOrder::mdy ? " (month before day)"
                                                     : "";
  return std::string(form.has_zone ? "a date with time and zone" : "a date without zone") + order;
}

namespace io {

void FormTally::add(std::string_view word) {
  // Once one word does not fit, nobody tries the next.
  if (!written_) written_ = !parse_number(word);
  if (point_.count == words_) add_amount(word, '.', point_);
  if (comma_.count == words_) add_amount(word, ',', comma_);
  if (moments_ == words_) add_moment(word);
  ++words_;
}

void FormTally::add_amount(std::string_view word, char decimal, Amounts& amounts) const {
  const auto amount = parse_amount(word, decimal);
  if (!amount) return;
  ++amounts.count;
  const bool plain = parse_number(word).has_value();
  if (!amount->in_doubt && !plain) amounts.sure = true;
  if (amount->unit.empty()) {
    amounts.all_have_unit = false;
  } else if (!amounts.has_unit) {
    amounts.has_unit = true;
    amounts.unit = amount->unit;
  } else if (amounts.unit != amount->unit) {
    amounts.units_differ = true;
  }
}

void FormTally::add_moment(std::string_view word) {
  const auto dmy = parse_moment(word, DateOrder::dmy);
  const auto mdy = dmy && !dmy->ordered ? dmy : parse_moment(word, DateOrder::mdy);
  if (!dmy && !mdy) return;
  const Moment& moment = dmy ? *dmy : *mdy;
  ++moments_;
  dates_ += moment.has_date;
  zones_ += moment.has_zone;
  ordered_ = ordered_ || moment.ordered;
  dmy_ = dmy_ && dmy;
  mdy_ = mdy_ && mdy;
}

FormTally::Result FormTally::decide(Index numbers, char decimal, DateOrder order) const {
  Result result;
  ColumnForm& form = result.form;
  const bool alike = (dates_ == 0 || dates_ == words_) && (zones_ == 0 || zones_ == words_);
  if (words_ > 0 && moments_ == words_) {
    const DateOrder told = dmy_ && mdy_ ? order : dmy_ ? DateOrder::dmy : DateOrder::mdy;
    result.mixed = numbers > 0 || !alike || !(dmy_ || mdy_);
    result.order =
        ordered_ && !result.mixed &&
        (told == DateOrder::automatic || (order != DateOrder::automatic && order != told));
    if (result.mixed || result.order) return result;
    form.kind = ColumnForm::Kind::moment;
    form.has_date = dates_ > 0;
    form.has_zone = zones_ > 0;
    if (ordered_) form.order = told;
    return result;
  }
  if (!written_) return result;
  const Amounts& amounts = decimal == ',' ? comma_ : point_;
  if (fits(amounts) && (decimal != 0 || amounts.sure)) {
    // 12 and 12 % are not in one unit; 12 and $12 are.
    result.units =
        amounts.units_differ || (amounts.unit == "%" && (numbers > 0 || !amounts.all_have_unit));
    if (result.units) return result;
    form.kind = ColumnForm::Kind::amount;
    form.unit = amounts.unit;
    return result;
  }
  result.decimal = decimal == 0 && (fits(point_) || fits(comma_));
  result.comma = result.decimal && !fits(point_);
  return result;
}

}  // namespace io
}  // namespace kerf::detail
