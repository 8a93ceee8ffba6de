// Small programs as the engine's compiler first sees them, for tests of its
// passes.
#pragma once

#include "EngineProgram.hpp"

#include "compiler/Coverage.hpp"
#include "compiler/Lift.hpp"

namespace poplar::test {

inline compiler::ValueProgram lifted(const EngineProgram &p) {
  const internal::GraphData &graph = internal::graphData(p.graph);
  const internal::ProgramPtr &program = internal::programNode(p.program);
  return compiler::lift(
      graph, program,
      compiler::findRoles(graph, compiler::cutPrograms(graph, {program})));
}

} // namespace poplar::test
