#include "compiler/AssignStorage.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/ArenaPacking.hpp"
#include "compiler/Rewrite.hpp"
#include "compiler/Windows.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace poplar::compiler {
namespace {

constexpr std::size_t alignment = 64;

std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// From the first definition to the last use, in positions.
struct Lifetime {
  std::uint32_t begin = ~0U;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> uses; // all of them, in any order

  void extend(std::uint32_t position) {
    begin = std::min(begin, position);
    end = std::max(end, position);
    uses.push_back(position);
  }
  // The longer list of uses takes the shorter one: memory may go from hand to
  // hand through the whole program.
  void take(Lifetime other) {
    begin = std::min(begin, other.begin);
    end = std::max(end, other.end);
    if (uses.size() < other.uses.size()) {
      uses.swap(other.uses);
    }
    uses.insert(uses.end(), other.uses.begin(), other.uses.end());
  }
  bool isEmpty() const { return begin > end; }
};

// One block of memory: a storage class, several joined in place, or a node's
// scratch.
struct Block {
  std::size_t bytes = 0;
  Lifetime lifetime;
  internal::VariableId variable;
  std::size_t offset = 0;
  ValueId value; // the largest of a class
  const Node *scratchOf = nullptr;

  bool isInArena() const {
    return bytes > 0 && !lifetime.isEmpty() && !variable.isValid();
  }
};

class StorageAssigner {
public:
  explicit StorageAssigner(ValueProgram &program)
      : program_(program), analysis_(program), blocks_(program.values.size()),
        joined_(program.values.size()) {
    std::iota(joined_.begin(), joined_.end(), 0U);
  }

  StorageAssignment run() {
    measure();
    joinInPlace();
    addScratch();
    place();
    StorageAssignment result;
    result.arenaBytes = arenaBytes_;
    result.workspaceBytes = workspaceBytes();
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      const Block &block = blocks_[blockOf(ValueId(v))];
      result.values.push_back({block.variable, block.offset});
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const Block &block = blocks_[b];
      if (joined_[b] != b || !block.isInArena()) {
        continue;
      }
      if (block.scratchOf != nullptr) {
        result.scratch[block.scratchOf] = block.offset;
      }
      result.blocks.push_back({block.offset, block.bytes, block.lifetime.begin,
                               block.lifetime.end, block.value,
                               block.scratchOf});
    }
    return result;
  }

private:
  std::uint32_t blockOf(ValueId value) {
    std::uint32_t block = analysis_.classOf(value);
    while (joined_[block] != block) {
      block = joined_[block] = joined_[joined_[block]];
    }
    return block;
  }

  // A use inside a loop of what lives outside it lasts for the whole loop.
  void extend(Lifetime &lifetime, Place at, std::uint32_t homeLoop) {
    lifetime.extend(at.position);
    for (std::uint32_t loop = at.loop; loop != homeLoop && loop != 0;
         loop = analysis_.loops()[loop].parent) {
      lifetime.extend(analysis_.loops()[loop].begin);
      lifetime.extend(analysis_.loops()[loop].end);
    }
  }

  // The loop that contains all of a class: the common ancestor of its members'
  // definitions. What a loop carries lives outside it, or, where it has no
  // initial value, from its beginning to its end.
  std::uint32_t homeOf(std::uint32_t storageClass) const {
    std::uint32_t home = ~0U;
    for (ValueId member : analysis_.membersOf(storageClass)) {
      if (!analysis_.isDefined(member)) {
        continue;
      }
      const std::uint32_t loop = analysis_.definition(member).loop;
      if (home == ~0U) {
        home = loop;
      }
      while (!analysis_.isInside(loop, home)) {
        home = analysis_.loops()[home].parent;
      }
    }
    return home == ~0U ? 0 : home;
  }

  void measure() {
    for (std::uint32_t c = 0; c < blocks_.size(); ++c) {
      Block &block = blocks_[c];
      const std::uint32_t home = homeOf(c);
      for (ValueId member : analysis_.membersOf(c)) {
        const Value &value = program_[member];
        const auto elements = static_cast<std::size_t>(
            kernels::storageElements(value.layout, value.shape));
        const std::size_t bytes =
            aligned(elements * support::sizeOf(value.type));
        if (!block.value.isValid() || bytes > block.bytes) {
          block.value = member;
          block.bytes = bytes;
        }
        if (analysis_.isDefined(member)) {
          extend(block.lifetime, analysis_.definition(member), home);
        }
        for (const ReadOf &read : analysis_.reads(member)) {
          extend(block.lifetime, analysis_.placeOf(*read.node), home);
        }
      }
    }
    for (const Binding &binding : program_.bindings) {
      blocks_[blockOf(binding.entry)].variable = binding.variable;
    }
  }

