// What programs have computed of variables that they leave alone: weights of an
// inference in the layouts of its kernels, for example. Computed before the
// first run that needs it and after those variables have changed.
#pragma once

#include "compiler/ControlTree.hpp"
#include "engine/StaticProgram.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace poplar::engine {

class KeptConstants {
public:
  KeptConstants(const internal::GraphData &graph,
                const compiler::ControlProgram &control);

  // The variables that some program with this stretch changes.
  std::vector<bool> changedAround(std::size_t stretch) const;

  // `program` computes what the stretch needs, from `sources`.
  void add(std::size_t stretch, std::unique_ptr<StaticProgram> program,
           const std::vector<internal::VariableId> &sources);

  // Before a run of the program: computes what is missing, and forgets what
  // other programs will miss after it.
  void prepare(std::size_t program, Workers &workers);

  // The most that one of those programs uses.
  unsigned usedWorkers() const;

  // Variables have changed outside programs.
  void forget();

private:
  struct Part {
    std::unique_ptr<StaticProgram> program;
    std::size_t stretch;
    std::vector<internal::VariableId> sources;
    bool isKnown = false;
  };
  struct ProgramFacts {
    std::vector<bool> hasStretch; // by stretch
    std::vector<bool> writes;     // by variable
  };

  std::vector<ProgramFacts> programs_;
  std::vector<Part> parts_;
};

} // namespace poplar::engine
