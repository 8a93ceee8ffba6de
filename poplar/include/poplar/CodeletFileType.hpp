// The languages that codelets may be written in.
#pragma once

#include <string>

namespace poplar {

enum class CodeletFileType {
  PreprocessedAsmSource,
  AsmSource,
  CSource,
  CppSource,
  IrSource,
  Object, // a .gp file that popc wrote
  Auto,   // by the file's extension
};

// Throws poplar_error for an extension that no language has.
CodeletFileType getCodeletFileType(const char *path);
// With the dot: ".cpp". Throws poplar_error for Auto.
std::string getExtensionFromFileType(CodeletFileType type);
// How a compiler is told of the language: "-x c++".
std::string getLanguageOption(CodeletFileType type);

} // namespace poplar
