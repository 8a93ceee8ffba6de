// Where an operator writes down what its results depend on besides its inputs,
// for dumps and to tell programs apart in caches.
#pragma once

#include <popart/optional.hpp>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace popart {

class OpSerialiserBase {
public:
  virtual ~OpSerialiserBase() = default;

  template <typename T>
  void appendAttribute(const std::string &name, const T &value) {
    std::ostringstream text;
    text.precision(9); // a float's digits
    text << value;
    append(name, text.str());
  }
  template <typename T>
  void appendAttribute(const std::string &name, const std::vector<T> &values) {
    std::ostringstream text;
    text.precision(9);
    text << '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      text << (i == 0 ? "" : ",") << values[i];
    }
    text << ']';
    append(name, text.str());
  }
  template <typename T>
  void appendAttribute(const std::string &name, const optional<T> &value) {
    if (value) {
      appendAttribute(name, *value);
    } else {
      append(name, "");
    }
  }
  template <typename K, typename V>
  void appendAttribute(const std::string &name, const std::map<K, V> &values) {
    std::ostringstream text;
    text.precision(9);
    text << '{';
    for (auto it = values.begin(); it != values.end(); ++it) {
      text << (it == values.begin() ? "" : ",") << it->first << ':'
           << it->second;
    }
    text << '}';
    append(name, text.str());
  }

private:
  // The last value of a name counts.
  virtual void append(const std::string &name, const std::string &value) = 0;
};

} // namespace popart
