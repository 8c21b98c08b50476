// An option's text as the kind of value that it is, for JSON and for Python.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <variant>

#include "kerf/core/options.h"
#include "kerf/core/view.h"

namespace kerf::detail {

/// "true" is a truth value, "12" a whole number, "0.5" a number, anything else text.
std::variant<bool, Index, double, std::string> option_value(const std::string& text);

/// An object of JSON with a member for each option.
template <class Json>
Json options_as(const Params& options) {
  Json object = Json::object();
  for (const auto& option : options)
    std::visit([&](const auto& value) { object[option.first] = value; },
               option_value(option.second));
  return object;
}

}  // namespace kerf::detail
