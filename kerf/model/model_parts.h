// What stands in a model file: a header in JSON and arrays, without the frame around them
// (model_file.h).  model_write.cpp takes a model apart, model_read.cpp puts it together, and both
// have model_check.cpp look whether its parts fit each other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "kerf/model/model.h"
#include "kerf/model/model_arrays.h"

namespace kerf::detail {

/// Arrays of what data-dependent maps learned have names that begin so.
inline constexpr std::string_view kMapPrefix = "map.";

/// The arrays of a model, which must outlive the writer.
void add_arrays(const Model& model, ArrayWriter& arrays);
/// Everything else; `arrays`: their list.
nlohmann::json header_of(const Model& model, const nlohmann::json& arrays);

/// What its conformal scores are, as the header names them: those of another kind are not read.
const char* conformal_score_name(const Model& model);

/// The model of a header and the bytes of its arrays; Error (data) or nlohmann's exceptions.
Model read_parts(const nlohmann::json& header, std::string_view arrays);

/// Error (data) unless the parts of a model fit each other.
void check_consistent(const Model& model);

}  // namespace kerf::detail
