// Attributes by name: one map per ONNX attribute type.
#include <popart/attributes.hpp>

#include <popart/error.hpp>

#include <fmt/format.h>

#include <functional>
#include <sstream>
#include <string_view>
#include <utility>

namespace popart {
namespace {

template <typename T>
const T *findIn(const std::map<std::string, T> &values,
                const std::string &name) {
  auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

// Numbers with all their digits: caches tell programs apart by this text.
template <typename T> std::string listText(const std::vector<T> &list) {
  return fmt::format("[{}]", fmt::join(list, ","));
}

} // namespace

template <>
const Attributes::Int *Attributes::find(const std::string &name) const {
  return findIn(ints_, name);
}

template <>
const Attributes::Float *Attributes::find(const std::string &name) const {
  return findIn(floats_, name);
}

template <>
const Attributes::String *Attributes::find(const std::string &name) const {
  return findIn(strings_, name);
}

template <>
const Attributes::Ints *Attributes::find(const std::string &name) const {
  return findIn(intLists_, name);
}

template <>
const Attributes::Floats *Attributes::find(const std::string &name) const {
  return findIn(floatLists_, name);
}

template <>
const Attributes::Strings *Attributes::find(const std::string &name) const {
  return findIn(stringLists_, name);
}

template <>
const Attributes::Graph *Attributes::find(const std::string &name) const {
  return findIn(graphs_, name);
}

void Attributes::throwMissing(const std::string &name) {
  throw error("No attribute value found for attribute '" + name + "'");
}

Attributes &Attributes::set(const std::string &name, Int value) {
  ints_[name] = value;
  return *this;
}

Attributes &Attributes::set(const std::string &name, Float value) {
  floats_[name] = value;
  return *this;
}

Attributes &Attributes::set(const std::string &name, String value) {
  strings_[name] = std::move(value);
  return *this;
}

Attributes &Attributes::set(const std::string &name, Ints value) {
  intLists_[name] = std::move(value);
  return *this;
}

Attributes &Attributes::set(const std::string &name, Floats value) {
  floatLists_[name] = std::move(value);
  return *this;
}

Attributes &Attributes::set(const std::string &name, Strings value) {
  stringLists_[name] = std::move(value);
  return *this;
}

Attributes &Attributes::set(const std::string &name, Tensor value) {
  tensors_[name] = std::move(value);
  return *this;
}

Attributes &Attributes::set(const std::string &name, Graph value) {
  graphs_[name] = std::move(value);
  return *this;
}

bool Attributes::hasAttribute(const std::string &name) const {
  return ints_.count(name) > 0 || floats_.count(name) > 0 ||
         strings_.count(name) > 0 || intLists_.count(name) > 0 ||
         floatLists_.count(name) > 0 || stringLists_.count(name) > 0 ||
         tensors_.count(name) > 0 || graphs_.count(name) > 0;
}

Attributes::Int Attributes::getInt(const std::string &name,
                                   Int fallback) const {
  return getAttribute<Int>(name, fallback);
}

Attributes::Float Attributes::getFloat(const std::string &name,
                                       Float fallback) const {
  return getAttribute<Float>(name, fallback);
}

Attributes::String Attributes::getString(const std::string &name,
                                         const String &fallback) const {
  return getAttribute<String>(name, fallback);
}

Attributes::Ints Attributes::getInts(const std::string &name,
                                     const Ints &fallback) const {
  return getAttribute<Ints>(name, fallback);
}

Attributes::Floats Attributes::getFloats(const std::string &name,
                                         const Floats &fallback) const {
  return getAttribute<Floats>(name, fallback);
}

Attributes::Strings Attributes::getStrings(const std::string &name,
                                           const Strings &fallback) const {
  return getAttribute<Strings>(name, fallback);
}

const Attributes::Tensor *
Attributes::findTensor(const std::string &name) const {
  return findIn(tensors_, name);
}

namespace {

template <typename Map>
void addNames(const Map &map, std::vector<std::string> &names) {
  for (const auto &entry : map) {
    names.push_back(entry.first);
  }
}

} // namespace

std::vector<std::string> Attributes::getNames() const {
  std::vector<std::string> names;
  addNames(ints_, names);
  addNames(floats_, names);
  addNames(strings_, names);
  addNames(intLists_, names);
  addNames(floatLists_, names);
  addNames(stringLists_, names);
  addNames(tensors_, names);
  addNames(graphs_, names);
  return names;
}

void Attributes::insert(const Attributes &others) {
  ints_.insert(others.ints_.begin(), others.ints_.end());
  floats_.insert(others.floats_.begin(), others.floats_.end());
  strings_.insert(others.strings_.begin(), others.strings_.end());
  intLists_.insert(others.intLists_.begin(), others.intLists_.end());
  floatLists_.insert(others.floatLists_.begin(), others.floatLists_.end());
  stringLists_.insert(others.stringLists_.begin(), others.stringLists_.end());
  tensors_.insert(others.tensors_.begin(), others.tensors_.end());
  graphs_.insert(others.graphs_.begin(), others.graphs_.end());
}

void Attributes::erase(const std::string &name) {
  ints_.erase(name);
  floats_.erase(name);
  strings_.erase(name);
  intLists_.erase(name);
  floatLists_.erase(name);
  stringLists_.erase(name);
  tensors_.erase(name);
  graphs_.erase(name);
}

std::vector<std::pair<std::string, std::string>> Attributes::texts() const {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto &[name, value] : ints_) {
    texts.emplace_back(name, std::to_string(value));
  }
  for (const auto &[name, value] : floats_) {
    texts.emplace_back(name, fmt::format("{}", value));
  }
  texts.insert(texts.end(), strings_.begin(), strings_.end());
  for (const auto &[name, value] : intLists_) {
    texts.emplace_back(name, listText(value));
  }
  for (const auto &[name, value] : floatLists_) {
    texts.emplace_back(name, listText(value));
  }
  for (const auto &[name, value] : stringLists_) {
    texts.emplace_back(name, listText(value));
  }
  for (const auto &[name, value] : tensors_) {
    std::size_t hash =
        std::hash<std::string_view>()({value.data.data(), value.data.size()});
    texts.emplace_back(name, fmt::format("{}{}#{:x}", value.info.data_type(),
                                         listText(value.info.shape()), hash));
  }
  for (const auto &[name, value] : graphs_) {
    texts.emplace_back(name, "graph " + value.id);
  }
  return texts;
}

std::string Attributes::str() const {
  std::string all;
  for (const auto &[name, text] : texts()) {
    const char *quote = strings_.count(name) > 0 ? "\"" : "";
    all += fmt::format("{}{}={}{}{}", all.empty() ? "" : ", ", name, quote,
                       text, quote);
  }
  return all;
}

} // namespace popart
