// Messages with "{}" in the place of values, for headers that are C++14.
#pragma once

#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace popart {
namespace internal {

// Lists are printed with what is in them. Declared first, as they may hold
// each other.
template <typename T> void print(std::ostream &out, const T &value);
template <typename A, typename B>
void print(std::ostream &out, const std::pair<A, B> &value);
template <typename T>
void print(std::ostream &out, const std::vector<T> &values);
template <typename T> void print(std::ostream &out, const std::set<T> &values);
template <typename K, typename V>
void print(std::ostream &out, const std::map<K, V> &values);

template <typename List>
void printAll(std::ostream &out, const List &values, const char *brackets) {
  out << brackets[0];
  for (auto it = values.begin(); it != values.end(); ++it) {
    out << (it == values.begin() ? "" : " ");
    print(out, static_cast<const typename List::value_type &>(*it));
  }
  out << brackets[1];
}

template <typename T> void print(std::ostream &out, const T &value) {
  out << value;
}
template <typename A, typename B>
void print(std::ostream &out, const std::pair<A, B> &value) {
  out << '(';
  print(out, value.first);
  out << ", ";
  print(out, value.second);
  out << ')';
}
template <typename T>
void print(std::ostream &out, const std::vector<T> &values) {
  printAll(out, values, "[]");
}
template <typename T> void print(std::ostream &out, const std::set<T> &values) {
  printAll(out, values, "{}");
}
template <typename K, typename V>
void print(std::ostream &out, const std::map<K, V> &values) {
  printAll(out, values, "{}");
}

inline void formatRest(std::ostream &out, const std::string &text,
                       std::size_t from) {
  out << text.substr(from);
}

template <typename First, typename... Rest>
void formatRest(std::ostream &out, const std::string &text, std::size_t from,
                const First &first, const Rest &...rest) {
  std::size_t open = text.find('{', from);
  std::size_t close = text.find('}', open);
  if (close == std::string::npos) {
    out << text.substr(from);
    return;
  }
  out << text.substr(from, open - from);
  print(out, first);
  formatRest(out, text, close + 1, rest...);
}

} // namespace internal

// What is between the braces is ignored: every value is printed in full.
template <typename... Args>
std::string formatText(const std::string &text, const Args &...args) {
  std::ostringstream out;
  internal::formatRest(out, text, 0, args...);
  return out.str();
}

} // namespace popart
