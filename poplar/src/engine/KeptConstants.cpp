#include "engine/KeptConstants.hpp"

#include "compiler/Coverage.hpp"

#include <algorithm>
#include <utility>

namespace poplar::engine {
namespace {

using compiler::ControlProgram;
using compiler::ControlTree;

void findStretches(const ControlProgram &control, const ControlTree &tree,
                   std::vector<bool> &hasStretch) {
  if (tree.kind == ControlTree::Kind::Stretch) {
    hasStretch[tree.index] = true;
  }
  if (tree.kind == ControlTree::Kind::Call) {
    findStretches(control, control.functions[tree.index], hasStretch);
  }
  for (const ControlTree &child : tree.children) {
    findStretches(control, child, hasStretch);
  }
}

} // namespace

KeptConstants::KeptConstants(const internal::GraphData &graph,
                             const ControlProgram &control) {
  std::vector<std::vector<compiler::VariableUse>> uses;
  for (const internal::ProgramPtr &stretch : control.stretches) {
    uses.push_back(compiler::findVariableUses(graph, stretch));
  }
  for (const ControlTree &tree : control.programs) {
    ProgramFacts &facts = programs_.emplace_back();
    facts.hasStretch.resize(control.stretches.size());
    facts.writes.resize(graph.variables.size());
    findStretches(control, tree, facts.hasStretch);
    for (std::size_t s = 0; s < uses.size(); ++s) {
      for (std::size_t v = 0; facts.hasStretch[s] && v < uses[s].size(); ++v) {
        facts.writes[v] = facts.writes[v] || uses[s][v].isWritten;
      }
    }
  }
}

std::vector<bool> KeptConstants::changedAround(std::size_t stretch) const {
  std::vector<bool> changed(programs_.front().writes.size());
  for (const ProgramFacts &facts : programs_) {
    for (std::size_t v = 0; facts.hasStretch[stretch] && v < changed.size();
         ++v) {
      changed[v] = changed[v] || facts.writes[v];
    }
  }
  return changed;
}

void KeptConstants::add(std::size_t stretch,
                        std::unique_ptr<StaticProgram> program,
                        const std::vector<internal::VariableId> &sources) {
  parts_.push_back({std::move(program), stretch, sources});
}

void KeptConstants::prepare(std::size_t program, Workers &workers) {
  const ProgramFacts &facts = programs_[program];
  for (Part &part : parts_) {
    if (facts.hasStretch[part.stretch] && !part.isKnown) {
      part.program->run(workers, nullptr);
      part.isKnown = true;
    }
    part.isKnown =
        part.isKnown && std::none_of(part.sources.begin(), part.sources.end(),
                                     [&](internal::VariableId source) {
                                       return facts.writes[source.index()];
                                     });
  }
}

unsigned KeptConstants::usedWorkers() const {
  unsigned workers = 0;
  for (const Part &part : parts_) {
    workers = std::max(workers, part.program->usedWorkers());
  }
  return workers;
}

void KeptConstants::forget() {
  for (Part &part : parts_) {
    part.isKnown = false;
  }
}

} // namespace poplar::engine
