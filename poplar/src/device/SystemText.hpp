// Where the text of a system file comes from: the library, or the user.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace poplar::internal {

struct SystemText {
  std::string source;           // for messages: the path
  std::filesystem::path folder; // that names of files in it are relative to
  std::string text;
};

// Finds a built-in file by its name, or a user's by its path (whatever has a
// '/' or ends in ".json"), which may be relative to `folder`.
SystemText loadSystemText(std::string_view nameOrFile,
                          const std::filesystem::path &folder);

} // namespace poplar::internal
