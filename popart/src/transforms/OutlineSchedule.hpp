// A schedule as outlining sees it: operations as numbers, and which tensors
// cross the ends of a stretch of it.
#pragma once

#include <popart/ir.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace popart {

class OutlineSchedule {
public:
  OutlineSchedule(const Ir &ir, const Graph &graph);

  // Equal numbers for operations that do the same in the same place. Between
  // two programs, such as the stages of a pipeline, there is an entry that is
  // no operation, and that nothing equals.
  const std::vector<int> &numbers() const { return numbers_; }
  std::vector<Op *> ops(std::size_t begin, std::size_t length) const;

  // By Op::getSubgraphValue(), less what changes of IPU or phase cost.
  double worth(std::size_t begin, std::size_t length) const;

  // Of the stretch, how much comes before the first such change.
  std::size_t lengthInPlace(std::size_t begin, std::size_t length) const;

  // Whether the operations of two stretches of equal numbers hang together in
  // the same way, so that both are the same function of their inputs.
  bool areAlike(std::size_t a, std::size_t b, std::size_t length) const;
  // How they hang together: equal for stretches that are alike.
  std::vector<int> connections(std::size_t begin, std::size_t length) const;
  // Tensors from outside but constants, in the order in which they are read.
  std::vector<TensorId> inputs(std::size_t begin, std::size_t length) const;
  // Operations, counted from `begin`, and their outputs that are read outside,
  // or that are variables changed inside.
  std::vector<std::pair<std::size_t, OutIndex>>
  outputs(std::size_t begin, std::size_t length) const;

private:
  struct Source {
    TensorId id;
    int tensor = -1; // a number of its own; none of what is left out
    std::size_t producer = 0;
    std::size_t output = 0;    // of the producer
    std::size_t sinceRead = 0; // inputs, of whatever operation
    bool isProduced = false;
    bool isConstant = false;
  };
  struct Entry {
    Op *op = nullptr;
    std::vector<Source> sources;       // by input
    std::vector<std::size_t> lastUses; // by output
  };

  // What an input is to its stretch.
  struct Link {
    enum Kind { None, Inside, Outside } kind;
    std::size_t distance, output;
    friend bool operator==(const Link &, const Link &) = default;
  };

  Link linkOf(const Entry &entry, std::size_t input, std::size_t begin,
              std::size_t offset, std::size_t reads) const;
  void addEntry(Op *op, int number);
  // The number of an input from outside among those, in reading order; `visit`
  // is called for each input with it, or with the input's producer.
  template <typename F>
  void forEachInput(std::size_t begin, std::size_t length, F visit) const;

  const SessionOptions &options_;
  std::vector<Entry> entries_;
  std::vector<int> numbers_;
  std::vector<double> values_ = {0}; // of all entries before
  std::vector<int> changes_ = {0};   // of IPU or phase, up to this entry
};

} // namespace popart
