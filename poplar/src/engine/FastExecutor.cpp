#include "engine/FastExecutor.hpp"

#include "compiler/AssignStorage.hpp"
#include "compiler/Coverage.hpp"
#include "compiler/Lift.hpp"
#include "compiler/Pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>

namespace poplar::engine {

FastExecutor::FastExecutor(const internal::GraphData &graph,
                           const std::vector<internal::ProgramPtr> &programs,
                           HostStreams &streams, unsigned threads,
                           bool isVerified)
    : isPersistent_(compiler::findPersistentVariables(graph, programs)),
      store_(graph, isPersistent_), pool_(threads) {
  auto options = compiler::PipelineOptions::fromEnvironment();
  options.isVerified = options.isVerified || isVerified;
  std::vector<compiler::ValueProgram> values;
  std::vector<compiler::StorageAssignment> storage;
  std::size_t arenaBytes = 0;
  for (const internal::ProgramPtr &program : programs) {
    values.push_back(compiler::lift(graph, program, isPersistent_));
    options.dumpName = fmt::format("program{}", values.size() - 1);
    compiler::runPasses(values.back(), options);
    storage.push_back(compiler::assignStorage(values.back()));
    arenaBytes = std::max(arenaBytes, storage.back().arenaBytes);
  }
  arena_ = AlignedBuffer(arenaBytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    programs_.push_back(std::make_unique<StaticProgram>(
        makeTasks(values[i], storage[i], store_, arena_.data(), streams),
        threads));
    if (StepProfile::isWanted()) {
      profiles_.push_back(std::make_unique<StepProfile>(
          programs_.back()->calls().size(), threads));
    }
  }
  store_.reset();
}

FastExecutor::~FastExecutor() {
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    profiles_[i]->print(std::cerr, programs_[i]->calls(),
                        fmt::format("program {}", i));
  }
}

void FastExecutor::run(std::size_t program) {
  if (profiles_.empty()) {
    programs_[program]->run(pool_, nullptr);
    return;
  }
  const auto start = StepProfile::Clock::now();
  programs_[program]->run(pool_, profiles_[program].get());
  profiles_[program]->addRun(StepProfile::Clock::now() - start);
}

} // namespace poplar::engine
