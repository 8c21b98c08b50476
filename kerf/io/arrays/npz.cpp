// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/arrays/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "kerf/core/require.h"
#include "kerf/io/arrays/npy.h"
#include "kerf/io/combine.h"

namespace kerf::detail::io {
namespace {

/// An array in the archive.
struct Member {
  Index offset = 0;  // of its local header
  Index packed = 0;  // bytes in the file
  bool deflated = false;
  std::uint32_t checksum = 0;
};

Index number_at(const char* bytes, int size) {
  std::uint64_t value = 0;
  for (int k = size - 1; k >= 0; --k) value = value << 8 | static_cast<unsigned char>(bytes[k]);
  return static_cast<Index>(value);
}

[[noreturn]] void fail_damaged(const File& file) {
  fail(ErrorKind::data, "{} is damaged: it is no zip archive that can be read", file.name());
}

/// Sizes beyond 4 GB stand in an extra field, in the order in which they are missing elsewhere.
void read_large_sizes(std::string_view extra, bool unpacked_missing, Member& member) {
  while (extra.size() >= 4) {
    const Index id = number_at(extra.data(), 2);
    const auto size = static_cast<std::size_t>(number_at(extra.data() + 2, 2));
    if (extra.size() < 4 + size) return;
    if (id == 1) {
      std::string_view fields = extra.substr(4, size);
      if (unpacked_missing) fields.remove_prefix(std::min<std::size_t>(8, fields.size()));
      for (Index* value : {&member.packed, &member.offset}) {
        if (*value != 0xFFFFFFFF || fields.size() < 8) continue;
        *value = number_at(fields.data(), 8);
        fields.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + size);
  }
}

/// Where the directory lies.
struct Place {
  Index offset = 0, size = 0;
};

/// Archives beyond 4 GB (or 65,535 members) say it in a record of their own, to which a locator in
/// front of the end record leads.
Place read_large_place(const File& file, Index end) {
  constexpr Index kLocatorBytes = 20, kRecordBytes = 56;
  char locator[kLocatorBytes], record[kRecordBytes];
  if (end < kLocatorBytes ||
      file.read(end - kLocatorBytes, locator, sizeof locator) != sizeof locator ||
      std::memcmp(locator, "PK\6\7", 4) != 0)
    fail_damaged(file);
  const Index at = number_at(locator + 8, 8);
  if (at < 0 || at > end - kLocatorBytes - kRecordBytes ||
      file.read(at, record, sizeof record) != sizeof record ||
      std::memcmp(record, "PK\6\6", 4) != 0)
    fail_damaged(file);
  return {number_at(record + 48, 8), number_at(record + 40, 8)};
}

/// The archive's arrays, from the directory at its end.
std::map<std::string, Member> read_directory(const File& file) {
  constexpr Index kEndBytes = 22, kLongestComment = 65535, kEntryBytes = 46;
  const Index tail_size = std::min(file.size(), kEndBytes + kLongestComment);
  std::string tail(tail_size, '\0');
  if (file.read(file.size() - tail_size, tail.data(), tail.size()) != tail.size())
    fail_damaged(file);
  const std::size_t end = tail.rfind("PK\5\6");
  if (end == std::string::npos || end + kEndBytes > tail.size()) fail_damaged(file);
  constexpr Index kElsewhere = 0xFFFFFFFF;
  Place place{number_at(tail.data() + end + 16, 4), number_at(tail.data() + end + 12, 4)};
  if (place.offset == kElsewhere || place.size == kElsewhere ||
      number_at(tail.data() + end + 10, 2) == 0xFFFF)
    place = read_large_place(file, file.size() - tail_size + static_cast<Index>(end));
  const auto [offset, size] = place;
  if (offset < 0 || size < 0 || offset > file.size() || size > file.size() - offset)
    fail_damaged(file);
  std::string directory(size, '\0');
  if (file.read(offset, directory.data(), directory.size()) != directory.size()) fail_damaged(file);
  std::map<std::string, Member> members;
  std::string_view rest = directory;
  while (rest.starts_with("PK\1\2") && rest.size() >= kEntryBytes) {
    const auto name_size = static_cast<std::size_t>(number_at(rest.data() + 28, 2));
    const auto extra_size = static_cast<std::size_t>(number_at(rest.data() + 30, 2));
    const auto comment_size = static_cast<std::size_t>(number_at(rest.data() + 32, 2));
    if (rest.size() < kEntryBytes + name_size + extra_size + comment_size) fail_damaged(file);
    const std::string name(rest.substr(kEntryBytes, name_size));
    const Index method = number_at(rest.data() + 10, 2);
    KERF_REQUIRE(method == 0 || method == 8, data,
                 "{}: {} is compressed in a way that kerf does not know (method {})", file.name(),
                 quoted(name), method);
    Member member{number_at(rest.data() + 42, 4), number_at(rest.data() + 20, 4), method == 8,
                  static_cast<std::uint32_t>(number_at(rest.data() + 16, 4))};
    read_large_sizes(rest.substr(kEntryBytes + name_size, extra_size),
                     number_at(rest.data() + 24, 4) == 0xFFFFFFFF, member);
    if (name.ends_with(".npy")) members[name.substr(0, name.size() - 4)] = member;
    rest.remove_prefix(kEntryBytes + name_size + extra_size + comment_size);
  }
  return members;
}

/// The bytes of one member, unpacked and compared with their checksum at the end.
class MemberDecoder final : public Decoder {
 public:
  MemberDecoder(std::shared_ptr<File> file, const Member& member)
      : file_(std::move(file)), member_(member), buffer_(1 << 18) {
    char header[30];
    if (member_.offset < 0 || member_.offset > file_->size()) fail_damaged(*file_);
    if (file_->read(member_.offset, header, sizeof header) != sizeof header ||
        std::memcmp(header, "PK\3\4", 4) != 0)
      fail_damaged(*file_);
    position_ = member_.offset + 30 + number_at(header + 26, 2) + number_at(header + 28, 2);
    if (member_.packed < 0 || position_ > file_->size() ||
        member_.packed > file_->size() - position_)
      fail_damaged(*file_);
    end_ = position_ + member_.packed;
    if (member_.deflated && ::inflateInit2(&zlib_, -15) != Z_OK) fail_damaged(*file_);
  }
  ~MemberDecoder() override {
    if (member_.deflated) ::inflateEnd(&zlib_);
  }

  Index file_position() const override { return position_; }

  std::size_t read(char* to, std::size_t bytes) override {
    const std::size_t wanted = std::min<std::size_t>(bytes, 1 << 30);
    const std::size_t got = member_.deflated ? inflate(to, wanted) : copy(to, wanted);
    checksum_ = static_cast<std::uint32_t>(
        ::crc32(checksum_, reinterpret_cast<const Bytef*>(to), static_cast<uInt>(got)));
    KERF_REQUIRE(got > 0 || wanted == 0 || checksum_ == member_.checksum, data,
                 "{} is damaged: the checksum of an array is wrong", file_->name());
    return got;
  }

 private:
  std::size_t copy(char* to, std::size_t bytes) {
    const auto left = static_cast<std::size_t>(end_ - position_);
    const std::size_t got = file_->read(position_, to, std::min(bytes, left));
    position_ += static_cast<Index>(got);
    return got;
  }
  std::size_t inflate(char* to, std::size_t bytes) {
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(bytes);
    while (zlib_.avail_out == bytes && bytes > 0 && !ended_) {
      if (zlib_.avail_in == 0) {
        zlib_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        zlib_.avail_in = static_cast<uInt>(copy(buffer_.data(), buffer_.size()));
        KERF_REQUIRE(zlib_.avail_in > 0, data, "{} is cut short: a packed array does not end",
                     file_->name());
      }
      const int status = ::inflate(&zlib_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      if (status != Z_OK && !ended_) fail_damaged(*file_);
    }
    return bytes - zlib_.avail_out;
  }

  std::shared_ptr<File> file_;
  Member member_;
  std::vector<char> buffer_;
  Index position_ = 0, end_ = 0;
  z_stream zlib_{};
  bool ended_ = false;
  std::uint32_t checksum_ = 0;
};

std::unique_ptr<Reader> open_member(const std::shared_ptr<File>& file, const Member& member,
                                    const ReadOptions& options) {
  InputStream input(file, [file, member]() -> std::unique_ptr<Decoder> {
    return std::make_unique<MemberDecoder>(file, member);
  });
  return open_npy(std::move(input), options);
}

}  // namespace

bool looks_like_npz(std::string_view head) {
  if (!head.starts_with("PK\3\4") || head.size() < 30) return false;
  const auto size = static_cast<std::size_t>(number_at(head.data() + 26, 2));
  return head.substr(30, size).ends_with(".npy");
}

std::unique_ptr<Reader> open_npz(InputStream input, const ReadOptions& options) {
  const std::shared_ptr<File> file = input.shared_file();
  KERF_REQUIRE(file->seekable() && !input.compressed(), data,
               "{}: an npz archive is read from a file, not from a pipe or another archive",
               file->name());
  const auto members = read_directory(*file);
  const auto find = [&](std::initializer_list<const char*> names) {
    auto found = members.end();
    for (const char* name : names)
      if (found == members.end()) found = members.find(name);
    return found;
  };
  auto rows = find({"X", "x", "arr_0"});
  const auto labels = find({"y", "Y", "arr_1"});
  if (rows == members.end() && members.size() == 1) rows = members.begin();
  if (rows == members.end()) {
    std::string names;
    for (const auto& [name, member] : members) names += (names.empty() ? "" : ", ") + name;
    fail(ErrorKind::data, "{} has no array X; its arrays are {}", file->name(), quoted(names));
  }
  auto reader = open_member(file, rows->second, options);
  if (labels == members.end()) return reader;
  return with_labels(std::move(reader), open_member(file, labels->second, options),
                     file->name() + ":X", file->name() + ":y");
}

}  // namespace kerf::detail::io
