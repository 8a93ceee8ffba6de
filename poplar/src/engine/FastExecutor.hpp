// Runs programs fast: compiled through the value IR to tasks in one arena,
// scheduled ahead of time over a few threads.
#pragma once

#include "compiler/Coverage.hpp"
#include "engine/AlignedBuffer.hpp"
#include "engine/Executor.hpp"
#include "engine/HostServices.hpp"
#include "engine/KeptConstants.hpp"
#include "engine/StaticProgram.hpp"
#include "engine/Workers.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <memory>
#include <vector>

namespace poplar::engine {

class FastExecutor final : public Executor {
public:
  FastExecutor(const internal::GraphData &graph,
               const std::vector<internal::ProgramPtr> &programs,
               HostServices &host, unsigned threads, bool isVerified,
               FloatTraps traps = {});
  ~FastExecutor() override;

  void load() override;
  void run(std::size_t program) override;
  const VariableStore &variables() const override { return store_; }
  void write(const std::byte *packed,
             const internal::TensorView &view) override;
  void lend(const std::shared_ptr<const std::byte> &packed,
            const internal::TensorView &view) override;
  model::ProgramCounts takeCounts() override;

private:
  void makeWorkspaces(std::size_t bytes);
  void logMemory();

  compiler::ControlProgram control_;
  compiler::VariableRoles roles_;
  VariableStore store_;
  VertexSets vertices_;
  AlignedBuffer arena_; // one for all programs: only one runs at a time
  TaskContext context_;
  Workers workers_;
  KeptConstants constants_;
  std::size_t loggedBytes_ = 0; // of variables
  std::vector<std::unique_ptr<StaticProgram>> programs_;
  std::vector<std::unique_ptr<StepProfile>> profiles_; // empty when off
};

} // namespace poplar::engine
