// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/matrix.h"

#include <cstdlib>
#include <limits>

#include "kerf/core/memory.h"
#include "kerf/core/require.h"

namespace kerf {

void* allocate_aligned(Index count, std::size_t element_size) {
  const auto size = static_cast<Index>(element_size);
  KERF_REQUIRE(count >= 0 && count < std::numeric_limits<Index>::max() / size, memory,
               "a matrix of {} elements is beyond any memory", count);
  // aligned_alloc wants a multiple of the alignment; an empty matrix still gets a valid pointer.
  const auto bytes =
      (static_cast<std::size_t>(count) * element_size + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, bytes);
  KERF_REQUIRE(memory != nullptr, memory, "out of memory: could not get {}",
               human_bytes(static_cast<Index>(bytes)));
  return memory;
}

void free_aligned(void* memory) { std::free(memory); }

}  // namespace kerf
