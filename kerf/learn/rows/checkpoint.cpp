// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/rows/checkpoint.h"

#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kerf/core/require.h"
#include "kerf/core/shallow_json.h"
#include "kerf/core/system/atomic_file.h"

namespace kerf::detail {
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
  AtomicFile::remove_abandoned(folder_, ".ckpt");
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

namespace {

/// The bytes of a checkpoint, or nothing if there is none.
std::optional<std::string> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  KERF_REQUIRE(!error, data, "cannot read the checkpoint {}: {}", path, error.message());
  std::string bytes(size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.good()) bytes.clear();
  return bytes;
}

/// What stands between the preamble and the checksum, and how much of it is the header; Error (data)
/// for bytes that are no whole checkpoint.
std::pair<std::string_view, std::size_t> checked(std::string_view bytes) {
  KERF_REQUIRE(bytes.size() > kPreamble + kChecksum && bytes.starts_with({kMagic, 8}), data,
               "it is cut short, or no checkpoint");
  std::uint32_t stored = 0;
  std::uint64_t header_size = 0;
  std::memcpy(&stored, bytes.data() + bytes.size() - kChecksum, kChecksum);
  bytes.remove_suffix(kChecksum);
  std::memcpy(&header_size, bytes.data() + 8, 8);
  KERF_REQUIRE(update(0, bytes) == stored, data, "its checksum does not match");
  bytes.remove_prefix(kPreamble);
  KERF_REQUIRE(header_size <= bytes.size(), data, "its header is longer than itself");
  return {bytes, header_size};
}

}  // namespace

std::optional<Checkpoint::State> Checkpoint::load(const std::string& name) const {
  const std::string file_name = path(name);
  auto bytes = read_bytes(file_name);
  if (!bytes) return std::nullopt;
  State state{std::move(*bytes), nullptr};
  bool ours = false;
  std::string wrong;
  try {
    const auto [rest, header_size] = checked(state.bytes);
    const json header = parse_shallow_json<json>(rest.substr(0, header_size));
    ours = header.at("recipe") == identity_.recipe &&
           (identity_.data.empty() || header.at("data") == identity_.data);
    state.arrays = std::make_unique<ArrayReader>(header.at("arrays"), rest.substr(header_size));
  } catch (const Error& error) {
    wrong = error.what();
  } catch (const json::exception& error) {
    wrong = json_words(error);
  }
  KERF_REQUIRE(wrong.empty(), data, "the checkpoint {} is damaged ({}): remove it to begin again",
               file_name, wrong);
  KERF_REQUIRE(ours, data,
               "the checkpoint {} is of another fit (other data, map, options or seed): give "
               "another folder, or remove it",
               file_name);
  return state;
}

}  // namespace kerf::detail
