#include "Cache.hpp"

#include "Files.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace popc {

namespace fs = std::filesystem;

namespace {

// Relative paths would make a cache for each working folder.
fs::path absoluteFrom(const char *variable) {
  const char *value = std::getenv(variable);
  const fs::path path = value ? value : "";
  return path.is_absolute() ? path : fs::path();
}

fs::path cacheFolder() {
  if (fs::path own = absoluteFrom("ASPEN_CACHE_DIR"); !own.empty()) {
    return own;
  }
  if (const fs::path user = absoluteFrom("XDG_CACHE_HOME"); !user.empty()) {
    return user / "aspen";
  }
  const fs::path home = absoluteFrom("HOME");
  return home.empty() ? home : home / ".cache/aspen";
}

} // namespace

Cache::Cache() : folder_(cacheFolder()) {
  if (!folder_.empty()) {
    folder_ /= "codelets";
  }
}

fs::path Cache::fileOf(const std::string &key) const {
  return folder_ / (key + ".gp");
}

std::optional<poplar::internal::CodeletUnit>
Cache::find(const std::string &key) const {
  const auto bytes = folder_.empty() ? std::nullopt : readFile(fileOf(key));
  if (!bytes) {
    return std::nullopt;
  }
  try {
    auto units = poplar::internal::decodeCodelets(*bytes);
    if (units.size() == 1) {
      return std::move(units[0]);
    }
  } catch (const poplar::internal::CodeletFormatError &) {
    // Compiled again and replaced.
  }
  return std::nullopt;
}

// Other processes see the whole file or none.
void Cache::add(const std::string &key,
                const poplar::internal::CodeletUnit &unit) const {
  if (folder_.empty()) {
    return;
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path temporary = folder_ / fmt::format("{}.{}", key, getpid());
  if (writeFile(temporary, poplar::internal::encodeCodelets({unit}))) {
    fs::rename(temporary, fileOf(key), error);
  }
  fs::remove(temporary, error); // where it is there still
}

} // namespace popc
