// Items by a number, those of each number side by side in the order in which
// they came: many short lists in two arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace poplar::compiler {

template <typename Item> class Grouped {
public:
  void add(std::uint32_t number, const Item &item) {
    collected_.emplace_back(number, item);
  }

  // Makes the groups: an item goes to that of groupOf(its number).
  template <typename GroupOf>
  void sort(std::size_t groups, const GroupOf &groupOf) {
    first_.assign(groups + 1, 0);
    for (auto &[number, item] : collected_) {
      number = groupOf(number);
      ++first_[number + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    items_.resize(collected_.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const auto &[group, item] : collected_) {
      items_[next[group]++] = item;
    }
    collected_ = {};
  }
  void sort(std::size_t groups) {
    sort(groups, [](std::uint32_t number) { return number; });
  }

  std::span<const Item> operator[](std::uint32_t group) const {
    return {items_.data() + first_[group], first_[group + 1] - first_[group]};
  }
  std::span<Item> operator[](std::uint32_t group) {
    return {items_.data() + first_[group], first_[group + 1] - first_[group]};
  }

private:
  std::vector<std::pair<std::uint32_t, Item>> collected_;
  std::vector<Item> items_;        // group by group
  std::vector<std::size_t> first_; // of each group, and the end
};

} // namespace poplar::compiler
