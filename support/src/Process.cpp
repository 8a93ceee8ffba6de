#include <support/Process.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace support {

namespace {

[[noreturn]] void fail(int error, const std::string &what) {
  throw std::system_error(error, std::generic_category(), what);
}

class Descriptor {
public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor &&other) noexcept
      : number_(std::exchange(other.number_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number_; }
  bool isOpen() const { return number_ >= 0; }
  void close() {
    if (isOpen()) {
      ::close(std::exchange(number_, -1));
    }
  }

private:
  int number_;
};

struct Pipe {
  Descriptor reader, writer;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      fail(errno, "pipe");
    }
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
  }
};

// A file in memory, not a pipe: the program may read it whenever it likes.
Descriptor openInput(const std::string &input) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC));
  if (!file.isOpen()) {
    fail(errno, "memfd_create");
  }
  for (std::size_t written = 0; written < input.size();) {
    const ssize_t count =
        write(file.get(), input.data() + written, input.size() - written);
    if (count < 0) {
      fail(errno, "write");
    }
    written += static_cast<std::size_t>(count);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

pid_t spawn(const std::vector<std::string> &command, int input, int output,
            int errors) {
  std::vector<char *> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string &argument : command) {
    arguments.push_back(const_cast<char *>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  // Signals as in a fresh process, whatever this one does with them.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process = -1;
  const int error = posix_spawn(&process, arguments[0], &actions, &attributes,
                                arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    fail(error, command[0]);
  }
  return process;
}

// Reads both until their other ends are closed, whichever has something first:
// a program that fills one pipe while we wait for the other would never end.
void readAll(Descriptor first, std::string &firstText, Descriptor second,
             std::string &secondText) {
  std::array<char, 65536> buffer;
  const auto readSome = [&](Descriptor &from, const pollfd &state,
                            std::string &text) {
    if (state.revents == 0) {
      return;
    }
    const ssize_t count = read(from.get(), buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      from.close();
    }
  };
  while (first.isOpen() || second.isOpen()) {
    pollfd states[] = {{first.get(), POLLIN, 0}, {second.get(), POLLIN, 0}};
    if (poll(states, 2, -1) < 0 && errno != EINTR) {
      fail(errno, "poll");
    }
    readSome(first, states[0], firstText);
    readSome(second, states[1], secondText);
  }
}

int waitFor(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) {
      fail(errno, "waitpid");
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

ProcessResult runProcess(const std::vector<std::string> &command,
                         const std::string &input) {
  const Descriptor in = openInput(input);
  Pipe out, err;
  const pid_t process =
      spawn(command, in.get(), out.writer.get(), err.writer.get());
  out.writer.close();
  err.writer.close();
  ProcessResult result;
  readAll(std::move(out.reader), result.output, std::move(err.reader),
          result.errors);
  result.exitCode = waitFor(process);
  return result;
}

} // namespace support
