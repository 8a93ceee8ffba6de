#include "engine/FastExecutor.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/AssignStorage.hpp"
#include "compiler/Lift.hpp"
#include "compiler/Pipeline.hpp"
#include "compiler/SplitConstants.hpp"
#include "compiler/StorageReport.hpp"
#include "compiler/Verify.hpp"

#include <fmt/format.h>
#include <support/Timed.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

namespace poplar::engine {
namespace {

using compiler::ControlTree;

constexpr support::Logger logger(support::LogChannel::Poplar, "ENGINE");

// A stretch of a program, compiled.
struct Compiled {
  compiler::ValueProgram program;
  compiler::StorageAssignment storage;
  std::optional<compiler::ConstantPart> constants;
  compiler::StorageAssignment constantStorage;
};

void markChanged(compiler::ValueProgram &program,
                 const std::vector<bool> &isChanged) {
  for (compiler::Binding &binding : program.bindings) {
    binding.isChangedElsewhere = isChanged[binding.variable.index()];
  }
}

void splitConstants(Compiled &stretch, VariableStore &store, bool isVerified) {
  stretch.constants = compiler::splitConstants(
      stretch.program, [&](std::size_t bytes) { return store.add(bytes); });
  if (!stretch.constants) {
    return;
  }
  if (isVerified) {
    compiler::verify(stretch.program, "splitConstants");
    compiler::verify(stretch.constants->program, "splitConstants");
  }
  stretch.constantStorage = compiler::assignStorage(stretch.constants->program);
}

// Vertices and control know where these are.
std::vector<bool> storedFromTheStart(const compiler::VariableRoles &roles) {
  std::vector<bool> isStored = roles.isPinned;
  for (std::size_t v = 0; v < isStored.size(); ++v) {
    isStored[v] = isStored[v] || roles.isDecision[v];
  }
  return isStored;
}

// Storage for what the program itself reads or changes. Of most weights of an
// inference, only what was computed of them is read again and again.
void storeVariables(compiler::ValueProgram &program, VariableStore &store) {
  const compiler::Analysis analysis(program);
  for (const compiler::Binding &binding : program.bindings) {
    const auto versions = analysis.membersOf(analysis.classOf(binding.entry));
    if (versions.size() > 1 || !analysis.reads(binding.entry).empty()) {
      store.store(binding.variable);
    }
  }
}

std::vector<Compiled>
compileStretches(const internal::GraphData &graph,
                 const std::vector<internal::ProgramPtr> &stretches,
                 const compiler::VariableRoles &roles,
                 const KeptConstants &constants, VariableStore &store,
                 bool isVerified) {
  auto options = compiler::PipelineOptions::fromEnvironment();
  options.isVerified = options.isVerified || isVerified;
  std::vector<Compiled> compiled;
  for (const internal::ProgramPtr &stretch : stretches) {
    Compiled &result = compiled.emplace_back();
    result.program = support::timed(
        logger, "lift", [&] { return compiler::lift(graph, stretch, roles); });
    markChanged(result.program, constants.changedAround(compiled.size() - 1));
    options.dumpName = fmt::format("program{}", compiled.size() - 1);
    compiler::runPasses(result.program, options);
    splitConstants(result, store, options.isVerified);
    storeVariables(result.program, store);
    result.storage = support::timed(logger, "assignStorage", [&] {
      return compiler::assignStorage(result.program);
    });
  }
  return compiled;
}

bool isMemoryProfileWanted() {
  const char *text = std::getenv("ASPEN_MEMORY_PROFILE");
  return text != nullptr && std::string_view(text) == "1";
}

void printMemory(std::vector<Compiled> &compiled) {
  for (std::size_t s = 0; s < compiled.size(); ++s) {
    std::cerr << compiler::storageReport(
        compiled[s].program, compiled[s].storage, fmt::format("program {}", s));
    if (compiled[s].constants) {
      std::cerr << compiler::storageReport(
          compiled[s].constants->program, compiled[s].constantStorage,
          fmt::format("what program {} keeps", s));
    }
  }
}

// Makes the tasks of whole programs from those of their stretches.
class ProgramBuilder {
public:
  ProgramBuilder(const compiler::ControlProgram &control,
                 const std::vector<Compiled> &compiled,
                 const TaskContext &context)
      : control_(control), compiled_(compiled), context_(context) {}

