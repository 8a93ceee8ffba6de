// The systems that targets are made of: chips, and machines of many of them,
// read from data files (docs/systems.md).
#pragma once

#include <poplar/internal/TargetData.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace poplar::internal {

struct System {
  std::string name;      // "bow-pod16"
  std::string partition; // as gc-monitor names it
  std::string boardType; // "M2000", "C2", "C600"
  // All its IPUs, as hardware. No IPUs: a machine that has none.
  TargetData target;
};

// A system or architecture by its name, or by the path of a file that describes
// one (whatever has a '/' or ends in ".json"). Throws invalid_machine_model
// that names what was given, what is wrong with it and what is allowed.
System findSystem(std::string_view nameOrFile);

// The names that findSystem() takes, in the order of the documents.
std::vector<std::string> systemNames();

// The system that this process finds its devices in: that of the environment
// variable ASPEN_SYSTEM, read at each call; "none" has no IPUs; unset: 16 Bow
// IPUs.
System emulatedSystem();

} // namespace poplar::internal
