// The cycles of a pipelined graph: fill, main and flush.
#pragma once

#include <lowering/Functions.hpp>
#include <lowering/HostTensors.hpp>
#include <transforms/PipelineSchedule.hpp>

#include <poplar/Program.hpp>

#include <vector>

namespace popart {

class PipelineProgram {
public:
  // Lowers the operations that run in every micro-batch.
  PipelineProgram(LoweringContext &context, Functions &functions, const Ir &ir,
                  const Graph &graph, const std::vector<InputStream> &inputs);

  // All micro-batches between one fill and one flush. `first` is the number of
  // the first in the step.
  poplar::program::Program run(const std::vector<AnchorStream> &anchors,
                               std::int64_t first) const;

private:
  using Program = poplar::program::Program;
  using Sequence = poplar::program::Sequence;

  // A stash as the programs that write or read one slot of it.
  struct Slots {
    std::vector<Program> bySlot;
    const Program &of(std::int64_t microBatch) const {
      return bySlot[static_cast<std::size_t>(microBatch) % bySlot.size()];
    }
  };
  struct Stage {
    std::vector<Program> inputs;
    std::vector<Slots> restores;
    Sequence compute;
    std::vector<Slots> stashes;
  };

  void addStage(LoweringContext &context, Functions &functions, const Op &op);
  Program cycle(std::int64_t number, const std::vector<AnchorStream> &anchors,
                std::int64_t first) const;

  PipelineSchedule schedule_;
  std::vector<Stage> stages_;
  Sequence copies_; // between IPUs, at the end of each cycle
  // After as many cycles the slots are the same, and the anchors that leave.
  std::int64_t period_ = 1;
};

} // namespace popart
