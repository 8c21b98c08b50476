// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/checkpoint.h"

#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kerf/core/atomic_file.h"
#include "kerf/core/require.h"
#include "kerf/core/shallow_json.h"

namespace kerf {
namespace {

using nlohmann::json;

constexpr char kMagic[9] = "KERFCKP1";
constexpr std::size_t kPreamble = 16, kChecksum = 4;
constexpr double kCostShare = 0.05;  // saving takes no more than this part of the time

std::uint32_t update(std::uint32_t crc, std::string_view bytes) {
  if (bytes.empty()) return crc;  // zlib would begin anew
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Checkpoint::Checkpoint(std::string folder, Identity identity, double interval)
    : folder_(std::move(folder)),
      identity_(std::move(identity)),
      interval_(interval),
      last_(Clock::now()) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  KERF_REQUIRE(!error, data, "cannot make the folder {}: {}", folder_, error.message());
}

std::string Checkpoint::path(const std::string& name) const {
  return (std::filesystem::path(folder_) / (name + ".ckpt")).string();
}

bool Checkpoint::due() const {
  const double since = std::chrono::duration<double>(Clock::now() - last_).count();
  return since >= interval_ && cost_ <= kCostShare * since;
}

void Checkpoint::save(const std::string& name, const ArrayWriter& arrays) {
  const auto start = Clock::now();
  const std::string header = json{
      {"recipe", identity_.recipe},
      {"data", identity_.data},
      {"arrays", arrays.list()}}.dump();
  const auto size = static_cast<std::uint64_t>(header.size());
  AtomicFile file(path(name));
  std::uint32_t crc = 0;
  const auto write = [&](std::string_view bytes) {
    crc = update(crc, bytes);
    file.write(bytes.data(), bytes.size());
  };
  write({kMagic, 8});
  write({reinterpret_cast<const char*>(&size), sizeof size});
  write(header);
  for (const std::string_view part : arrays.parts()) write(part);
  file.write(&crc, sizeof crc);
  file.commit();
  last_ = Clock::now();
  cost_ = std::chrono::duration<double>(last_ - start).count();
}

std::optional<Checkpoint::State> Checkpoint::load(const std::string& name) const {
  const std::string file_name = path(name);
  std::ifstream file(file_name, std::ios::binary);
  if (!file) return std::nullopt;
  State state;
  std::error_code error;
  state.bytes.resize(std::filesystem::file_size(file_name, error));
  file.read(state.bytes.data(), static_cast<std::streamsize>(state.bytes.size()));
  std::uint32_t stored = 0;
  std::uint64_t header_size = 0;
  const bool whole = !error && file.good() && state.bytes.size() > kPreamble + kChecksum &&
                     std::memcmp(state.bytes.data(), kMagic, 8) == 0;
  std::string_view rest(state.bytes);
  if (whole) {
    std::memcpy(&stored, rest.data() + rest.size() - kChecksum, kChecksum);
    rest.remove_suffix(kChecksum);
    std::memcpy(&header_size, rest.data() + 8, 8);
  }
  KERF_REQUIRE(whole && update(0, rest) == stored && header_size <= rest.size() - kPreamble, data,
               "the checkpoint {} is damaged: remove it to begin again", file_name);
  rest.remove_prefix(kPreamble);
  const json header = parse_shallow_json<json>(rest.substr(0, header_size));
  KERF_REQUIRE(header.at("recipe") == identity_.recipe &&
                   (identity_.data.empty() || header.at("data") == identity_.data),
               data,
               "the checkpoint {} is of another fit (other data, map, options or seed): give "
               "another folder, or remove it",
               file_name);
  state.arrays = std::make_unique<ArrayReader>(header.at("arrays"), rest.substr(header_size));
  return state;
}

}  // namespace kerf
