// SPDX-License-Identifier: Apache-2.0
#include "kerf/api/runtime.h"

#include "kerf/api/spec.h"
#include "kerf/core/options.h"
#include "kerf/core/system/parallel.h"
#include "kerf/core/version.h"

namespace kerf {
namespace {

std::string text_of(Index value) { return std::to_string(value); }
std::string text_of(double value) { return detail::format_number(value); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const std::string& value) { return value; }

}  // namespace

const char* version() { return detail::version(); }
int threads() { return detail::threads(); }
void set_threads(int count) { detail::set_threads(count); }

Params given(std::initializer_list<std::pair<const char*, Setting>> settings) {
  Params params;
  for (const auto& [name, setting] : settings)
    std::visit(
        [&, option = name](const auto& value) {
          if (value) params[option] = text_of(*value);
        },
        setting);
  return params;
}

}  // namespace kerf
