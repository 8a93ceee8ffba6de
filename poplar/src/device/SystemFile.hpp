// Data files of chips and systems: reading them, and refusing what is wrong
// with them (docs/systems.md describes the format).
#pragma once

#include "Figures.hpp"

#include <string>
#include <string_view>

namespace poplar::internal {

// What a file says, with what it is based on.
struct Description {
  std::string source; // for messages
  std::string name;
  bool isSystem = false; // false: a chip alone
  std::string architecture;
  std::string boardType;
  std::string partition; // empty: as the name
  IpuLinkTopology topology = IpuLinkTopology::Mesh;
  IpuLinkConfiguration linkConfiguration = IpuLinkConfiguration::Default;
  bool hasGateway = true;
  FigureValues chip;   // with the connections of the chip alone
  FigureValues system; // these win
};

// Reads a built-in system or chip by its name, or a file by its path. Throws
// invalid_machine_model that names the file, the key, what was given and what
// is allowed.
Description readDescription(std::string_view nameOrFile);

} // namespace poplar::internal
