// Which of PopART's documented rewrites of the graph are on, and which of those
// that shared objects bring. docs/compatibility.md says which change anything.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace popart {

enum class PatternsLevel { NoPatterns = 0, Minimal, Default, All };

class Patterns {
public:
  Patterns() : Patterns(PatternsLevel::Default) {}
  explicit Patterns(PatternsLevel level);
  // These and the mandatory ones.
  explicit Patterns(const std::vector<std::string> &patterns);
  static Patterns create(const std::vector<std::string> &patterns) {
    return Patterns(patterns);
  }

  // Throws popart::error for unknown names and when a mandatory pattern is
  // turned off.
  Patterns &enablePattern(const std::string &name, bool enable);
  bool isPatternEnabled(const std::string &name) const;
  Patterns &enableRuntimeAsserts(bool enable) {
    runtimeAsserts_ = enable;
    return *this;
  }

  // Throws popart::error if a mandatory pattern is off and asserts are on.
  void ensureAllMandatoryPatternsAreEnabled() const;
  static std::vector<std::string> getAllPreAliasPatternNames();
  static bool isMandatory(const std::string &name);

private:
  PatternsLevel level_;
  std::map<std::string, bool> chosen_; // one by one
  bool runtimeAsserts_ = true;
};

} // namespace popart

#include <popart/patterns/patterncreator.hpp>
