// What diagnose, plan and compare found, as one JSON object: the program prints it, Python reads it.
// Numbers that are not finite are null.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/insight/compare/compare.h"
#include "kerf/insight/measure/diagnose.h"
#include "kerf/insight/plan/plan.h"

namespace kerf::detail {

std::string to_json(const Diagnosis& diagnosis);
/// `fit`: the command that is recommended.
std::string to_json(const Plan& plan, const std::string& fit);
std::string to_json(const Comparison& comparison, const std::string& fit);

}  // namespace kerf::detail
