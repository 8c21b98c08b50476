// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include "kerf/core/require.h"
#include "kerf/io/bytes/decoder.h"

namespace kerf::detail::io {
namespace {

/// Zstandard, of one frame or several one after another.
class ZstdDecoder final : public Decoder {
 public:
  explicit ZstdDecoder(std::unique_ptr<FileBytes> bytes)
      : bytes_(std::move(bytes)), zstd_(::ZSTD_createDStream(), ::ZSTD_freeDStream) {
    KERF_REQUIRE(zstd_ != nullptr, memory, "{}: cannot start zstd", bytes_->name());
  }

  Index file_position() const override { return bytes_->position(); }

  std::size_t read(char* to, std::size_t bytes) override {
    ZSTD_outBuffer out{to, bytes, 0};
    while (out.pos == 0 && bytes > 0) {
      bytes_->want(1);
      // Between frames an end is an end; within one, zstd may still hold decoded bytes back.
      if (bytes_->available() == 0 && frame_ended_) break;
      ZSTD_inBuffer in{bytes_->data(), bytes_->available(), 0};
      const std::size_t status = ::ZSTD_decompressStream(zstd_.get(), &out, &in);
      KERF_REQUIRE(!::ZSTD_isError(status), data, "{} is damaged: its zstd data are wrong ({})",
                   bytes_->name(), ::ZSTD_getErrorName(status));
      KERF_REQUIRE(in.size > 0 || out.pos > 0 || status == 0, data,
                   "{} is cut short: its zstd data do not end", bytes_->name());
      bytes_->consume(in.pos);
      frame_ended_ = status == 0;
    }
    return out.pos;
  }

 private:
  std::unique_ptr<FileBytes> bytes_;
  std::unique_ptr<ZSTD_DStream, decltype(&::ZSTD_freeDStream)> zstd_;
  bool frame_ended_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder(std::unique_ptr<FileBytes> bytes) {
  return std::make_unique<ZstdDecoder>(std::move(bytes));
}

}  // namespace kerf::detail::io
