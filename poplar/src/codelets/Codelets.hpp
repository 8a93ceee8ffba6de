// Codelets: C++ sources of vertices, compiled by popc into .gp files, and those
// files loaded into this process.
#pragma once

#include <poplar/internal/VertexType.hpp>

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace poplar::codelets {

using CodeletFilePtr = std::shared_ptr<const internal::CodeletFile>;

// Compiles sources (or links .gp files with them) for a target, as `popc` does,
// unless the cache has the result. Throws file_load_error for a file that is
// not there and graph_program_compilation_error, with the compiler's own lines,
// for one that does not compile; these lines also go to `output`.
CodeletFilePtr compileFiles(const std::vector<std::string> &paths,
                            const std::string &flags, const std::string &target,
                            std::ostream &output);

// The same for a source that is not in a file. `extension` says its language:
// ".cpp", ".c" and so on.
CodeletFilePtr compileSource(const std::string &source,
                             const std::string &extension,
                             const std::string &flags,
                             const std::string &target, std::ostream &output);

// Loads a .gp file, or one that an executable kept. Throws file_load_error and,
// for anything that is not a whole, undamaged file for this kind of machine,
// graph_object_load_error.
CodeletFilePtr loadFile(const std::string &path);
CodeletFilePtr loadBytes(const std::string &name, std::vector<std::byte> bytes);

// While one lives, printf of codelets that this thread runs writes to the
// stream.
class PrintScope {
public:
  explicit PrintScope(std::ostream &stream);
  ~PrintScope();
  PrintScope(const PrintScope &) = delete;
  PrintScope &operator=(const PrintScope &) = delete;

private:
  std::ostream *outer_;
};

} // namespace poplar::codelets
