#include "System.hpp"

#include "BuiltInSystems.hpp"
#include "SystemFile.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace poplar::internal {
namespace {

constexpr const char *defaultSystem = "bow-pod16";
// What serialised targets have room for, and planners can walk over.
constexpr std::uint64_t mostMemoryElements = 1024;

template <typename... Args>
void require(bool condition, const Description &file,
             fmt::format_string<Args...> problem, Args &&...args) {
  support::requireUser<invalid_machine_model>(
      condition, "[poplar] the system file {}: {}", file.source,
      fmt::format(problem, std::forward<Args>(args)...));
}

// All figures: those of the chip, and over them those of the system.
FigureValues mergedFigures(const Description &file) {
  FigureValues values = file.system;
  values.insert(file.chip.begin(), file.chip.end());
  for (const Figure &figure : figures()) {
    const bool isNeeded = figure.part != FigurePart::System || file.isSystem;
    require(!isNeeded || values.contains(figure.name), file,
            "'{}' is missing; give it, or a \"based on\"", figure.name);
  }
  return values;
}

// What no single figure shows.
void requireConsistent(const Description &file, const FigureValues &values) {
  const auto value = [&](std::string_view name) {
    return values.find(name)->second;
  };
  const double memory = value("memory per tile");
  const double element = value("memory element");
  require(value("memory elements for code") * element < memory, file,
          "'memory elements for code' is {} of {} B each; less than the {} B "
          "of 'memory per tile' are allowed",
          value("memory elements for code"), element, memory);
  require(memory / element <= mostMemoryElements, file,
          "'memory per tile' is {} B in elements of {} B; at most {} elements "
          "are allowed",
          memory, element, mostMemoryElements);
  require(value("sync of nearest tile") <= value("sync of furthest tile"), file,
          "'sync of nearest tile' is {} cycles; at most the {} of 'sync of "
          "furthest tile' are allowed",
          value("sync of nearest tile"), value("sync of furthest tile"));
  require(!file.architecture.empty(), file,
          "'architecture' of the chip is missing; give it, or a \"based on\"");
  if (file.isSystem) {
    const auto ipus = static_cast<unsigned>(value("IPUs"));
    require(std::has_single_bit(ipus), file,
            "'IPUs' is {}; allowed: a power of two, 1 to 4096", ipus);
    require(!file.boardType.empty(), file,
            "'board type' is missing; give it, or a \"based on\"");
  }
}

} // namespace

System findSystem(std::string_view nameOrFile) {
  const Description file = readDescription(nameOrFile);
  const FigureValues values = mergedFigures(file);
  requireConsistent(file, values);
  System system;
  system.name = file.name;
  system.partition = file.partition.empty() ? file.name : file.partition;
  system.boardType = file.isSystem ? file.boardType : "N/A";
  TargetData &target = system.target;
  target.kind = TargetKind::Ipu;
  target.arch = file.architecture;
  setFigures(values, target);
  target.ipuLinkTopology = file.topology;
  target.ipuLinkConfiguration = file.linkConfiguration;
  target.hasGateway = file.hasGateway;
  if (file.isSystem) {
    target.system = file.name;
    target.ipuLinkDomainSize =
        std::min(target.ipuLinkDomainSize, target.numIPUs);
  }
  return system;
}

std::vector<std::string> systemNames() {
  std::vector<std::string> names;
  for (const BuiltInSystem &system : builtInSystems()) {
    names.emplace_back(system.name);
  }
  return names;
}

System emulatedSystem() {
  const char *name = std::getenv("ASPEN_SYSTEM");
  const std::string chosen = name == nullptr ? "" : name;
  if (chosen == "none") {
    System none;
    none.name = chosen;
    none.partition = chosen;
    none.boardType = "N/A";
    none.target.kind = TargetKind::Ipu;
    none.target.system = chosen;
    none.target.numIPUs = 0;
    return none;
  }
  if (chosen.empty()) {
    return findSystem(defaultSystem);
  }
  try {
    return findSystem(chosen);
  } catch (const invalid_machine_model &error) {
    throw invalid_machine_model(
        fmt::format("{} (set by ASPEN_SYSTEM)", error.what()));
  }
}

} // namespace poplar::internal
