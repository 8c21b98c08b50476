// SPDX-License-Identifier: Apache-2.0
#include <lzma.h>

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/io/bytes/decoder.h"

namespace kerf::detail::io {
namespace {

/// xz -9 needs 65 MB; a file that wants more than this is no honest one.
constexpr std::uint64_t kMemoryLimit = std::uint64_t{1} << 30;

/// xz, of one stream or several one after another.
class XzDecoder final : public Decoder {
 public:
  explicit XzDecoder(std::unique_ptr<FileBytes> bytes) : bytes_(std::move(bytes)) {
    KERF_REQUIRE(::lzma_stream_decoder(&lzma_, kMemoryLimit, LZMA_CONCATENATED) == LZMA_OK, memory,
                 "{}: cannot start liblzma", bytes_->name());
  }
  ~XzDecoder() override { ::lzma_end(&lzma_); }

  Index file_position() const override { return bytes_->position(); }

  std::size_t read(char* to, std::size_t bytes) override {
    lzma_.next_out = reinterpret_cast<std::uint8_t*>(to);
    lzma_.avail_out = bytes;
    while (lzma_.avail_out == bytes && bytes > 0 && !ended_) {
      bytes_->want(1);
      const std::size_t available = bytes_->available();
      lzma_.next_in = reinterpret_cast<const std::uint8_t*>(bytes_->data());
      lzma_.avail_in = available;
      const lzma_ret status = ::lzma_code(&lzma_, available == 0 ? LZMA_FINISH : LZMA_RUN);
      bytes_->consume(available - lzma_.avail_in);
      ended_ = status == LZMA_STREAM_END;
      KERF_REQUIRE(status != LZMA_BUF_ERROR, data, "{} is cut short: its xz data do not end",
                   bytes_->name());
      KERF_REQUIRE(status == LZMA_OK || ended_, data,
                   "{} is damaged: its xz data are wrong (liblzma error {})", bytes_->name(),
                   static_cast<int>(status));
    }
    return bytes - lzma_.avail_out;
  }

 private:
  std::unique_ptr<FileBytes> bytes_;
  lzma_stream lzma_ = LZMA_STREAM_INIT;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_xz_decoder(std::unique_ptr<FileBytes> bytes) {
  return std::make_unique<XzDecoder>(std::move(bytes));
}

}  // namespace kerf::detail::io
