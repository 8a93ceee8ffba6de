// Options by name: strings to strings, in the order of their names.
#pragma once

#include <poplar/StringRef.hpp>

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

namespace poplar {

class OptionFlags {
public:
  using OptionFlag = std::pair<const std::string, std::string>;
  using iterator = std::map<std::string, std::string>::const_iterator;
  using const_iterator = iterator;

  OptionFlags() = default;
  OptionFlags(std::initializer_list<OptionFlag> flags);

  // Sets a flag, or changes the one of that name.
  void set(StringRef name, StringRef value);
  void set(std::initializer_list<OptionFlag> flags);

  // Throws invalid_option when there is no such flag.
  StringRef at(StringRef name) const;
  iterator find(StringRef name) const;
  std::size_t size() const { return flags_.size(); }
  void clear() { flags_.clear(); }
  iterator begin() const { return flags_.begin(); }
  iterator end() const { return flags_.end(); }

  friend bool operator==(const OptionFlags &a, const OptionFlags &b) {
    return a.flags_ == b.flags_;
  }
  friend bool operator!=(const OptionFlags &a, const OptionFlags &b) {
    return !(a == b);
  }

private:
  std::map<std::string, std::string> flags_;
};

// Adds the flags of a JSON object of strings, such as {"colours":"true"}; one
// that is already there changes its value. Throws parse_error, and changes
// nothing, if `text` is anything else.
void readJSON(StringRef text, OptionFlags &flags);
// The same with the value of an environment variable; nothing if it is not set
// or empty.
void readJSONFromEnv(StringRef variable, OptionFlags &flags);

} // namespace poplar
