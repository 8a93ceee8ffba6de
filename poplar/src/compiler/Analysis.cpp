#include "compiler/Analysis.hpp"

#include <algorithm>
#include <numeric>

namespace poplar::compiler {

Analysis::Analysis(ValueProgram &program)
    : loops_(1), facts_(program.values.size()), parents_(program.values.size()),
      members_(program.values.size()) {
  std::iota(parents_.begin(), parents_.end(), 0U);
  for (const Binding &binding : program.bindings) {
    define(binding.entry, nullptr, {0, 0});
    pin(binding.entry);
    pin(binding.exit);
    join(binding.entry, binding.exit);
  }
  position_ = 1;
  walk(program.body, 0);
  loops_[0].end = position_;
  for (std::uint32_t v = 0; v < facts_.size(); ++v) {
    members_[root(v)].push_back(ValueId(v));
  }
}

void Analysis::define(ValueId value, Node *node, Place place) {
  Facts &facts = facts_[value.index()];
  facts.node = node;
  facts.place = place;
  facts.isDefined = true;
}

void Analysis::pin(ValueId value) {
  facts_[value.index()].isPinned = true;
}

std::uint32_t Analysis::root(std::uint32_t value) const {
  while (parents_[value] != value) {
    value = parents_[value] = parents_[parents_[value]];
  }
  return value;
}

std::uint32_t Analysis::classOf(ValueId value) const {
  return root(value.value);
}

void Analysis::join(ValueId a, ValueId b) {
  const std::uint32_t first = root(a.value), second = root(b.value);
  parents_[std::max(first, second)] = std::min(first, second);
}

void Analysis::walk(Region &region, std::uint32_t loop) {
  for (Node &node : region.nodes) {
    if (node.op == NodeOp::Loop) {
      walkLoop(node, loop);
      continue;
    }
    const Place place = {position_++, loop};
    places_[&node] = place;
    for (std::uint32_t i = 0; i < node.inputs.size(); ++i) {
      facts_[node.inputs[i].value.index()].reads.push_back({&node, i});
    }
    for (const Definition &output : node.outputs) {
      define(output.window.value, &node, place);
      if (output.base.isValid()) {
        pin(output.base);
        join(output.base, output.window.value);
      }
    }
  }
}

void Analysis::walkLoop(Node &node, std::uint32_t loop) {
  const auto index = static_cast<std::uint32_t>(loops_.size());
  const Place begin = {position_++, loop};
  places_[&node] = begin;
  loops_.push_back({begin.position, 0, loop});
  for (const Carried &carried : node.loop->carried) {
    if (carried.argument.isValid()) {
      define(carried.argument, nullptr, {begin.position, index});
      pin(carried.argument);
      join(carried.argument, carried.next);
      if (carried.initial.isValid()) {
        pin(carried.initial);
        join(carried.initial, carried.argument);
      }
    }
    pin(carried.next);
    join(carried.next, carried.result);
  }
  walk(node.loop->body, index);
  const Place end = {position_++, loop};
  loops_[index].end = end.position;
  for (const Carried &carried : node.loop->carried) {
    define(carried.result, &node, end);
    pin(carried.result);
  }
}

bool Analysis::isInside(std::uint32_t loop, std::uint32_t outer) const {
  while (loop != outer && loop != 0) {
    loop = loops_[loop].parent;
  }
  return loop == outer;
}

bool Analysis::isIntact(ValueId value, Place at) const {
  const Facts &facts = facts_[value.index()];
  if (!facts.isDefined || facts.place.position >= at.position ||
      !isInside(at.loop, facts.place.loop)) {
    return false;
  }
  // A read in a loop that the definition is not in happens in every iteration:
  // from the start to the end of the outermost such loop nothing may overwrite.
  std::uint32_t end = at.position;
  for (std::uint32_t loop = at.loop; loop != facts.place.loop;
       loop = loops_[loop].parent) {
    end = loops_[loop].end;
  }
  for (ValueId other : members_[classOf(value)]) {
    const Facts &otherFacts = facts_[other.index()];
    if (other != value && otherFacts.isDefined &&
        otherFacts.place.position > facts.place.position &&
        otherFacts.place.position < end) {
      return false;
    }
  }
  return true;
}

bool Analysis::isClassTouchedBetween(ValueId value, Place after,
                                     Place before) const {
  const auto isBetween = [&](std::uint32_t position) {
    return position > after.position && position < before.position;
  };
  for (ValueId member : members_[classOf(value)]) {
    const Facts &facts = facts_[member.index()];
    if (member != value && facts.isDefined && isBetween(facts.place.position)) {
      return true;
    }
    for (const ReadOf &read : facts.reads) {
      const std::uint32_t position = placeOf(*read.node).position;
      if (isBetween(position) || position == before.position) {
        return true;
      }
    }
  }
  return false;
}

} // namespace poplar::compiler
