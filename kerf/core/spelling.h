// How messages name options: as their reader writes them.
//
// A message of the library says spell("lambda"), never "--lambda".  What comes out is what the face of
// this process says it is, once, when it starts:
//
//                              program              Python                 C++ (unless told)
//   spell("lambda")            --lambda             lambda_                lambda
//   spell("solver", "sgd")     --solver sgd         solver='sgd'           solver = sgd
//   spell_on("variance")       --variance           variance=True          variance
//
// The spelling belongs to the process, as the number of threads does, so that every text of the library
// is plain text from the moment it is made: there is nothing that a face could forget to translate.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <span>
#include <string>
#include <string_view>

namespace kerf::detail {

enum class Face { cpp, program, python };

/// Who reads the messages of this process from now on.  A face says it before it calls anything else.
void set_face(Face face);
Face face();

/// An option in a sentence: "raise {}".
std::string spell(std::string_view name);
/// An option with a value, which is text as the option takes it.
std::string spell(std::string_view name, std::string_view value);
std::string spell(std::string_view name, std::integral auto value) {
  return spell(name, std::string_view(std::to_string(value)));
}
std::string spell(std::string_view name, double value);
/// An option with one of these values.
std::string spell(std::string_view name, std::span<const std::string> values);
/// A flag that is given.
std::string spell_on(std::string_view name);

/// The bare word, for lists and corrections: `lambda-grid`, in Python `lambda_grid`.
std::string spell_bare(std::string_view name);

}  // namespace kerf::detail
