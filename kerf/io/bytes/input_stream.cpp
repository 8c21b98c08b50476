// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/bytes/input_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "kerf/core/require.h"
#include "kerf/core/system/interrupt.h"
#include "kerf/io/bytes/decoder.h"

namespace kerf::detail::io {
namespace {

constexpr std::size_t kChunk = 1 << 20;

/// A temporary file that has no name any more: it goes away with its last descriptor.
int open_nameless(const std::string& name) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr && *folder != 0 ? folder : "/tmp");
  path += "/kerf.XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  KERF_REQUIRE(descriptor >= 0, data, "cannot make a temporary file {} for {}: {}", path, name,
               std::strerror(errno));
  ::unlink(path.c_str());
  return descriptor;
}

void write_all(int descriptor, const char* from, std::size_t bytes, const std::string& name) {
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    KERF_REQUIRE(written > 0, data, "cannot keep {} in a temporary file: {}", name,
                 std::strerror(errno));
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace

std::shared_ptr<File> File::open(const std::string& path) {
  KERF_REQUIRE(!path.empty(), usage, "the name of the data file is empty");
  if (path == "-") return std::make_shared<File>(STDIN_FILENO, "standard input", false);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  KERF_REQUIRE(descriptor >= 0, data, "cannot open {}: {}", path, std::strerror(errno));
  return std::make_shared<File>(descriptor, path, true);
}

std::shared_ptr<File> File::open_rewindable(const std::string& path) {
  auto pipe = open(path);
  if (pipe->seekable()) return pipe;
  const int copy = open_nameless(pipe->name());
  std::vector<char> chunk(kChunk);
  for (Index offset = 0;;) {
    poll_interrupt();
    const std::size_t got = pipe->read(offset, chunk.data(), chunk.size());
    if (got == 0) break;
    write_all(copy, chunk.data(), got, pipe->name());
    offset += static_cast<Index>(got);
  }
  return std::make_shared<File>(copy, pipe->name(), true);
}

File::File(int descriptor, std::string name, bool owned)
    : descriptor_(descriptor), name_(std::move(name)), owned_(owned) {
  struct stat info {};
  KERF_REQUIRE(::fstat(descriptor_, &info) == 0, data, "cannot open {}: {}", name_,
               std::strerror(errno));
  KERF_REQUIRE(!S_ISDIR(info.st_mode), data, "{} is a directory, not a file", name_);
  seekable_ = S_ISREG(info.st_mode);
  if (!seekable_) return;
  // Standard input may stand in the middle of its file: somebody has read what comes before.
  if (!owned_) begin_ = std::max<Index>(0, ::lseek(descriptor_, 0, SEEK_CUR));
  size_ = std::max<Index>(0, static_cast<Index>(info.st_size) - begin_);
}

File::~File() {
  if (owned_) ::close(descriptor_);
}

std::size_t File::read(Index offset, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    char* target = static_cast<char*>(to) + done;
    const ssize_t got = seekable_ ? ::pread(descriptor_, target, bytes - done,
                                            begin_ + offset + static_cast<Index>(done))
                                  : ::read(descriptor_, target, bytes - done);
    if (got < 0 && errno == EINTR) {
      poll_interrupt();
      continue;
    }
    KERF_REQUIRE(got >= 0, data, "cannot read {}: {}", name_, std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

InputStream::InputStream(std::shared_ptr<File> file) : file_(std::move(file)) {
  decoder_ = make_decoder(file_, compressed_);
}

InputStream::InputStream(std::shared_ptr<File> file, std::function<std::unique_ptr<Decoder>()> make)
    : file_(std::move(file)), make_(std::move(make)), decoder_(make_()), compressed_(true) {}

std::string_view InputStream::peek(std::size_t bytes) {
  if (begin_ > 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  while (buffer_.size() < bytes) {
    const std::size_t had = buffer_.size();
    buffer_.resize(bytes);
    const std::size_t got = decoder_->read(buffer_.data() + had, bytes - had);
    buffer_.resize(had + got);
    if (got == 0) break;
  }
  return {buffer_.data(), std::min(bytes, buffer_.size())};
}

std::size_t InputStream::read(void* to, std::size_t bytes) {
  touched_ = true;
  char* target = static_cast<char*>(to);
  std::size_t done = std::min(bytes, buffer_.size() - begin_);
  if (done > 0) std::memcpy(target, buffer_.data() + begin_, done);
  begin_ += done;
  while (done < bytes) {
    const std::size_t got = decoder_->read(target + done, bytes - done);
    if (got == 0) break;
    done += got;
  }
  return done;
}

void InputStream::read_some(std::vector<char>& to, Index bytes) {
  to.clear();
  for (Index done = 0; done < bytes;) {
    // Double what is there, so that memory never exceeds twice the real size plus a chunk.
    const Index step = std::min(bytes - done, std::max<Index>(kChunk, done));
    to.resize(done + step);
    const std::size_t got = read(to.data() + done, step);
    done += static_cast<Index>(got);
    to.resize(done);
    if (static_cast<Index>(got) < step) return;
  }
}

void InputStream::rewind() {
  if (!touched_) return;  // what was peeked at is still in the buffer
  KERF_REQUIRE(file_->seekable(), usage, "{} can be read only once", name());
  buffer_.clear();
  begin_ = 0;
  touched_ = false;
  decoder_ = make_ ? make_() : make_decoder(file_, compressed_);
}

}  // namespace kerf::detail::io
