// Runs another program and waits for it, without a shell: its arguments are
// passed on as they are.
#pragma once

#include <string>
#include <vector>

namespace support {

struct ProcessResult {
  // What the program returned; 128 + n if signal n ended it.
  int exitCode = 0;
  std::string output; // standard output
  std::string errors; // standard error
};

// `command` holds the path of the program and its arguments; `input` is what it
// reads on standard input. Throws std::system_error if it cannot be started.
ProcessResult runProcess(const std::vector<std::string> &command,
                         const std::string &input = "");

} // namespace support