  TaskProgram build(const ControlTree &program) {
    TaskProgram result;
    result.functions.resize(control_.functions.size());
    isBuilt_.assign(control_.functions.size(), false);
    add(result, result.body, program);
    return result;
  }

private:
  void add(TaskProgram &result, TaskBlock &block, const ControlTree &tree) {
    if (tree.kind == ControlTree::Kind::Stretch) {
      const Compiled &stretch = compiled_[tree.index];
      addTasks(result, block, stretch.program, stretch.storage, context_);
      return;
    }
    block.kind = tree.kind;
    block.count = tree.count;
    block.continuesOn = tree.continuesOn;
    block.keys = tree.keys;
    block.function = tree.index;
    block.node = tree.node;
    if (internal::isPresent(tree.control)) {
      const internal::Piece &piece = tree.control.pieces[0];
      const auto size = support::sizeOf(tree.control.type);
      block.decision = {context_.variables.data(piece.variable) +
                            static_cast<std::size_t>(piece.offset) * size,
                        tree.control.type};
    }
    for (const ControlTree &child : tree.children) {
      add(result, block.children.emplace_back(), child);
    }
    if (tree.kind == ControlTree::Kind::Call && !isBuilt_[tree.index]) {
      isBuilt_[tree.index] = true;
      add(result, result.functions[tree.index], control_.functions[tree.index]);
    }
  }

  const compiler::ControlProgram &control_;
  const std::vector<Compiled> &compiled_;
  const TaskContext &context_;
  std::vector<bool> isBuilt_; // by function
};

} // namespace

FastExecutor::FastExecutor(const internal::GraphData &graph,
                           const std::vector<internal::ProgramPtr> &programs,
                           HostServices &host, unsigned threads,
                           bool isVerified, FloatTraps traps)
    : control_(compiler::cutPrograms(graph, programs)),
      roles_(compiler::findRoles(graph, control_)),
      store_(graph, storedFromTheStart(roles_)),
      vertices_(graph,
                [this](internal::VariableId variable) {
                  return store_.data(variable);
                }),
      context_{graph, store_, nullptr, host, traps, vertices_},
      workers_(threads), constants_(graph, control_) {
  std::vector<Compiled> compiled = compileStretches(
      graph, control_.stretches, roles_, constants_, store_, isVerified);
  if (isMemoryProfileWanted()) {
    printMemory(compiled);
  }
  std::size_t arenaBytes = 0, workspaceBytes = 0;
  for (const Compiled &stretch : compiled) {
    arenaBytes = std::max(arenaBytes, stretch.storage.arenaBytes);
    workspaceBytes = std::max(workspaceBytes, stretch.storage.workspaceBytes);
  }
  arena_ = AlignedBuffer(arenaBytes);
  context_.arena = arena_.data();
  ProgramBuilder builder(control_, compiled, context_);
  for (const ControlTree &program : control_.programs) {
    programs_.push_back(support::timed(logger, "planTasks", [&] {
      return std::make_unique<StaticProgram>(builder.build(program), threads,
                                             host.isStopping);
    }));
    if (StepProfile::isWanted()) {
      profiles_.push_back(std::make_unique<StepProfile>(
          programs_.back()->calls().size(), threads));
    }
  }
  for (std::size_t s = 0; s < compiled.size(); ++s) {
    if (compiled[s].constants) {
      constants_.add(s, std::move(*compiled[s].constants),
                     std::move(compiled[s].constantStorage));
    }
  }
  makeWorkspaces(workspaceBytes);
  logMemory();
}

void FastExecutor::makeWorkspaces(std::size_t bytes) {
  unsigned workers = 0;
  for (const auto &program : programs_) {
    workers = std::max(workers, program->usedWorkers());
  }
  workers_.makeWorkspaces(workers, bytes);
}

FastExecutor::~FastExecutor() {
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    profiles_[i]->print(std::cerr, programs_[i]->calls(),
                        fmt::format("program {}", i));
  }
}

void FastExecutor::load() {
  store_.reset();
  vertices_.restore();
  constants_.forget();
}

void FastExecutor::write(const std::byte *packed,
                         const internal::TensorView &view) {
  store_.unpack(packed, view);
  constants_.forget();
}

void FastExecutor::lend(const std::shared_ptr<const std::byte> &packed,
                        const internal::TensorView &view) {
  store_.lend(packed, view);
  constants_.forget();
}

void FastExecutor::logMemory() {
  loggedBytes_ = store_.bytes();
  logger.debug("engine memory: {} B of arena, {} B of workspaces, {} B of "
               "variables",
               arena_.size(), workers_.workspaceBytes(), loggedBytes_);
}

model::ProgramCounts FastExecutor::takeCounts() {
  model::ProgramCounts counts;
  for (const auto &program : programs_) {
    program->takeCounts(counts);
  }
  return counts;
}

void FastExecutor::run(std::size_t program) {
  constants_.prepare(program, store_, context_, workers_);
  if (store_.bytes() != loggedBytes_) { // the host has written more
    logMemory();
  }
  if (profiles_.empty()) {
    programs_[program]->run(workers_, nullptr);
    return;
  }
  const auto start = StepProfile::Clock::now();
  programs_[program]->run(workers_, profiles_[program].get());
  profiles_[program]->addRun(StepProfile::Clock::now() - start);
}

} // namespace poplar::engine
