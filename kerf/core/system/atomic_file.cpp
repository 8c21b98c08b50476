// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/system/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>

#include "kerf/core/require.h"

namespace kerf::detail {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kMostTrials = 100;  // of names for the temporary file

/// Where a chain of symbolic links ends, whether a file is there or not yet.  Links among the folders
/// do no harm: the temporary file goes through them too.
std::string end_of_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(at, error); ++i) {
    const fs::path next = fs::read_symlink(at, error);
    if (error) break;
    at = at.parent_path() / next;  // an absolute link stands for itself
  }
  return at.string();
}

/// The open descriptor that a path stands for: /dev/stdout, /dev/fd/3.  To open such a path again
/// would write from the start of the file it was redirected to.
std::optional<int> named_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* end = path.data() + path.size();
    const auto [stop, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && stop == end && number >= 0) return number;
  }
  return std::nullopt;
}

/// A pipe, a device: something that must stay what it is.
bool is_special(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// A name's last letters, another for each file.
std::string random_letters() {
  constexpr std::string_view kLetters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::random_device device;
  std::string letters;
  for (std::size_t i = 0; i < AtomicFile::kTemporaryLetters; ++i)
    letters += kLetters[device() % kLetters.size()];
  return letters;
}

}  // namespace

bool AtomicFile::same(const std::string& a, const std::string& b) {
  for (const std::string& path : {a, b})
    if (named_descriptor(path) || is_special(path)) return false;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path first = fs::weakly_canonical(end_of_links(a), error);
  return !error && first == fs::weakly_canonical(end_of_links(b), error) && !error;
}

void AtomicFile::remove_abandoned(const std::string& folder, std::string_view ending) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    const std::size_t dot = name.size() - std::min(name.size(), kTemporaryLetters + 1);
    const bool letters = std::ranges::all_of(name.begin() + static_cast<Index>(dot) + 1, name.end(),
                                             [](unsigned char c) { return std::isalnum(c) != 0; });
    if (dot == 0 || name[dot] != '.' || !letters || !name.substr(0, dot).ends_with(ending))
      continue;
    const int left = ::open(at->path().c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    // Whoever writes it holds the lock (open_temporary()).
    if (left >= 0 && ::flock(left, LOCK_EX | LOCK_NB) == 0) ::unlink(at->path().c_str());
    if (left >= 0) ::close(left);
  }
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(end_of_links(path_)) {
  KERF_REQUIRE(!path_.empty(), usage, "the name of the output file is empty");
  std::error_code ignored;
  KERF_REQUIRE(!fs::is_symlink(target_, ignored), data,
               "cannot write {}: its symbolic links lead nowhere", path_);
  KERF_REQUIRE(!fs::is_directory(target_, ignored), data, "cannot write {}: it is a directory",
               path_);
  if (const auto number = named_descriptor(path_)) {
    direct_ = true;
    descriptor_ = ::dup(*number);
    if (descriptor_ < 0) fail_with("write");
  } else if (is_special(target_)) {
    direct_ = true;
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_with("write");
    goes_back_ = ::lseek(descriptor_, 0, SEEK_SET) == 0;
  } else {
    open_temporary();
  }
}

void AtomicFile::open_temporary() {
  // A new file has the rights that the umask leaves it (not mkstemp(): its files are private, and to
  // learn the umask is to change it for other threads); one that is replaced keeps what it had.
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  const mode_t rights = replaces ? old.st_mode & 0777 : 0666;
  for (int trials = 0; descriptor_ < 0 && trials < kMostTrials; ++trials) {
    temporary_ = target_ + "." + random_letters();
    descriptor_ =
        ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, rights);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail_with("write");
  }
  remembered_.remember(temporary_);
  ::flock(descriptor_, LOCK_EX | LOCK_NB);  // while it is written, it is not abandoned
  goes_back_ = true;
  if (!replaces) return;
  // Rights of a group are for the old file's group, which we may not be able to give.
  const bool same_owner = ::fchown(descriptor_, old.st_uid, old.st_gid) == 0;
  ::fchmod(descriptor_, same_owner ? rights : rights & ~mode_t{070});
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  remove_temporary();
}

void AtomicFile::remove_temporary() const {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::check_writable(const std::string& path) {
  const std::string target = end_of_links(path);
  // To open a pipe waits for its reader, and then ends what that reads.
  if (named_descriptor(path) || !is_special(target)) {
    const AtomicFile trial(path);
    return;
  }
  KERF_REQUIRE(::access(target.c_str(), W_OK) == 0, data, "cannot write {}: {}", path,
               std::strerror(errno));
}

bool AtomicFile::can_go_back(const std::string& path) {
  std::error_code error;
  const std::string target = end_of_links(path);
  // Devices that can are block devices; /dev/null is what its writers take it for.
  return !named_descriptor(path) &&
         (!is_special(target) || !(fs::is_fifo(target, error) || fs::is_socket(target, error)));
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
  if (!direct_ && ::fsync(descriptor_) != 0 && errno != EINVAL) fail_with("write");
  if (::close(descriptor_) != 0) {
    descriptor_ = -1;
    remove_temporary();
    fail_with("write");
  }
  descriptor_ = -1;
  if (direct_) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    remove_temporary();
    errno = error;
    fail_with("write");
  }
  remembered_.keep();
  sync_folder();
}

/// The new name is on the disk too, not only the bytes.  Some file systems cannot do that (EINVAL) and
/// a folder may be writable but not readable; the file is whole in any case.
void AtomicFile::sync_folder() const {
  const fs::path parent = fs::path(target_).parent_path();
  const int folder =
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  const bool failed = ::fsync(folder) != 0 && errno == EIO;
  ::close(folder);
  if (!failed) return;
  errno = EIO;
  fail_with("write");
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

}  // namespace kerf::detail
