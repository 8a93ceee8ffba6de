#include "engine/KeptConstants.hpp"

#include "compiler/Coverage.hpp"
#include "engine/StaticProgram.hpp"

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

void KeptConstants::add(std::size_t stretch, compiler::ConstantPart constants,
                        compiler::StorageAssignment storage) {
  parts_.push_back({stretch, std::move(constants), std::move(storage)});
}

void KeptConstants::compute(const Part &part, VariableStore &store,
                            TaskContext context, Workers &workers) {
  for (const internal::VariableId source : part.constants.sources) {
    store.requireValue(source);
  }
  const AlignedBuffer arena(part.storage.arenaBytes);
  context.arena = arena.data();
  TaskProgram tasks;
  addTasks(tasks, tasks.body, part.constants.program, part.storage, context);
  StaticProgram program(std::move(tasks), workers.threads(),
                        context.host.isStopping);
  const OtherWorkspaces workspaces(workers, program.usedWorkers(),
                                   part.storage.workspaceBytes);
  program.run(workers, nullptr);
}

void KeptConstants::prepare(std::size_t program, VariableStore &store,
                            const TaskContext &context, Workers &workers) {
  const ProgramFacts &facts = programs_[program];
  for (Part &part : parts_) {
    const std::vector<internal::VariableId> &sources = part.constants.sources;
    if (facts.hasStretch[part.stretch] && !part.isKnown) {
      compute(part, store, context, workers);
      part.isKnown = true;
    }
    part.isKnown =
        part.isKnown && std::none_of(sources.begin(), sources.end(),
                                     [&](internal::VariableId source) {
                                       return facts.writes[source.index()];
                                     });
  }
}

void KeptConstants::forget() {
  for (Part &part : parts_) {
    part.isKnown = false;
  }
}

} // namespace poplar::engine
