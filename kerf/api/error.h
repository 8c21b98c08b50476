// The one exception of the library, and what its kinds mean.
//
// The library never prints, exits or aborts: it throws Error, before work starts wherever it can.
// A message is one sentence that names the offending value and, for data, file:line:column.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>

#include "kerf/api/export.h"

namespace kerf {

enum class ErrorKind {
  usage,        ///< the caller asked for something that does not exist or makes no sense
  data,         ///< the rows, a file or a model are not what they should be
  memory,       ///< the work would need more memory than is allowed
  numeric,      ///< a matrix is singular, an iteration does not converge
  interrupted,  ///< the user asked to stop
};

class KERF_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace kerf
