// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/arrays/idx.h"

#include <filesystem>

#include "kerf/core/require.h"

namespace kerf::detail::io {
namespace {

/// The element type of a type byte; false if there is none.
bool idx_type(int code, ElementType& type) {
  switch (code) {
    case 0x08:
      type = ElementType::u8;
      return true;
    case 0x09:
      type = ElementType::i8;
      return true;
    case 0x0B:
      type = ElementType::i16;
      return true;
    case 0x0C:
      type = ElementType::i32;
      return true;
    case 0x0D:
      type = ElementType::f32;
      return true;
    case 0x0E:
      type = ElementType::f64;
      return true;
    default:
      return false;
  }
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.rfind(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

}  // namespace

bool looks_like_idx(std::string_view head) {
  ElementType type;
  return head.size() >= 4 && head[0] == 0 && head[1] == 0 && idx_type(head[2], type) &&
         head[3] >= 1 && head[3] <= 4;
}

std::unique_ptr<Reader> open_idx(InputStream input, const ReadOptions&) {
  unsigned char start[4] = {};
  input.read(start, 4);
  ArrayHeader header;
  KERF_REQUIRE(idx_type(start[2], header.type) && start[3] >= 1 && start[3] <= 4, data,
               "{} is not an idx file of 1 to 4 dimensions", input.name());
  header.swapped = true;
  for (int k = 0; k < start[3]; ++k) {
    unsigned char size[4] = {};
    KERF_REQUIRE(input.read(size, 4) == 4, data, "{} is cut short within its idx header",
                 input.name());
    header.shape.push_back(Index{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
  }
  header.data_offset = 4 + 4 * start[3];
  return open_array(std::move(input), std::move(header));
}

std::string labels_sibling(const std::string& path) {
  const std::filesystem::path images(path);
  std::string name = images.filename().string();
  if (name.find("images") == std::string::npos) return "";
  replace(name, "images", "labels");
  replace(name, "idx3", "idx1");
  replace(name, "idx4", "idx1");
  std::string plain = name;
  for (const std::string_view ending : {".gz", ".xz", ".zst"})
    if (plain.ends_with(ending)) plain.resize(plain.size() - ending.size());
  for (const std::string& candidate : {name, plain, plain + ".gz", plain + ".xz", plain + ".zst"}) {
    const auto sibling = images.parent_path() / candidate;
    if (std::filesystem::exists(sibling)) return sibling.string();
  }
  return "";
}

}  // namespace kerf::detail::io
