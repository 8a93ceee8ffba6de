#include "codelets/Codelets.hpp"

#include "codelets/CallPopc.hpp"
#include "codelets/LoadCodelets.hpp"

#include <poplar/exceptions.hpp>

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>

namespace poplar::codelets {

namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error)) {
    throw file_load_error(path);
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> flagsFor(const std::string &flags,
                                  const std::string &target) {
  std::vector<std::string> parts = splitFlags(flags);
  if (!target.empty()) {
    parts.push_back("--target=" + target);
  }
  return parts;
}

} // namespace

CodeletFilePtr compileFiles(const std::vector<std::string> &paths,
                            const std::string &flags, const std::string &target,
                            std::ostream &output) {
  for (const std::string &path : paths) {
    if (!std::ifstream(path)) {
      throw file_load_error(path);
    }
  }
  return loadCodelets(fmt::format("{}", fmt::join(paths, " ")),
                      callPopc(paths, flagsFor(flags, target), "", output));
}

CodeletFilePtr compileSource(const std::string &source,
                             const std::string &extension,
                             const std::string &flags,
                             const std::string &target, std::ostream &output) {
  std::vector<std::string> parts = flagsFor(flags, target);
  parts.insert(parts.end(), {"-x", extension == ".c" ? "c" : "c++"});
  return loadCodelets("<source>", callPopc({"-"}, parts, source, output));
}

CodeletFilePtr loadFile(const std::string &path) {
  return loadCodelets(path, readFile(path));
}

CodeletFilePtr loadBytes(const std::string &name,
                         std::vector<std::byte> bytes) {
  return loadCodelets(
      name, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

} // namespace poplar::codelets