  // An input that dies where an output of the same size is born gives it its
  // memory.
  void joinInPlace() {
    forEachNode(program_.body, [&](Node &node) {
      if (node.op != NodeOp::Kernel) {
        return;
      }
      const std::uint32_t position = analysis_.placeOf(node).position;
      for (const kernels::InPlacePair &pair : node.kind->inPlace) {
        if (pair.input < node.inputs.size() &&
            pair.output < node.outputs.size()) {
          tryJoin(node, pair, position);
        }
      }
    });
  }

  void tryJoin(const Node &node, const kernels::InPlacePair &pair,
               std::uint32_t position) {
    const Window &input = node.inputs[pair.input];
    const Window &output = node.outputs[pair.output].window;
    const std::uint32_t from = blockOf(input.value);
    const std::uint32_t to = blockOf(output.value);
    const Value &source = program_[input.value];
    const Value &target = program_[output.value];
    // Other operands in the dying memory would be overwritten under the node.
    const bool isReadElsewhere = std::any_of(
        node.inputs.begin(), node.inputs.end(), [&](const Window &other) {
          return &other != &input && blockOf(other.value) == from;
        });
    if (from == to || isReadElsewhere || !isSameWindow(input, output) ||
        !isWholeInAnyOrder(output, target) ||
        !isWholeInAnyOrder(input, source) ||
        support::sizeOf(source.type) != support::sizeOf(target.type) ||
        source.layout != target.layout ||
        blocks_[from].lifetime.end != position ||
        blocks_[to].lifetime.begin != position ||
        blocks_[from].variable.isValid()) {
      return;
    }
    Block &merged = blocks_[to];
    if (merged.variable.isValid() && merged.lifetime.begin != position) {
      return;
    }
    joined_[from] = to;
    merged.bytes = std::max(merged.bytes, blocks_[from].bytes);
    merged.lifetime.take(std::move(blocks_[from].lifetime));
  }

  std::size_t workspaceBytes() {
    std::size_t bytes = 0;
    forEachNode(program_.body, [&](const Node &node) {
      if (node.plan != nullptr) {
        bytes = std::max(bytes, node.plan->workspaceBytes());
      }
    });
    return bytes;
  }

  void addScratch() {
    forEachNode(program_.body, [&](Node &node) {
      if (node.plan == nullptr || node.plan->scratchBytes() == 0) {
        return;
      }
      Block block;
      block.bytes = aligned(node.plan->scratchBytes());
      block.lifetime.extend(analysis_.placeOf(node).position);
      block.scratchOf = &node;
      joined_.push_back(static_cast<std::uint32_t>(blocks_.size()));
      blocks_.push_back(block);
    });
  }

  // Found by the values that nodes of one region take from each other.
  Forerunners forerunners() {
    Forerunners result(analysis_.positions());
    forEachNode(program_.body, [&](Node &node) {
      const Place place = analysis_.placeOf(node);
      for (const Window &input : node.inputs) {
        if (analysis_.definingNode(input.value) == nullptr) {
          continue;
        }
        const Place from = analysis_.definition(input.value);
        const std::uint32_t distance = place.position - from.position;
        if (from.loop == place.loop && distance <= reuseDistance) {
          result[place.position] |= static_cast<std::uint8_t>(
              1U << (distance - 1) | result[from.position] << distance);
        }
      }
    });
    return result;
  }

  void place() {
    std::vector<std::size_t> indices; // of what is in the arena
    std::vector<ArenaBlock> inArena;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (joined_[b] == b && blocks_[b].isInArena()) {
        indices.push_back(b);
        inArena.push_back({blocks_[b].bytes, blocks_[b].lifetime.uses});
        std::vector<std::uint32_t> &uses = inArena.back().uses;
        std::sort(uses.begin(), uses.end());
        uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
      }
    }
    const ArenaPlan plan = packArena(inArena, forerunners());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      blocks_[indices[i]].offset = plan.offsets[i];
    }
    arenaBytes_ = plan.bytes;
  }

  ValueProgram &program_;
  Analysis analysis_;
  std::vector<Block> blocks_;         // by class root, then scratch
  std::vector<std::uint32_t> joined_; // block that this one became part of
  std::size_t arenaBytes_ = 0;
};

} // namespace

StorageAssignment assignStorage(ValueProgram &program) {
  return StorageAssigner(program).run();
}

} // namespace poplar::compiler
