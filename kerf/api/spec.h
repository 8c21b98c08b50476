// What has a name and options: maps and kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "kerf/api/matrix.h"
#include "kerf/api/params.h"

namespace kerf {

/// Options with a type (api/options.h); nothing: the default, which may be worked out from the data.
using Count = std::optional<Index>;
using Number = std::optional<double>;
using Flag = std::optional<bool>;
using Text = std::optional<std::string>;
using Setting = std::variant<Count, Number, Flag, Text>;
/// Those that are given, as text.
KERF_API Params given(std::initializer_list<std::pair<const char*, Setting>> settings);

/// A feature map with its options: "rff", {"rff", {{"features", "2048"}}} or maps::Rff{.features = 2048}.
struct MapSpec {
  std::string name;
  Params options = {};

  MapSpec(const char* name_, Params options_ = {}) : name(name_), options(std::move(options_)) {}
  MapSpec(std::string name_, Params options_ = {})
      : name(std::move(name_)), options(std::move(options_)) {}
  template <class Typed>
  requires requires { Typed::kMap; }
  MapSpec(const Typed& typed) : name(Typed::kMap), options(typed.params()) {}
};

/// The same of a kernel: kernels::Ntk{.depth = 3}.
struct KernelSpec {
  std::string name;
  Params options = {};

  KernelSpec(const char* name_, Params options_ = {}) : name(name_), options(std::move(options_)) {}
  KernelSpec(std::string name_, Params options_ = {})
      : name(std::move(name_)), options(std::move(options_)) {}
  template <class Typed>
  requires requires { Typed::kKernel; }
  KernelSpec(const Typed& typed) : name(Typed::kKernel), options(typed.params()) {}
};

}  // namespace kerf
