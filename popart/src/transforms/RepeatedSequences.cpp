// Suffixes in order, and how much neighbours have in common: equal stretches
// begin suffixes that lie next to each other.
#include <transforms/RepeatedSequences.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace popart {
namespace {

using Indices = std::vector<std::size_t>;

// Begins of suffixes in their order, by the first 1, 2, 4, ... numbers.
Indices sortSuffixes(const std::vector<int> &text) {
  const std::size_t size = text.size();
  Indices order(size);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::pair<int, int>> keys(size);
  std::vector<int> ranks = text;
  for (std::size_t step = 0;; step = step == 0 ? 1 : 2 * step) {
    for (std::size_t i = 0; i < size; ++i) {
      bool isWhole = step > 0 && i + step < size;
      keys[i] = {ranks[i], isWhole ? ranks[i + step] : -1};
    }
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    int rank = 0;
    for (std::size_t i = 0; i < size; ++i) {
      rank += i > 0 && keys[order[i - 1]] < keys[order[i]] ? 1 : 0;
      ranks[order[i]] = rank;
    }
    if (size == 0 || static_cast<std::size_t>(rank) + 1 == size) {
      return order;
    }
  }
}

// How many numbers each suffix, in their order, shares with the one before it
// (Kasai's algorithm: the next in the text shares at most one less).
Indices commonPrefixes(const std::vector<int> &text, const Indices &order) {
  Indices place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
  }
  Indices common(order.size(), 0);
  std::size_t length = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (place[i] == 0) {
      length = 0;
      continue;
    }
    std::size_t other = order[place[i] - 1];
    while (std::max(i, other) + length < text.size() &&
           text[i + length] == text[other + length]) {
      ++length;
    }
    common[place[i]] = length;
    length -= length > 0 ? 1 : 0;
  }
  return common;
}

} // namespace

std::vector<RepeatedSequence>
findRepeatedSequences(const std::vector<int> &text) {
  Indices order = sortSuffixes(text);
  Indices common = commonPrefixes(text, order);
  std::vector<RepeatedSequence> found;
  struct Open {
    std::size_t length;
    std::size_t first; // in the order of suffixes
  };
  std::vector<Open> open;
  for (std::size_t i = 1; i <= order.size(); ++i) {
    std::size_t length = i < order.size() ? common[i] : 0;
    std::size_t first = i - 1;
    while (!open.empty() && open.back().length > length) {
      first = open.back().first;
      RepeatedSequence sequence{
          open.back().length,
          Indices(order.begin() + static_cast<std::ptrdiff_t>(first),
                  order.begin() + static_cast<std::ptrdiff_t>(i))};
      std::sort(sequence.positions.begin(), sequence.positions.end());
      found.push_back(std::move(sequence));
      open.pop_back();
    }
    if (length > 0 && (open.empty() || open.back().length < length)) {
      open.push_back({length, first});
    }
  }
  return found;
}

} // namespace popart
