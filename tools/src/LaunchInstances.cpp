#include "LaunchInstances.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tools {
namespace {

// One stream of an instance, which is passed on line by line.
struct Output {
  int file = -1; // -1: at its end
  std::string tag;
  std::FILE *to = nullptr; // null: dropped
  std::string line;        // as far as it has come
};

void passOn(Output &output, std::string_view text) {
  for (char c : text) {
    output.line += c;
    if (c == '\n') {
      if (output.to != nullptr) {
        std::fputs((output.tag + output.line).c_str(), output.to);
        std::fflush(output.to);
      }
      output.line.clear();
    }
  }
}

void readSome(Output &output) {
  std::array<char, 4096> buffer{};
  const ssize_t count = read(output.file, buffer.data(), buffer.size());
  if (count > 0) {
    passOn(output, {buffer.data(), static_cast<std::size_t>(count)});
    return;
  }
  if (!output.line.empty()) {
    passOn(output, "\n");
  }
  close(output.file);
  output.file = -1;
}

[[noreturn]] void execute(const std::vector<std::string> &program,
                          const Environment &environment) {
  for (const auto &[name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char *> arguments;
  for (const std::string &word : program) {
    arguments.push_back(const_cast<char *>(word.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "poprun: cannot run '%s': %s\n", arguments[0],
               std::strerror(errno));
  _exit(127);
}

class Launcher {
public:
  Launcher(const InstancePlan &plan, const LaunchOptions &options,
           const std::vector<std::string> &program)
      : plan_(plan), options_(options), program_(program) {}

  int run() {
    for (unsigned i = 0; i < plan_.instances; ++i) {
      start(i);
    }
    while (std::any_of(outputs_.begin(), outputs_.end(),
                       [](const Output &o) { return o.file >= 0; })) {
      readOutputs();
      reap(WNOHANG);
    }
    while (!children_.empty()) {
      reap(0);
    }
    return code_;
  }

private:
  void start(unsigned instance) {
    std::array<std::array<int, 2>, 2> pipes{};
    for (auto &ends : pipes) {
      support::requireUser<poplar::poplar_error>(
          pipe2(ends.data(), O_CLOEXEC) == 0, "no pipe for instance {}: {}",
          instance, std::strerror(errno));
    }
    const pid_t child = fork();
    support::requireUser<poplar::poplar_error>(
        child >= 0, "instance {} cannot be started: {}", instance,
        std::strerror(errno));
    if (child == 0) {
      dup2(pipes[0][1], STDOUT_FILENO);
      dup2(pipes[1][1], STDERR_FILENO);
      execute(program_, environment(instance));
    }
    children_.push_back(child);
    const bool isShown = plan_.onlyOutputFrom.value_or(instance) == instance;
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      close(pipes[i][1]);
      outputs_.push_back(
          {pipes[i][0],
           fmt::format("[1,{}]<{}>:", instance, i == 0 ? "stdout" : "stderr"),
           !isShown ? nullptr
           : i == 0 ? stdout
                    : stderr,
           {}});
    }
  }

  Environment environment(unsigned instance) const {
    Environment result = environmentOf(plan_, instance);
    result.insert(result.end(), options_.shared.begin(), options_.shared.end());
    const std::string index = std::to_string(instance);
    const std::string count = std::to_string(plan_.instances);
    result.insert(result.end(), {{"OMPI_COMM_WORLD_RANK", index},
                                 {"OMPI_COMM_WORLD_SIZE", count},
                                 {"OMPI_COMM_WORLD_LOCAL_RANK", index},
                                 {"OMPI_COMM_WORLD_LOCAL_SIZE", count}});
    return result;
  }

  void readOutputs() {
    std::vector<pollfd> files;
    for (const Output &output : outputs_) {
      files.push_back({output.file, POLLIN, 0});
    }
    constexpr int milliseconds = 100; // until children are looked after again
    poll(files.data(), files.size(), milliseconds);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents != 0) {
        readSome(outputs_[i]);
      }
    }
  }

  void reap(int flags) {
    int status = 0;
    const pid_t child = waitpid(-1, &status, flags);
    if (child <= 0) {
      return;
    }
    std::erase(children_, child);
    const int code =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == 0 || code_ != 0) {
      return;
    }
    code_ = code;
    std::fprintf(stderr,
                 "poprun: process %d ended with exit code %d; the "
                 "others are ended\n",
                 child, code);
    for (const pid_t other : children_) {
      kill(other, SIGTERM);
    }
  }

  const InstancePlan &plan_;
  const LaunchOptions &options_;
  const std::vector<std::string> &program_;
  std::vector<Output> outputs_;
  std::vector<pid_t> children_;
  int code_ = 0;
};

} // namespace

int runWithoutMpi(const InstancePlan &plan, const LaunchOptions &options,
                  const std::vector<std::string> &program) {
  support::requireUser<poplar::poplar_error>(
      plan.hosts.size() == 1, "there is no mpirun on the PATH, which instances "
                              "on several hosts need");
  return Launcher(plan, options, program).run();
}

} // namespace tools
