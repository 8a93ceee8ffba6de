// How a shared object of the user's makes a pattern known: by a static object,
// when it is loaded.
#pragma once

#include <popart/patterns/pattern.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace popart {

struct RegisteredPattern {
  std::string name;
  bool isEnabled; // by default
  bool isMandatory;
  // Patterns may keep notes: each graph gets a new one.
  std::function<std::unique_ptr<PreAliasPattern>()> make;
};

// Of several registrations of one name the first counts.
void registerPattern(RegisteredPattern pattern);
// By name.
const std::vector<RegisteredPattern> &registeredPatterns();

template <typename PATTERN> class PatternCreator {
public:
  explicit PatternCreator(const std::string &name, bool enabledByDefault = true,
                          bool mandatory = false) {
    registerPattern({name, enabledByDefault, mandatory, make});
  }

private:
  static std::unique_ptr<PreAliasPattern> make() {
    return std::unique_ptr<PreAliasPattern>(new PATTERN());
  }
};

} // namespace popart
