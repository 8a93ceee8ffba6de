#include "SystemText.hpp"

#include "BuiltInSystems.hpp"
#include "NearestName.hpp"
#include "System.hpp"

#include <fmt/format.h>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <fstream>
#include <vector>

namespace poplar::internal {
namespace {

namespace fs = std::filesystem;

// A file with every figure has 6 KB.
constexpr std::uintmax_t largestFile = 1 << 20;

bool isPath(std::string_view name) {
  return name.find('/') != name.npos || name.ends_with(".json");
}

SystemText loadFile(const fs::path &path) {
  std::error_code error;
  const bool isFile = fs::is_regular_file(path, error);
  support::requireUser<invalid_machine_model>(
      isFile, "[poplar] the system file {} {}", path.string(),
      fs::exists(path, error) ? "is not a regular file" : "does not exist");
  const std::uintmax_t size = fs::file_size(path, error);
  support::requireUser<invalid_machine_model>(
      !error && size <= largestFile,
      "[poplar] the system file {} has {} bytes; at most {} are allowed",
      path.string(), size, largestFile);
  std::string text(size, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(size));
  support::requireUser<invalid_machine_model>(
      stream.good(), "[poplar] the system file {} cannot be read",
      path.string());
  return {path.string(), path.parent_path(), std::move(text)};
}

} // namespace

SystemText loadSystemText(std::string_view nameOrFile, const fs::path &folder) {
  if (isPath(nameOrFile)) {
    return loadFile(folder / nameOrFile);
  }
  const auto systems = builtInSystems();
  const auto found =
      std::find_if(systems.begin(), systems.end(), [&](const auto &system) {
        return system.name == nameOrFile;
      });
  if (found == systems.end()) {
    const std::vector<std::string> names = systemNames();
    throw invalid_machine_model(fmt::format(
        "[poplar] the system '{}' given; allowed: {}, or the path of a file, "
        "with a '/' or with .json at the end{}",
        nameOrFile, fmt::join(names, ", "), suggestName(nameOrFile, names)));
  }
  return {fmt::format("{}.json of Aspen", found->name),
          {},
          std::string(found->text)};
}

} // namespace poplar::internal
