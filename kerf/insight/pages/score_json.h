// A score as JSON: the object of `kerf score --json` and of Python's evaluate().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/api/score.h"
#include "kerf/model/model.h"

namespace kerf::detail {

/// Names of classes and targets are the model's.
std::string to_json(const Model& model, const Score& score);

/// What WorstRow::error is, for people.
std::string worst_error_words(const Score& score);

/// What the targets of a regression are called; "target 1", ... where the model does not say.
std::vector<std::string> target_names(const Model& model);

}  // namespace kerf::detail
