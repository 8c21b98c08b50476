// Any bytes as a data file: rows or one Error, never a crash, never more memory than the file is
// worth.
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "kerf/inside.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / "kerf-fuzz-data").string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  try {
    kerf::detail::Dataset data = kerf::detail::open_dataset({path}, {}, kerf::detail::rng::Key{1});
    kerf::detail::RowBlock block;
    while (data.source->next(block)) {
    }
  } catch (const kerf::Error&) {
    // what bad data should give
  }
  return 0;
}
