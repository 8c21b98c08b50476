// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

namespace kerf {

/// Options by name, as text: what a command line, a configuration or a model file hands over.
using Params = std::map<std::string, std::string>;

}  // namespace kerf
