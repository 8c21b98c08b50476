// One model as one HTML page: what it is, how it was chosen, how good it is, how to make it again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/insight/pages/test_page.h"
#include "kerf/learn/fit/trainer.h"

namespace kerf::detail {

/// The page.  `test` may be nullptr: no rows were held out.
std::string fit_report(const FitResult& result, const DataSummary& summary, const TestView* test);

}  // namespace kerf::detail
