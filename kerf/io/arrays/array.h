// Arrays of plain numbers as npy and idx files store them: elements of any type and byte order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kerf/io/bytes/input_stream.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

enum class ElementType { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64 };

Index element_size(ElementType type);

/// to[i] = element i of `from`; swapped: the bytes of each stand the other way round.
void convert_elements(ElementType type, bool swapped, const char* from, Index count, double* to,
                      Index step = 0);

/// The shape of an array file and where its elements begin.
struct ArrayHeader {
  ElementType type = ElementType::f64;
  bool swapped = false;      ///< not in this machine's byte order
  bool by_columns = false;   ///< Fortran order
  std::vector<Index> shape;  ///< rows first
  Index data_offset = 0;     ///< in the decompressed file
  Index rows() const { return shape[0]; }
};

/// Reads `header`'s elements as rows: 1-d one column, 2-d a table, 3-d and 4-d images
/// (height x width x channels), as bytes when they are.  `input` stands behind the header.  Sizes
/// that cannot be meant are an Error (data) before anything is allocated.
std::unique_ptr<Reader> open_array(InputStream input, ArrayHeader header);

}  // namespace kerf::detail::io
