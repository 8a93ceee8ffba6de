// Which of PopART's documented rewrites of the graph are on. Their results are
// the same with and without them; here they only have names.
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
  std::map<std::string, bool> enabled_;
  bool runtimeAsserts_ = true;
};

} // namespace popart
