// Programs cut where control depends on data. Between the cuts are stretches,
// straight-line programs and counted loops, each of which becomes one value
// program; variables that cross a cut live in their own storage.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <cstdint>
#include <vector>

namespace poplar::compiler {

struct ControlTree {
  enum class Kind : std::uint8_t {
    Stretch,  // ControlProgram::stretches[index]
    Sequence, // the children, `count` times
    While,    // children: condition, body
    Switch,   // children[i] for keys[i], the last one for anything else
    Call,     // ControlProgram::functions[index]
  };
  Kind kind = Kind::Sequence;
  std::size_t index = 0;
  std::uint64_t count = 1;
  internal::TensorView control; // one element: of While and Switch
  bool continuesOn = true;
  std::vector<std::int32_t> keys;
  std::vector<ControlTree> children;
  // What While, Switch and endless Sequence were cut from, else null.
  const internal::ProgramNode *node = nullptr;
};

struct ControlProgram {
  std::vector<internal::ProgramPtr> stretches;
  std::vector<ControlTree> programs;
  std::vector<ControlTree> functions; // by function id; unused ones are empty
};

ControlProgram cutPrograms(const internal::GraphData &graph,
                           const std::vector<internal::ProgramPtr> &programs);

} // namespace poplar::compiler
