// api/options.h is what describe() says of every option.  To write it anew:
//   KERF_WRITE_OPTIONS=1 build/release/bin/kerf_tests --gtest_filter='TypedOptions.*'
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "kerf/inside.h"

namespace kerf::detail {
namespace {

constexpr const char* kHead =
    R"(// Options with types: FitOptions{.lambda = 1e-3}, maps::Rff{.features = 2048}.  Nothing: the default, in
// brackets.  Values are checked where they are used: Error (usage) with the option's range or words.
//
// Made of describe() by kerf/api/behind/options_header_test.cpp; do not edit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/spec.h"

// clang-format off
namespace kerf {
)";

const char* type_of(const OptionInfo& option) {
  switch (option.type) {
    case OptionType::integer:
      return "Count";
    case OptionType::real:
    case OptionType::automatic:
      return "Number";
    case OptionType::flag:
      return "Flag";
    case OptionType::text:
    case OptionType::choice:
      return "Text";
  }
  return "";
}

std::string member(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

/// "ntk-rf" to "NtkRf".
std::string class_name(std::string_view name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c != '-') out += static_cast<char>(upper ? std::toupper(c) : c);
    upper = c == '-';
  }
  return out;
}

/// `constant`: a line that names the map or kernel; "": none.
std::string to_struct(const std::string& name, const std::string& about,
                      const std::string& constant, const std::vector<OptionInfo>& options) {
  std::string out = fmt::format("\n/// {}\nstruct {} {{\n{}", about, name, constant), list;
  for (const OptionInfo& option : options) {
    const std::string words =
        option.choices.empty() ? "" : fmt::format(": {}", fmt::join(option.choices, "|"));
    out += fmt::format("  {} {} = {{}};  ///< {}{}{}\n", type_of(option), member(option.name),
                       option.help, words,
                       option.default_value.empty() ? "" : " [" + option.default_value + "]");
    list +=
        fmt::format("{}{{\"{}\", {}}}", list.empty() ? "" : ", ", option.name, member(option.name));
  }
  return out + fmt::format("\n  Params params() const {{ return given({{{}}}); }}\n}};\n", list);
}

template <class Options>
std::string options_struct(const std::string& name, const std::string& about) {
  return to_struct(name, about, "", list_options<Options>());
}

std::string render() {
  std::string out = kHead;
  out += options_struct<DataOptions>("DataOptions", "What the columns of files mean.");
  out += options_struct<FitOptions>("FitOptions", "A fit, besides the data and the map.");
  out += options_struct<ImageOptions>("ImageOptions",
                                      "Steps of images before scaling, in this order.");
  out += options_struct<AugmentOptions>("AugmentOptions", "Copies of training images.");
  out += options_struct<DiagnoseOptions>("DiagnoseOptions", "Of diagnose().");
  out += options_struct<PlanOptions>("PlanOptions", "Of plan(): one target is wanted.");
  out += options_struct<CompareOptions>("CompareOptions", "Of compare().");
  out += options_struct<SelectOptions>("SelectOptions", "Of select_rows().");
  out += "\nnamespace maps {\n";
  for (const auto& entry : feature_maps())
    out += to_struct(class_name(entry.name), entry.summary,
                     fmt::format("  static constexpr const char* kMap = \"{}\";\n", entry.name),
                     entry.options());
  out += "\n}  // namespace maps\n\nnamespace kernels {\n";
  for (const auto& entry : kernels())
    out += to_struct(class_name(entry.name), entry.summary,
                     fmt::format("  static constexpr const char* kKernel = \"{}\";\n", entry.name),
                     entry.options());
  return out + "\n}  // namespace kernels\n}  // namespace kerf\n// clang-format on\n";
}

TEST(TypedOptions, TheHeaderIsWhatDescribeSays) {
  const std::string path = KERF_SOURCE_DIR "/kerf/api/options.h";
  if (std::getenv("KERF_WRITE_OPTIONS") != nullptr) std::ofstream(path) << render();
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator(file), {}), render());
}

}  // namespace
}  // namespace kerf::detail
