// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/version.h"

namespace kerf::detail {

const char* version() { return KERF_VERSION; }

}  // namespace kerf::detail
