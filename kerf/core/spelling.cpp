// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/spelling.h"

#include <algorithm>
#include <atomic>
#include <variant>

#include "kerf/core/option_value.h"
#include "kerf/core/options.h"

namespace kerf::detail {
namespace {

std::atomic<Face> this_face = Face::cpp;

/// Options that have another name in Python: `lambda` is a word of the language, and scikit-learn has
/// its own for seed and threads.
constexpr std::pair<std::string_view, std::string_view> kPythonNames[] = {
    {"lambda", "lambda_"},
    {"memory", "memory_limit"},
    {"seed", "random_state"},
    {"threads", "n_jobs"},
};

std::string python_name(std::string_view name) {
  for (const auto& [option, keyword] : kPythonNames)
    if (option == name) return std::string(keyword);
  std::string keyword(name);
  std::ranges::replace(keyword, '-', '_');
  return keyword;
}

std::string python_literal(const std::string& text) {
  const auto value = option_value(text);
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (!std::holds_alternative<std::string>(value)) return text;
  std::string literal = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + "'";
}

}  // namespace

void set_face(Face face) { this_face = face; }
Face face() { return this_face; }

std::string spell_bare(std::string_view name) {
  return face() == Face::python ? python_name(name) : std::string(name);
}

std::string spell(std::string_view name) {
  return (face() == Face::program ? "--" : "") + spell_bare(name);
}

std::string spell(std::string_view name, std::string_view value) {
  const std::string text(value);
  return spell(name, std::span(&text, 1));
}

std::string spell(std::string_view name, double value) {
  return spell(name, std::string_view(format_number(value)));
}

std::string spell(std::string_view name, std::span<const std::string> values) {
  const Face reader = face();
  std::string text;
  for (const std::string& value : values)
    text += (text.empty() ? "" : " or ") + (reader == Face::python ? python_literal(value) : value);
  switch (reader) {
    case Face::program:
      return spell(name) + " " + text;
    case Face::python:
      return spell(name) + "=" + text;
    case Face::cpp:
      break;
  }
  return spell(name) + " = " + text;
}

std::string spell_on(std::string_view name) {
  return face() == Face::python ? spell(name, "true") : spell(name);
}

}  // namespace kerf::detail
