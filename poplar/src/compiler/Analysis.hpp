// Where values are defined, read and overwritten, in the program's order: what
// passes ask before they move a read or a definition.
#pragma once

#include "compiler/Grouped.hpp"
#include "compiler/ValueIr.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace poplar::compiler {

// A point of the program: nodes numbered in order, a loop before its body and
// once more after it. `loop` is the innermost loop around it; 0 is none.
struct Place {
  std::uint32_t position = 0;
  std::uint32_t loop = 0;
};

struct ReadOf {
  Node *node = nullptr;
  std::uint32_t input = 0;
};

// Values that must share storage form a class: versions that update each other,
// what a loop carries, a variable's entry and exit. Stays true while passes
// remove nodes and reads; make a new one after anything else.
class Analysis {
public:
  explicit Analysis(ValueProgram &program);

  struct LoopRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t parent = 0;
  };
  const std::vector<LoopRange> &loops() const { return loops_; }
  std::uint32_t positions() const { return position_; }

  Place placeOf(const Node &node) const;

  // The node that defines the value; null for entries and arguments.
  Node *definingNode(ValueId value) const { return facts_[value.index()].node; }
  Place definition(ValueId value) const { return facts_[value.index()].place; }
  bool isDefined(ValueId value) const {
    return facts_[value.index()].isDefined;
  }
  // Inputs of nodes other than loops that read the value.
  std::span<const ReadOf> reads(ValueId value) const {
    return reads_[value.value];
  }
  // A binding, a loop or a later version also holds on to it.
  bool isPinned(ValueId value) const { return facts_[value.index()].isPinned; }

  bool isSameClass(ValueId a, ValueId b) const {
    return classOf(a) == classOf(b);
  }
  std::uint32_t classOf(ValueId value) const;
  std::span<const ValueId> membersOf(std::uint32_t storageClass) const {
    return members_[storageClass];
  }

  // A read of the value at `at` would find it there, not overwritten. The node
  // at `at` itself may overwrite it.
  bool isIntact(ValueId value, Place at) const;

  // Something else of the value's class is read or defined in the open interval
  // (after, before) or read at `before`.
  bool isClassTouchedBetween(ValueId value, Place after, Place before) const;

  bool isInside(std::uint32_t loop, std::uint32_t outer) const;

  // Keeps this true where a copy of `forwarded`, which `producer` defined and
  // nothing else read, is no more: `producer` defines what the copy did.
  void defineInPlaceOf(ValueId forwarded, ValueId copied, Node &producer);

private:
  struct Facts {
    Node *node = nullptr;
    Place place;
    bool isDefined = false;
    bool isPinned = false;
  };

  void walk(Region &region, std::uint32_t loop);
  void walkLoop(Node &node, std::uint32_t loop);
  void sortLists();
  void define(ValueId value, Node *node, Place place);
  void pin(ValueId value);
  void join(ValueId a, ValueId b);
  std::uint32_t root(std::uint32_t value) const;

  std::uint32_t position_ = 0;
  std::vector<LoopRange> loops_;
  std::vector<Facts> facts_;
  std::vector<std::pair<const Node *, Place>> places_; // by address
  mutable std::vector<std::uint32_t> parents_;         // union-find over values
  Grouped<ReadOf> reads_;                              // by value
  Grouped<ValueId> members_;                           // by class
  // Positions by class, in order: a question about a class takes as long to
  // answer however many values it has.
  Grouped<std::uint32_t> definedAt_;
  Grouped<std::uint32_t> readAt_;
};

} // namespace poplar::compiler
