// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/rows/matrix.h"

#include <sys/mman.h>

#include <cstdlib>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/system/memory.h"

namespace kerf {

namespace {

/// Large matrices ask for huge pages: rows met in random order would else miss the TLB each time.
constexpr std::size_t kHugePage = std::size_t{1} << 21, kLarge = 16 * kHugePage;

}  // namespace

void* allocate_aligned(Index count, std::size_t element_size) {
  const auto size = static_cast<Index>(element_size);
  KERF_REQUIRE(count >= 0 && count < std::numeric_limits<Index>::max() / size, memory,
               "a matrix of {} elements is beyond any memory", count);
  const std::size_t wanted = static_cast<std::size_t>(count) * element_size;
  const bool large = wanted >= kLarge;
  const std::size_t alignment = large ? kHugePage : kAlignment;
  // aligned_alloc wants a multiple of the alignment; an empty matrix still gets a valid pointer.
  const std::size_t bytes = (wanted + alignment) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, bytes);
  KERF_REQUIRE(memory != nullptr, memory, "out of memory: could not get {}",
               detail::human_bytes(static_cast<Index>(bytes)));
  if (large) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: what it answers does not matter
  return memory;
}

Index element_count(Index rows, Index cols) {
  Index count = 0;
  KERF_REQUIRE(rows >= 0 && cols >= 0 && !__builtin_mul_overflow(rows, cols, &count), memory,
               "there is no matrix of {} x {} elements", rows, cols);
  return count;
}

void free_aligned(void* memory) { std::free(memory); }

}  // namespace kerf
