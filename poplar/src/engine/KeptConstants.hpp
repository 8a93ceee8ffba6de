// What programs have computed of variables that they leave alone: weights of an
// inference in the layouts of its kernels, for example. Computed before the
// first run that needs it and after those variables have changed.
#pragma once

#include "compiler/AssignStorage.hpp"
#include "compiler/ControlTree.hpp"
#include "compiler/SplitConstants.hpp"
#include "engine/TaskList.hpp"
#include "engine/VariableStore.hpp"
#include "engine/Workers.hpp"

#include <cstddef>
#include <vector>

namespace poplar::engine {

class KeptConstants {
public:
  KeptConstants(const internal::GraphData &graph,
                const compiler::ControlProgram &control);

  // The variables that some program with this stretch changes.
  std::vector<bool> changedAround(std::size_t stretch) const;

  // What the stretch needs, and where it and what it takes are kept.
  void add(std::size_t stretch, compiler::ConstantPart constants,
           compiler::StorageAssignment storage);

  // Before a run of the program: computes what is missing, and forgets what
  // other programs will miss after it. Sources are read where they lie now, in
  // `store`, which is the context's. What comes between is in memory that is
  // given back: the context's arena and the workers' workspaces are for runs.
  void prepare(std::size_t program, VariableStore &store,
               const TaskContext &context, Workers &workers);

  // Variables have changed outside programs.
  void forget();

private:
  struct Part {
    std::size_t stretch;
    compiler::ConstantPart constants;
    compiler::StorageAssignment storage;
    bool isKnown = false;
  };
  static void compute(const Part &part, VariableStore &store,
                      TaskContext context, Workers &workers);
  struct ProgramFacts {
    std::vector<bool> hasStretch; // by stretch
    std::vector<bool> writes;     // by variable
  };

  std::vector<ProgramFacts> programs_;
  std::vector<Part> parts_;
};

} // namespace poplar::engine
