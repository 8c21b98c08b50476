// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kerf/core/require.h"

namespace kerf {
namespace {
constexpr std::size_t kBufferBytes = 1 << 20;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  KERF_REQUIRE(!path_.empty(), usage, "the name of the output file is empty");
  KERF_REQUIRE(!std::filesystem::is_directory(path_), data, "cannot write {}: it is a directory",
               path_);
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = ::mkstemp(temporary_.data());
  if (descriptor_ < 0) fail_with("write");
  // mkstemp makes private files; give the result the permissions any new file would have.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  if (buffer_.size() + bytes > kBufferBytes) flush();
  if (bytes > kBufferBytes) return write_all(data, bytes);
  buffer_.append(static_cast<const char*>(data), bytes);
}

void AtomicFile::write_at(Index offset, const void* data, std::size_t bytes) {
  flush();
  if (::pwrite(descriptor_, data, bytes, offset) != static_cast<ssize_t>(bytes)) fail_with("write");
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_with("write");
  if (::close(descriptor_) != 0) {
    descriptor_ = -1;
    ::unlink(temporary_.c_str());
    fail_with("write");
  }
  descriptor_ = -1;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
    fail_with("write");
  }
}

void AtomicFile::fail_with(const char* action) const {
  fail(ErrorKind::data, "cannot {} {}: {}", action, path_, std::strerror(errno));
}

void AtomicFile::flush() {
  write_all(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write_all(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with("write");
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

}  // namespace kerf
