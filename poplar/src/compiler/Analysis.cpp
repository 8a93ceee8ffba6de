#include "compiler/Analysis.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace poplar::compiler {

namespace {

// Those in the open interval (after, before) of positions in order.
std::size_t countBetween(std::span<const std::uint32_t> positions,
                         std::uint32_t after, std::uint32_t before) {
  const auto low = std::upper_bound(positions.begin(), positions.end(), after);
  return static_cast<std::size_t>(
      std::lower_bound(low, positions.end(), before) - low);
}

// Puts an earlier one in the place of one of the positions.
void moveForward(std::span<std::uint32_t> positions, std::uint32_t from,
                 std::uint32_t to) {
  const auto old = std::lower_bound(positions.begin(), positions.end(), from);
  const auto place = std::lower_bound(positions.begin(), old, to);
  *old = to;
  std::rotate(place, old, old + 1);
}

} // namespace

Analysis::Analysis(ValueProgram &program)
    : loops_(1), facts_(program.values.size()),
      parents_(program.values.size()) {
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
  sortLists();
}

void Analysis::sortLists() {
  const std::size_t count = facts_.size();
  for (std::uint32_t v = 0; v < count; ++v) {
    members_.add(v, ValueId(v));
  }
  const auto classOfValue = [this](std::uint32_t value) { return root(value); };
  members_.sort(count, classOfValue);
  reads_.sort(count);
  definedAt_.sort(count, classOfValue);
  readAt_.sort(count, classOfValue);
  std::sort(places_.begin(), places_.end(), [](const auto &a, const auto &b) {
    return std::less<>()(a.first, b.first);
  });
}

Place Analysis::placeOf(const Node &node) const {
  const auto found = std::lower_bound(
      places_.begin(), places_.end(), &node,
      [](const auto &a, const Node *b) { return std::less<>()(a.first, b); });
  support::requireInternal(found != places_.end() && found->first == &node,
                           "the place of '{}' is not known", node.name);
  return found->second;
}

void Analysis::define(ValueId value, Node *node, Place place) {
  Facts &facts = facts_[value.index()];
  facts.node = node;
  facts.place = place;
  facts.isDefined = true;
  definedAt_.add(value.value, place.position);
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
    places_.emplace_back(&node, place);
    for (std::uint32_t i = 0; i < node.inputs.size(); ++i) {
      reads_.add(node.inputs[i].value.value, {&node, i});
      readAt_.add(node.inputs[i].value.value, place.position);
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
  places_.emplace_back(&node, begin);
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
  return countBetween(definedAt_[classOf(value)], facts.place.position, end) ==
         0;
}

bool Analysis::isClassTouchedBetween(ValueId value, Place after,
                                     Place before) const {
  const std::uint32_t storageClass = classOf(value);
  const Facts &facts = facts_[value.index()];
  const bool isOwn = facts.isDefined && facts.place.position > after.position &&
                     facts.place.position < before.position;
  return countBetween(definedAt_[storageClass], after.position,
                      before.position) > (isOwn ? 1 : 0) ||
         countBetween(readAt_[storageClass], after.position,
                      before.position + 1) > 0;
}

void Analysis::defineInPlaceOf(ValueId forwarded, ValueId copied,
                               Node &producer) {
  Facts &facts = facts_[copied.index()];
  const Place place = placeOf(producer);
  moveForward(definedAt_[classOf(copied)], facts.place.position,
              place.position);
  facts.node = &producer;
  facts.place = place;
  facts_[forwarded.index()] = {};
}

} // namespace poplar::compiler
