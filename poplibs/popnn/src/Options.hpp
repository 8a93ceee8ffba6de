// The options of popnn's functions: which there are, and what they may be.
#pragma once

#include <poplar/OptionFlags.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace popnn::internal {

enum class OptionKind { Bool, Choice, Number, Text };

struct OptionRule {
  std::string_view name;
  OptionKind kind;
  std::initializer_list<std::string_view> choices = {};
};

// The flags, checked: throws poplar::invalid_option for a name that `rules`
// does not have and for a value that its rule does not take.
class Options {
public:
  Options(const poplar::OptionFlags &flags,
          std::initializer_list<OptionRule> rules);

  bool getBool(const std::string &name, bool otherwise) const;
  std::string getText(const std::string &name,
                      const std::string &otherwise) const;

private:
  const poplar::OptionFlags &flags_;
};

} // namespace popnn::internal
