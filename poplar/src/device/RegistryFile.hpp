// The file in shared memory that says who holds which IPU: a lock on byte i is
// what holding IPU i means, a record describes the process that has it.
//
// Locks are those of fcntl: a process loses all that it has on a file when it
// closes any descriptor of it, and never sees its own. So a RegistryFile is
// never closed, and the Registry knows what this process holds.
#pragma once

#include "Activity.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

namespace poplar::internal {

// Text of a record: cut if it is too long, closed by a zero.
template <std::size_t Size> struct FixedText {
  std::array<char, Size> characters = {};

  FixedText() = default;
  explicit FixedText(const std::string &text) {
    text.copy(characters.data(), Size - 1);
  }
  // Others may write what they like to a file that is shared: what is not
  // printable must not reach a terminal.
  std::string str() const {
    std::string text;
    for (const char c : characters) {
      if (c == '\0') {
        break;
      }
      const auto byte = static_cast<unsigned char>(c);
      text += byte < ' ' || byte == 0x7f ? '?' : c;
    }
    return text;
  }
};

// The process that holds an IPU, in its own words.
struct Holder {
  std::int32_t pid = 0; // in its own namespace; 0: nobody
  std::uint32_t uid = 0;
  std::uint32_t deviceId = 0;
  std::uint32_t firstIpu = 0;   // of the device; counts the activity of all
  std::int64_t since = 0;       // nanoseconds of the system clock
  std::uint64_t attachedAt = 0; // of coarseNow()
  double clockHz = 0;
  FixedText<32> user;
  FixedText<64> executable;
  FixedText<64> host;
  FixedText<64> partition;
  FixedText<512> commandLine;
};

class RegistryFile {
public:
  // A file that `isOurs` has a name of our making: whatever is wrong with its
  // contents is mended, and it must belong to this user.
  struct Place {
    std::string path;
    bool isOurs = true;
    unsigned ipus = 0;
  };

  // For attaching: makes the file if there is none. Throws poplar_error, saying
  // what is wrong with the file and what to do.
  static std::unique_ptr<RegistryFile> openOrCreate(const Place &place);
  // For looking: null if there is no file. Changes nothing.
  static std::unique_ptr<RegistryFile> openExisting(const Place &place);
  RegistryFile(const RegistryFile &) = delete;
  RegistryFile &operator=(const RegistryFile &) = delete;

  // Whether the path still leads to this file: it may have been deleted.
  bool isAt(const std::string &path) const;

  // Allows attaching, which needs a file that can be written and is sound.
  void prepare();

  // False if another process has it.
  bool lock(unsigned ipu);
  void unlock(unsigned ipu);
  // The process, other than this one, that has it; 0: one that cannot be seen
  // from here.
  std::optional<pid_t> lockedBy(unsigned ipu) const;

  void write(unsigned ipu, const Holder &holder);
  // None while it is being written, and if the file is damaged.
  std::optional<Holder> read(unsigned ipu) const;
  Activity readActivity(unsigned ipu) const;
  // To count in; valid as long as this process lives.
  Activity &activity(unsigned ipu);

private:
  struct Header;
  struct Record;

  RegistryFile(int descriptor, bool isWritable, Place place);
  static std::unique_ptr<RegistryFile> open(const Place &place, bool mayCreate);
  void mendHeader();
  void map();
  off_t recordOffset(unsigned ipu) const;
  std::size_t fileBytes() const;
  bool readBytes(void *data, std::size_t bytes, off_t offset) const;
  void writeBytes(const void *data, std::size_t bytes, off_t offset);
  [[noreturn]] void fail(const std::string &problem) const;

  const int descriptor_;
  const bool isWritable_;
  const Place place_;
  std::byte *mapping_ = nullptr;
};

} // namespace poplar::internal
