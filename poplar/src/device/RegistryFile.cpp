#include "RegistryFile.hpp"

#include <fmt/format.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace poplar::internal {

struct RegistryFile::Record {
  std::uint64_t sequence = 0; // odd while the holder is being written
  Holder holder;
  Activity activity;
};

struct RegistryFile::Header {
  std::array<char, 8> magic = {'A', 'S', 'P', 'E', 'N', 'I', 'P', 'U'};
  std::uint32_t version = 1;
  std::uint32_t ipus = 0;
  std::uint64_t recordBytes = sizeof(Record);
  std::array<std::uint64_t, 5> reserved = {};

  bool operator==(const Header &) const = default;
};

namespace {

constexpr mode_t privateMode = 0600;

[[noreturn]] void failAt(const std::string &path, const std::string &problem) {
  throw poplar_error(fmt::format(
      "[poplar::Device] the registry of attached processes '{}' {}; the "
      "environment variable ASPEN_REGISTRY names another one",
      path, problem));
}

struct flock wholeByte(short type, unsigned ipu) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = ipu;
  lock.l_len = 1;
  return lock;
}

} // namespace

RegistryFile::RegistryFile(int descriptor, bool isWritable, Place place)
    : descriptor_(descriptor), isWritable_(isWritable),
      place_(std::move(place)) {
  static_assert(std::is_trivially_copyable_v<Record>);
  static_assert(sizeof(Header) == 64 && sizeof(Record) % 8 == 0);
}

void RegistryFile::fail(const std::string &problem) const {
  failAt(place_.path, problem);
}

std::unique_ptr<RegistryFile> RegistryFile::open(const Place &place,
                                                 bool mayCreate) {
  // Never through a link: others may put one into a folder that all can write.
  constexpr int flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const char *path = place.path.c_str();
  bool isWritable = true;
  int descriptor = ::open(path, O_RDWR | flags);
  if (descriptor < 0 && errno == ENOENT) {
    if (!mayCreate) {
      return nullptr;
    }
    // Exclusively: Linux refuses O_CREAT for files of others in /tmp.
    descriptor = ::open(path, O_RDWR | O_CREAT | O_EXCL | flags, privateMode);
    if (descriptor < 0 && errno == EEXIST) {
      descriptor = ::open(path, O_RDWR | flags);
    }
  } else if (descriptor < 0 && (errno == EACCES || errno == EROFS)) {
    isWritable = false;
    descriptor = ::open(path, O_RDONLY | flags);
  }
  if (descriptor < 0) {
    failAt(place.path, fmt::format("cannot be opened: {}",
                                   errno == ELOOP ? "it is a symbolic link"
                                                  : std::strerror(errno)));
  }
  struct stat status = {};
  const bool isFile =
      fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (!isFile || (place.isOurs && status.st_uid != geteuid())) {
    ::close(descriptor);
    failAt(place.path,
           isFile ? "belongs to another user" : "is not a plain file");
  }
  return std::unique_ptr<RegistryFile>(
      new RegistryFile(descriptor, isWritable, place));
}

std::unique_ptr<RegistryFile> RegistryFile::openOrCreate(const Place &place) {
  return open(place, true);
}

std::unique_ptr<RegistryFile> RegistryFile::openExisting(const Place &place) {
  return open(place, false);
}

