#include <session/WholeFile.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace popart {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string &fileName) {
  throw error(fmt::format("[session] cannot write '{}': {}", fileName,
                          std::strerror(errno)));
}

// The unfinished file, under a name that all writers of the whole one share.
// A lock makes it this process's own; the lock ends with the process.
class Unfinished {
public:
  explicit Unfinished(const std::string &whole)
      : whole_(whole), name_(whole + ".part") {
    do {
      open();
    } while (!isStillThere()); // another one has finished it meanwhile
  }

  Unfinished(const Unfinished &) = delete;
  Unfinished &operator=(const Unfinished &) = delete;

  ~Unfinished() {
    if (file_ >= 0 && !isFinished_) {
      ::unlink(name_.c_str());
    }
    close();
  }

  const std::string &name() const { return name_; }

  void finish() {
    if (::rename(name_.c_str(), whole_.c_str()) != 0) {
      fail(whole_);
    }
    isFinished_ = true;
  }

private:
  void open() {
    close();
    constexpr mode_t everybodys = 0666; // less what the umask says
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, everybodys);
    if (file_ < 0) {
      fail(whole_);
    }
    while (::flock(file_, LOCK_EX) != 0) {
      if (errno != EINTR) {
        break; // a file system without locks: writers take turns by luck
      }
    }
  }

  void close() {
    if (file_ >= 0) {
      ::close(file_);
      file_ = -1;
    }
  }

  bool isStillThere() const {
    struct stat ours = {}, named = {};
    return ::fstat(file_, &ours) == 0 && ::stat(name_.c_str(), &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
  }

  std::string whole_, name_;
  int file_ = -1;
  bool isFinished_ = false;
};

} // namespace

void writeWholeFile(const std::string &fileName,
                    const std::function<void(std::ostream &)> &write) {
  Unfinished unfinished(fileName);
  std::ofstream out(unfinished.name(), std::ios::binary | std::ios::trunc);
  errno = 0;
  write(out);
  out.close(); // a full disk may show only now
  if (!out) {
    fail(fileName);
  }
  unfinished.finish();
}

} // namespace popart
