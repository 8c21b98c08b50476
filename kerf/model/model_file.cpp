// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/model_file.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kerf/core/require.h"
#include "kerf/core/shallow_json.h"
#include "kerf/core/system/atomic_file.h"
#include "kerf/model/model_parts.h"

namespace kerf::detail {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

constexpr char kMagic[9] = "KERFMODL";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPreamble = 16, kChecksum = 4;

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The first bytes of a model of a version that we read.
void check_preamble(std::string_view bytes, const std::string& name) {
  KERF_REQUIRE(bytes.size() >= kPreamble && std::memcmp(bytes.data(), kMagic, 8) == 0, data,
               "{} is not a kerf model", name);
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + 8, 4);
  KERF_REQUIRE(version == kVersion, data, "{} is a model of format {}, this kerf reads format {}",
               name, version, kVersion);
}

void check_whole(std::string_view bytes, const std::string& name) {
  std::uint32_t stored = 0;
  const bool whole = bytes.size() > kPreamble + kChecksum;
  if (whole) std::memcpy(&stored, bytes.data() + bytes.size() - kChecksum, kChecksum);
  KERF_REQUIRE(whole && checksum(bytes.substr(0, bytes.size() - kChecksum)) == stored, data,
               "the model {} is damaged (truncated or altered): its checksum does not match", name);
}

/// The bytes of a file; one that is no model is not read whole.
std::string read_file(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  KERF_REQUIRE(!error && file, data, "cannot read the model {}: {}", path,
               error ? error.message() : "it cannot be opened");
  std::string bytes(std::min<std::uintmax_t>(size, kPreamble), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  check_preamble(bytes, path);
  bytes.resize(size);
  file.read(bytes.data() + kPreamble, static_cast<std::streamsize>(size - kPreamble));
  bytes.resize(kPreamble + static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

Model parse(std::string_view bytes) {
  std::uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data() + 12, 4);
  bytes.remove_prefix(kPreamble);
  bytes.remove_suffix(kChecksum);
  KERF_REQUIRE(header_bytes <= bytes.size(), data, "its header is longer than the file");
  const json header = parse_shallow_json<json>(bytes.substr(0, header_bytes));
  return read_parts(header, bytes.substr(header_bytes));
}

/// Error if the file that would be written could not be read again.
void check_readable(const Model& model, const ArrayWriter& arrays) {
  const std::string array = arrays.first_not_finite();
  KERF_REQUIRE(array.empty(), numeric, "array '{}' holds a number that is not finite", array);
  KERF_REQUIRE(std::isfinite(model.training.lambda), numeric, "lambda is not finite");
  KERF_REQUIRE(!model.temperature || (std::isfinite(*model.temperature) && *model.temperature > 0),
               numeric, "the temperature of its probabilities is {}", *model.temperature);
  check_consistent(model);
  if (model.encoding) model.encoding->validate();
}

}  // namespace

std::string model_to_bytes(const Model& model) {
  ArrayWriter arrays;
  add_arrays(model, arrays);
  try {
    check_readable(model, arrays);
  } catch (const Error& error) {
    fail(error.kind(), "the model was not written, because it could not be read again: {}",
         error.what());
  }
  // The command holds names of files, which may be any bytes: it is a note, not worth a model.
  const std::string header =
      header_of(model, arrays.list()).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string bytes(kMagic, 8);
  append(bytes, kVersion);
  append(bytes, static_cast<std::uint32_t>(header.size()));
  bytes += header;
  arrays.append_to(bytes);
  append(bytes, checksum(bytes));
  return bytes;
}

void save_model(const Model& model, const std::string& path) {
  const std::string bytes = model_to_bytes(model);
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

Model model_from_bytes(std::string_view bytes, const std::string& name) {
  check_preamble(bytes, name);
  check_whole(bytes, name);
  try {
    Model model = parse(bytes);
    model.from_file = true;
    return model;
  } catch (const Error& error) {
    fail(ErrorKind::data, "the model {} is not valid: {}", name, error.what());
  } catch (const json::exception& error) {
    fail(ErrorKind::data, "the model {} is not valid: {}", name, json_words(error));
  }
}

Model load_model(const std::string& path) { return model_from_bytes(read_file(path), path); }

}  // namespace kerf::detail
