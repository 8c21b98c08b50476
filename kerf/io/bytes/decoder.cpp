// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/bytes/decoder.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "kerf/core/require.h"

namespace kerf::detail::io {
namespace {

constexpr std::size_t kBufferBytes = 1 << 18;

class PlainDecoder final : public Decoder {
 public:
  explicit PlainDecoder(std::unique_ptr<FileBytes> bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(char* to, std::size_t bytes) override { return bytes_->read(to, bytes); }
  Index file_position() const override { return bytes_->position(); }

 private:
  std::unique_ptr<FileBytes> bytes_;
};

/// gzip, of one member or several one after another (as `cat a.gz b.gz` makes them).
class GzipDecoder final : public Decoder {
 public:
  explicit GzipDecoder(std::unique_ptr<FileBytes> bytes) : bytes_(std::move(bytes)) {
    KERF_REQUIRE(::inflateInit2(&zlib_, 15 + 16) == Z_OK, memory, "{}: cannot start zlib",
                 bytes_->name());
  }
  ~GzipDecoder() override { ::inflateEnd(&zlib_); }

  Index file_position() const override { return bytes_->position(); }

  std::size_t read(char* to, std::size_t bytes) override {
    const std::size_t wanted = std::min<std::size_t>(bytes, 1u << 30);
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(wanted);
    while (zlib_.avail_out == wanted && wanted > 0) {
      if (member_ended_ && !next_member()) break;
      bytes_->want(1);
      KERF_REQUIRE(bytes_->available() > 0, data, "{} is cut short: its gzip data do not end",
                   bytes_->name());
      inflate_some();
    }
    return wanted - zlib_.avail_out;
  }

 private:
  void inflate_some() {
    const auto available = static_cast<uInt>(bytes_->available());
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes_->data()));
    zlib_.avail_in = available;
    const int status = ::inflate(&zlib_, Z_NO_FLUSH);
    bytes_->consume(available - zlib_.avail_in);
    KERF_REQUIRE(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, data,
                 "{} is damaged: its gzip data are wrong ({})", bytes_->name(),
                 zlib_.msg != nullptr ? zlib_.msg : "no more is known");
    member_ended_ = status == Z_STREAM_END;
  }

  /// Starts the next member; false at the end of the file.  Zeros that fill up a block are allowed.
  bool next_member() {
    for (;;) {
      bytes_->want(2);
      if (bytes_->available() == 0) return false;
      if (bytes_->data()[0] != 0) break;
      bytes_->consume(1);
    }
    const auto* head = reinterpret_cast<const unsigned char*>(bytes_->data());
    KERF_REQUIRE(bytes_->available() >= 2 && head[0] == 0x1f && head[1] == 0x8b, data,
                 "{} is damaged: something that is not gzip follows its gzip data", bytes_->name());
    ::inflateReset(&zlib_);
    member_ended_ = false;
    return true;
  }

  std::unique_ptr<FileBytes> bytes_;
  z_stream zlib_{};
  bool member_ended_ = false;
};

}  // namespace

FileBytes::FileBytes(std::shared_ptr<const File> file)
    : file_(std::move(file)), buffer_(kBufferBytes) {}

void FileBytes::want(std::size_t bytes) {
  if (available() >= bytes) return;
  std::memmove(buffer_.data(), data(), available());
  end_ -= begin_;
  begin_ = 0;
  const std::size_t got = file_->read(offset_, buffer_.data() + end_, buffer_.size() - end_);
  offset_ += static_cast<Index>(got);
  end_ += got;
}

std::size_t FileBytes::read(char* to, std::size_t bytes) {
  std::size_t done = std::min(bytes, available());
  std::memcpy(to, data(), done);
  consume(done);
  if (done < bytes) {
    const std::size_t got = file_->read(offset_, to + done, bytes - done);
    offset_ += static_cast<Index>(got);
    done += got;
  }
  return done;
}

std::unique_ptr<Decoder> make_decoder(std::shared_ptr<const File> file, bool& compressed) {
  auto bytes = std::make_unique<FileBytes>(std::move(file));
  bytes->want(6);
  const std::string_view head(bytes->data(), std::min<std::size_t>(6, bytes->available()));
  compressed = true;
  if (head.starts_with("\x1f\x8b")) return std::make_unique<GzipDecoder>(std::move(bytes));
  if (head == std::string_view("\xFD"
                               "7zXZ\0",
                               6))
    return make_xz_decoder(std::move(bytes));
  if (head.starts_with("\x28\xB5\x2F\xFD")) return make_zstd_decoder(std::move(bytes));
  compressed = false;
  return std::make_unique<PlainDecoder>(std::move(bytes));
}

}  // namespace kerf::detail::io
