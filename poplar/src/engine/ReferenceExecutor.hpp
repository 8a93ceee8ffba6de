// The oracle: walks the program tree as it was written, one operation after
// another, over plain row-major variables, with each kind's reference.
#pragma once

#include "engine/Executor.hpp"
#include "engine/HostStreams.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::engine {

class ReferenceExecutor final : public Executor {
public:
  ReferenceExecutor(const internal::GraphData &graph,
                    std::vector<internal::ProgramPtr> programs,
                    HostStreams &streams);

  void load() override { store_.reset(); }
  void run(std::size_t program) override;
  const VariableStore &variables() const override { return store_; }

private:
  void execute(const internal::ProgramPtr &program);
  void execute(const internal::SequenceNode &node);
  void execute(const internal::ExecuteNode &node);
  void execute(const internal::CopyNode &node);
  void execute(const internal::StreamInNode &node);
  void execute(const internal::StreamOutNode &node);
  void execute(const internal::RepeatNode &node);
  void execute(const internal::WriteUndefNode &node);
  template <typename Op> void execute(const Op &);
  void call(const internal::VertexGroup &group);

  const internal::GraphData &graph_;
  std::vector<internal::ProgramPtr> programs_;
  HostStreams &streams_;
  VariableStore store_;
};

} // namespace poplar::engine
