// clang++ as popc uses it: finding it, and its flags for each step from a
// source to a shared object.
#pragma once

#include "Options.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace popc {

struct Source {
  std::string path; // "-" is standard input
  std::string text; // of standard input
  bool isC = false;
};

// The user's code is at fault; the message has the compiler's own lines.
class CompileError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

class NoCompilerError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

class Compiler {
public:
  // Looks for clang++ on PATH and for the SDK's headers next to this program.
  // Throws NoCompilerError.
  explicit Compiler(const Options &options);

  // Changes when clang++ does, or popc.
  std::string identity() const;

  // The source with everything included and expanded, and marks that say which
  // line comes from where. Throws CompileError.
  std::string preprocess(const Source &source) const;

  // What the compiler says about the source as the user wrote it. Throws
  // CompileError if that includes an error.
  std::string check(const Source &source) const;

  // The flags for reading a preprocessed source with libclang.
  std::vector<std::string> reflectionFlags(bool isC) const;

  // Compiles a preprocessed source into an object file, or into assembly.
  enum class CodeKind { Object, Assembly };
  void compile(const std::filesystem::path &source, bool isC, CodeKind kind,
               const std::filesystem::path &output) const;

  // Makes object files a shared object.
  void link(const std::vector<std::filesystem::path> &objects,
            const std::filesystem::path &output) const;

private:
  std::vector<std::string> languageFlags(bool isC) const;
  std::vector<std::string> sourceFlags(const Source &source) const;

  std::string clang_;
  std::string includeFolder_;
  std::vector<std::string> userFlags_;
};

} // namespace popc
