// Where every value lies: in its variable's own storage or in the arena, shared
// by values that are never alive together.
#pragma once

#include "compiler/ValueIr.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace poplar::compiler {

struct StorageAssignment {
  struct Location {
    internal::VariableId variable; // valid: in that variable's storage
    std::size_t offset = 0;        // otherwise: bytes into the arena
  };
  // A piece of the arena, in use from one position of Analysis to another.
  struct Block {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    ValueId value; // the largest of those that lie in it, or else:
    const Node *scratchOf = nullptr;
  };
  std::vector<Location> values;                          // by value id
  std::unordered_map<const Node *, std::size_t> scratch; // arena offsets
  std::vector<Block> blocks;                             // all of the arena
  std::size_t arenaBytes = 0;
  std::size_t workspaceBytes = 0; // the most that a task wants beside it
};

// The program's plans must have been chosen. Also lets kinds that can work in
// place write over an input that dies.
StorageAssignment assignStorage(ValueProgram &program);

} // namespace poplar::compiler
