// Tests with a registry of their own, and processes that attach in it.
#pragma once

#include "Environment.hpp"

#include <poplar/DeviceManager.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace poplar::test {

// A folder of its own, and the registry in it.
class OwnRegistry : public testing::Test {
protected:
  static std::filesystem::path makeFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "registry-XXXXXX").string();
    return mkdtemp(name.data());
  }
  ~OwnRegistry() override { std::filesystem::remove_all(folder); }

  // The file of the registry, once there is one.
  std::filesystem::path file() const {
    return *std::filesystem::directory_iterator(folder);
  }

  const std::filesystem::path folder = makeFolder();
  const Environment registry{"ASPEN_REGISTRY", folder.string()};
  const DeviceManager manager = {};
};

// Runs in a forked child; what it returns is its exit code.
template <typename Function> int inChild(Function function) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(function());
    } catch (...) {
      _exit(100);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

inline bool canAttach(unsigned id) {
  return DeviceManager().getDevice(id).attach();
}

// Whether another process, which shares nothing but the file, could attach.
inline bool canAnotherAttach(unsigned id) {
  return inChild([id] { return canAttach(id) ? 0 : 1; }) == 0;
}

} // namespace poplar::test
