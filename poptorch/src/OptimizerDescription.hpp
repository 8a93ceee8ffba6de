// An optimiser as Python describes it: PopTorch's names and values, per group
// of parameters, ready to become one of PopART's.
#pragma once

#include <popart/optimizer.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace poptorch {

struct OptimizerDescription {
  std::string type; // "SGD", "Adam", "AdamW", "RMSprop", "RMSpropCentered",
                    // "LAMB", "LAMBNoBias"
  bool useCombinedAccumulator = false;
  bool useTfVariant = false;
  std::string accumType = "FLOAT";
  std::string velocityType = "FLOAT"; // first-order momentum
  std::string secondOrderType = "FLOAT";
  std::optional<float> maxGradientNorm; // over all weights
  // PopART's names to (value, is constant).
  popart::Optimizer::Values defaults;
  struct Group {
    std::vector<std::string> parameters; // names
    popart::Optimizer::Values values;
  };
  std::vector<Group> groups;
};

std::shared_ptr<popart::Optimizer>
makeOptimizer(const OptimizerDescription &description);

} // namespace poptorch
