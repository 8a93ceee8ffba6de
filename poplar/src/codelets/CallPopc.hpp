// Runs popc, which lies in the SDK beside this library.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace poplar::codelets {

// The bytes of the codelet file that popc makes of the inputs; `source` is what
// the input "-" stands for. What the compiler says goes to `output`. Throws
// graph_program_compilation_error and no_environment.
std::string callPopc(const std::vector<std::string> &inputs,
                     const std::vector<std::string> &flags,
                     const std::string &source, std::ostream &output);

// A string of flags as a shell would split it: at spaces, but not in quotes or
// after a backslash.
std::vector<std::string> splitFlags(const std::string &flags);

} // namespace poplar::codelets
