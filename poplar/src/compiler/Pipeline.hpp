// The list of passes over the value IR, and the one runner that all of them go
// through.
#pragma once

#include "compiler/ValueIr.hpp"

#include <string>
#include <vector>

namespace poplar::compiler {

struct PipelineOptions {
  // Check every rule of the value IR after each pass.
  bool isVerified = false;
  // Passes to leave out; those that programs cannot run without stay.
  std::vector<std::string> disabled;
  // Folder for the program's text before the first and after every pass, and
  // how its files are to begin; no folder, no dump.
  std::string dumpFolder;
  std::string dumpName;

  // ASPEN_DISABLE_PASSES=name,name and ASPEN_DUMP_VALUE_IR=folder.
  static PipelineOptions fromEnvironment();
};

void runPasses(ValueProgram &program, const PipelineOptions &options);

// The names of all passes, in order.
std::vector<std::string> passNames();

} // namespace poplar::compiler
