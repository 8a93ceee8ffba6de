// How a host serves a running program. Aspen's host is the device too: options
// are checked and kept, and change nothing.
#pragma once

#include <poplar/OptionFlags.hpp>

namespace poplar {

class RuntimeOptions {
public:
  // With those of the environment variable POPLAR_RUNTIME_OPTIONS (a JSON
  // object of strings) on top. Throws invalid_option for a name that does not
  // exist or a value that its option does not take.
  RuntimeOptions(const OptionFlags &options = {});

  // What was given; the rest has its default.
  const OptionFlags &options() const { return options_; }

private:
  OptionFlags options_;
};

} // namespace poplar
