// The oracle: walks the program tree as it was written, one operation after
// another, over plain row-major variables, with each kind's reference.
#pragma once

#include "engine/Executor.hpp"
#include "engine/FloatTraps.hpp"
#include "engine/HostServices.hpp"
#include "engine/VertexSet.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace poplar::engine {

class ReferenceExecutor final : public Executor {
public:
  ReferenceExecutor(const internal::GraphData &graph,
                    std::vector<internal::ProgramPtr> programs,
                    HostServices &host, FloatTraps traps = {});

  void load() override;
  void run(std::size_t program) override;
  const VariableStore &variables() const override { return store_; }
  void write(const std::byte *packed,
             const internal::TensorView &view) override {
    store_.unpack(packed, view);
  }
  model::ProgramCounts takeCounts() override {
    return std::exchange(counts_, {});
  }

private:
  void execute(const internal::ProgramPtr &program);
  void execute(const internal::SequenceNode &node);
  void execute(const internal::ExecuteNode &node);
  void execute(const internal::CopyNode &node);
  void execute(const internal::StreamInNode &node);
  void execute(const internal::StreamOutNode &node);
  void execute(const internal::RepeatNode &node);
  void execute(const internal::WhileNode &node);
  void execute(const internal::IfNode &node);
  void execute(const internal::SwitchNode &node);
  void execute(const internal::CallNode &node);
  void execute(const internal::BlockNode &node);
  void execute(const internal::CycleCountNode &node);
  void execute(const internal::WriteUndefNode &) {}
  void execute(const internal::SyncNode &) {}
  void execute(const internal::RemoteReadNode &node);
  void execute(const internal::RemoteWriteNode &node);
  void execute(const internal::PrintTensorNode &node);
  void execute(const internal::AbortNode &node);
  void execute(const internal::ErrorNode &node);
  void execute(const internal::CrossReplicaCopyNode &node);
  void execute(const internal::CollectiveNode &node);
  void call(const internal::VertexGroup &group);
  bool runVertices(internal::ComputeSetId computeSet);
  // Packs the views that are present, lets the host serve the program that is
  // being run, and unpacks what is written.
  void serve(std::vector<const internal::TensorView *> reads,
             const internal::TensorView *write);
  std::int64_t readDecision(const internal::TensorView &view) const;
  // Notes a run of the program that is being run, which has so many parts, and
  // how often it ran each. Called as it begins: its parts are nodes too.
  model::PartCounts &countRun(std::size_t parts);

  const internal::GraphData &graph_;
  std::vector<internal::ProgramPtr> programs_;
  HostServices &host_;
  FloatTraps traps_;
  VariableStore store_;
  const internal::ProgramNode *running_ = nullptr;
  VertexSets vertices_;
  model::ProgramCounts counts_;
};

} // namespace poplar::engine
