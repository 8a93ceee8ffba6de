// Executables as bytes, in both directions: Writer and Reader take the same
// calls, so that one visit() for each struct says how it is stored.
#pragma once

#include "executable/RequireIntact.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace poplar::executable {

// T, const or not: what visit() takes when it reads or writes.
template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

class Writer {
public:
  static constexpr bool isReading = false;

  template <typename... Fields> void operator()(const Fields &...fields) {
    (visit(*this, fields), ...);
  }

  void raw(const void *data, std::size_t size) {
    const auto *bytes = static_cast<const std::byte *>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  // The number of items of at least `itemBytes` bytes that follow.
  void count(std::uint64_t number, std::size_t) { (*this)(number); }

  // A part with its name and length before it.
  template <typename F> void section(const std::string &name, F &&f) {
    (*this)(name);
    sized(f);
  }

  // The length of what f() writes, then that.
  template <typename F> void sized(F &&f) {
    std::uint64_t size = 0;
    (*this)(size);
    const std::size_t start = bytes_.size();
    f();
    size = bytes_.size() - start;
    std::memcpy(bytes_.data() + start - sizeof size, &size, sizeof size);
  }

  // Nodes of a reading's programs are stored by number, in the order of
  // define().
  void startNodes() { numbers_.clear(); }
  void define(const internal::ProgramPtr &node) {
    numbers_.emplace(node.get(), static_cast<std::uint32_t>(numbers_.size()));
  }
  std::uint32_t numberOf(const internal::ProgramPtr &node) const {
    return numbers_.at(node.get());
  }
  void program(const internal::ProgramPtr &node) { (*this)(numberOf(node)); }

  std::vector<std::byte> &bytes() { return bytes_; }

private:
  std::vector<std::byte> bytes_;
  std::unordered_map<const internal::ProgramNode *, std::uint32_t> numbers_;
};

class Reader {
public:
  static constexpr bool isReading = true;

  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename... Fields> void operator()(Fields &...fields) {
    (visit(*this, fields), ...);
  }

  void raw(void *data, std::size_t size) {
    requireIntact(size <= bytes_.size(), "a part of it ends {} bytes early",
                  size - bytes_.size());
    if (size > 0) {
      std::memcpy(data, bytes_.data(), size);
      bytes_ = bytes_.subspan(size);
    }
  }
  // Nothing is allocated for items that cannot be there.
  void count(std::uint64_t &number, std::size_t itemBytes) {
    (*this)(number);
    requireIntact(number <= bytes_.size() / itemBytes,
                  "it announces {} items in {} bytes", number, bytes_.size());
  }

  template <typename F> void section(const std::string &name, F &&f) {
    std::string found;
    std::uint64_t size = 0;
    (*this)(found);
    count(size, 1);
    requireIntact(found == name, "section '{}' is where '{}' belongs", found,
                  name);
    const std::span<const std::byte> after = bytes_.subspan(size);
    bytes_ = bytes_.first(size);
    f();
    requireIntact(bytes_.empty(), "section '{}' is {} bytes too long", name,
                  bytes_.size());
    bytes_ = after;
  }

  void startNodes() { nodes_.clear(); }
  void define(internal::ProgramPtr node) { nodes_.push_back(std::move(node)); }
  const internal::ProgramPtr &node(std::uint32_t number) const {
    // A node comes after its children: none can contain itself.
    requireIntact(number < nodes_.size(), "a program refers to node {} of {}",
                  number, nodes_.size());
    return nodes_[number];
  }
  void program(internal::ProgramPtr &program) {
    std::uint32_t number = 0;
    (*this)(number);
    program = node(number);
  }

  bool isAtEnd() const { return bytes_.empty(); }

private:
  std::span<const std::byte> bytes_;
  std::vector<internal::ProgramPtr> nodes_;
};

} // namespace poplar::executable
