// Where in a model an operation is: the names around it.
#pragma once

#include <popart/names.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace popart {

class Scope {
public:
  bool empty() const { return names_.empty(); }
  void pop() { names_.pop_back(); }
  friend Scope operator/(const Scope &outer, const std::string &name) {
    Scope scope = outer;
    scope.names_.push_back(name);
    return scope;
  }
  // "outer/inner"
  std::string str() const {
    std::string joined;
    for (const std::string &name : names_) {
      joined += (joined.empty() ? "" : "/") + name;
    }
    return joined;
  }
  friend std::ostream &operator<<(std::ostream &out, const Scope &scope) {
    return out << scope.str();
  }
  friend bool operator==(const Scope &a, const Scope &b) {
    return a.names_ == b.names_;
  }

private:
  std::vector<std::string> names_;
};

} // namespace popart