bool RegistryFile::isAt(const std::string &path) const {
  struct stat there = {};
  struct stat here = {};
  return lstat(path.c_str(), &there) == 0 && fstat(descriptor_, &here) == 0 &&
         there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

off_t RegistryFile::recordOffset(unsigned ipu) const {
  return static_cast<off_t>(sizeof(Header) + ipu * sizeof(Record));
}

std::size_t RegistryFile::fileBytes() const {
  return static_cast<std::size_t>(recordOffset(place_.ipus));
}

bool RegistryFile::readBytes(void *data, std::size_t bytes,
                             off_t offset) const {
  return pread(descriptor_, data, bytes, offset) == static_cast<ssize_t>(bytes);
}

void RegistryFile::writeBytes(const void *data, std::size_t bytes,
                              off_t offset) {
  if (pwrite(descriptor_, data, bytes, offset) != static_cast<ssize_t>(bytes)) {
    fail(fmt::format("cannot be written: {}", std::strerror(errno)));
  }
}

// Needs no lock: all processes that do this write the same. Records stay as
// they are, and the locks of others do not depend on any contents.
void RegistryFile::mendHeader() {
  const Header expected = {.ipus = place_.ipus};
  Header found;
  struct stat status = {};
  fstat(descriptor_, &status);
  const bool isEmpty = status.st_size == 0;
  const bool isComplete = readBytes(&found, sizeof(found), 0);
  if (!isComplete || found != expected) {
    if (!isEmpty && !place_.isOurs) {
      if (!isComplete || found.magic != expected.magic) {
        fail("is a file of something else");
      }
      if (found.version != expected.version ||
          found.recordBytes != expected.recordBytes) {
        fail("was made by another version of Aspen; delete it");
      }
      fail(fmt::format("is for a system of {} IPUs and this one has {}",
                       found.ipus, place_.ipus));
    }
    writeBytes(&expected, sizeof(expected), 0);
  }
  // Reserves the memory: a page that cannot be had later is a fatal signal.
  const int error =
      posix_fallocate(descriptor_, 0, static_cast<off_t>(fileBytes()));
  if (error != 0) {
    fail(fmt::format("has no room for {} bytes: {}", fileBytes(),
                     std::strerror(error)));
  }
}

void RegistryFile::map() {
  void *address = mmap(nullptr, fileBytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
                       descriptor_, 0);
  if (address == MAP_FAILED) {
    fail(fmt::format("cannot be mapped: {}", std::strerror(errno)));
  }
  mapping_ = static_cast<std::byte *>(address);
}

void RegistryFile::prepare() {
  if (!isWritable_) {
    fail("cannot be opened for writing");
  }
  mendHeader();
  if (mapping_ == nullptr) {
    map();
  }
}

bool RegistryFile::lock(unsigned ipu) {
  struct flock request = wholeByte(F_WRLCK, ipu);
  if (fcntl(descriptor_, F_SETLK, &request) == 0) {
    return true;
  }
  if (errno != EACCES && errno != EAGAIN) {
    fail(fmt::format("cannot be locked: {}", std::strerror(errno)));
  }
  return false;
}

void RegistryFile::unlock(unsigned ipu) {
  struct flock request = wholeByte(F_UNLCK, ipu);
  fcntl(descriptor_, F_SETLK, &request); // fails for no reason that is ours
}

std::optional<pid_t> RegistryFile::lockedBy(unsigned ipu) const {
  struct flock request = wholeByte(F_WRLCK, ipu);
  if (fcntl(descriptor_, F_GETLK, &request) != 0 || request.l_type == F_UNLCK) {
    return std::nullopt;
  }
  return std::max(request.l_pid, 0);
}

void RegistryFile::write(unsigned ipu, const Holder &holder) {
  const off_t offset = recordOffset(ipu);
  std::uint64_t sequence = 0;
  readBytes(&sequence, sizeof(sequence), offset);
  sequence |= 1; // it is odd already if a writer was killed
  writeBytes(&sequence, sizeof(sequence), offset);
  const off_t holderOffset =
      offset + static_cast<off_t>(offsetof(Record, holder));
  writeBytes(&holder, sizeof(holder), holderOffset);
  ++sequence;
  writeBytes(&sequence, sizeof(sequence), offset);
}

std::optional<Holder> RegistryFile::read(unsigned ipu) const {
  Header header;
  if (!readBytes(&header, sizeof(header), 0) ||
      header != Header{.ipus = place_.ipus}) {
    return std::nullopt;
  }
  constexpr unsigned attempts = 100;
  for (unsigned i = 0; i < attempts; ++i) {
    Record record;
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    const off_t offset = recordOffset(ipu);
    if (readBytes(&before, sizeof(before), offset) &&
        readBytes(&record, sizeof(record), offset) &&
        readBytes(&after, sizeof(after), offset) && before == after &&
        before % 2 == 0) {
      return record.holder;
    }
    std::this_thread::yield();
  }
  return std::nullopt;
}

Activity RegistryFile::readActivity(unsigned ipu) const {
  Activity activity;
  const off_t offset =
      recordOffset(ipu) + static_cast<off_t>(offsetof(Record, activity));
  return readBytes(&activity, sizeof(activity), offset) ? activity : Activity();
}

Activity &RegistryFile::activity(unsigned ipu) {
  return reinterpret_cast<Record *>(mapping_ + recordOffset(ipu))->activity;
}

} // namespace poplar::internal
