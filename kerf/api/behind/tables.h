// Tables and streams of a user's own, as the library reads files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/behind/inside.h"

namespace kerf {

/// `rows` must outlive it.  Error (data) for a stream without rows, or whose blocks differ in columns.
std::unique_ptr<detail::io::Reader> open_stream(RowStream& rows);

}  // namespace kerf
