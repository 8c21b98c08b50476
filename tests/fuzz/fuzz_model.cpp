// Any bytes as a model file.  The checksum is put right first: a forger would do that too.
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "kerf/inside.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / "kerf-fuzz-model").string();
  std::string file(reinterpret_cast<const char*>(bytes), size);
  if (size > 4) {
    const auto crc = static_cast<std::uint32_t>(crc32(0, bytes, static_cast<uInt>(size - 4)));
    std::memcpy(file.data() + size - 4, &crc, 4);
  }
  std::ofstream(path, std::ios::binary).write(file.data(), static_cast<std::streamsize>(size));
  try {
    const kerf::detail::Model model = kerf::detail::load_model(path);
    kerf::detail::Predictor predictor(model, kerf::Index{256} << 20);
    kerf::detail::RowBlock block;
    block.dense.resize(2, model.recipe.in_dim);
    block.dense.fill(0.5f);
    block.image = model.image;
    kerf::Matrix<double> scores;
    if (!model.is_sparse && model.recipe.in_dim < (1 << 16)) predictor.scores(block, scores);
  } catch (const kerf::Error&) {
    // what a bad model should give
  }
  return 0;
}
