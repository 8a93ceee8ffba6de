// How a shared object of the user's makes a pattern known: by a static object,
// when it is loaded.
#pragma once

#include <popart/patterns/pattern.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace popart {

struct RegisteredPattern {
  std::string name;
  bool isEnabled; // by default
  bool isMandatory;
  std::shared_ptr<const PreAliasPattern> pattern;
};

// A pattern of a name that was registered before is replaced.
void registerPattern(RegisteredPattern pattern);
const std::vector<RegisteredPattern> &registeredPatterns();

template <typename PATTERN> class PatternCreator {
public:
  explicit PatternCreator(const std::string &name, bool enabledByDefault = true,
                          bool mandatory = false) {
    registerPattern(
        {name, enabledByDefault, mandatory, std::make_shared<const PATTERN>()});
  }
};

} // namespace popart
