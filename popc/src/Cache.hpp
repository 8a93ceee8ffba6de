// Compiled codelets by the content that they were made from, in files that
// processes share. A cache that cannot be used only costs time.
#pragma once

#include <poplar/internal/CodeletFormat.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace popc {

class Cache {
public:
  // In ASPEN_CACHE_DIR, XDG_CACHE_HOME/aspen or ~/.cache/aspen.
  Cache();

  // Nothing if there is no such entry or it is damaged.
  std::optional<poplar::internal::CodeletUnit>
  find(const std::string &key) const;

  void add(const std::string &key,
           const poplar::internal::CodeletUnit &unit) const;

private:
  std::filesystem::path fileOf(const std::string &key) const;

  std::filesystem::path folder_; // empty: there is none
};

} // namespace popc
