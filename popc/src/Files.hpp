// Whole files, and a folder for those between two steps.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace popc {

// Nothing if it cannot be read; a folder cannot.
std::optional<std::string> readFile(const std::filesystem::path &path);

// False if it could not be written in full.
bool writeFile(const std::filesystem::path &path, std::string_view bytes);

// A new folder that is removed with its content.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace popc
