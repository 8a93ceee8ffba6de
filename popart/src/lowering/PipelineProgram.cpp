// Cycles from the fragments of the stages. A cycle is a list of programs that
// all cycles share, but for the slots of the stashes, so that unrolling them
// costs little and every slot is known when the program is built.
#include <lowering/PipelineProgram.hpp>

#include <lowering/StepProgram.hpp>
#include <support/Error.hpp>

#include <numeric>
#include <string>

namespace popart {
namespace {

using poplar::program::Copy;
using poplar::program::Repeat;

bool isNormal(const Op &op) {
  return op.settings.executionContext == ExecutionContext::Normal;
}

} // namespace

PipelineProgram::PipelineProgram(LoweringContext &context, Functions &functions,
                                 const Ir &ir, const Graph &graph,
                                 const std::vector<InputStream> &inputs)
    : schedule_(pipelineSchedule(ir, graph)),
      stages_(static_cast<std::size_t>(schedule_.stages())) {
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    stages_[stage].compute = Sequence("stage" + std::to_string(stage));
  }
  for (const InputStream &input : inputs) {
    stages_[static_cast<std::size_t>(input.stage)].inputs.push_back(input.copy);
  }
  // A chain of copies must move its far end first, so that no value is
  // overwritten before it has moved on.
  std::vector<Sequence> copies;
  for (const auto &op : graph.getOps()) {
    if (!isNormal(*op)) {
      continue;
    }
    if (op->opid.type == "IpuCopy") {
      copies.emplace_back();
      context.lower(*op, copies.back());
    } else {
      addStage(context, functions, *op);
    }
  }
  for (auto copy = copies.rbegin(); copy != copies.rend(); ++copy) {
    copies_.add(*copy);
  }
  for (const auto &[id, type] : ir.dataFlow.getAnchorReturnTypeMap()) {
    period_ = std::lcm(period_, std::int64_t{type.rp()});
  }
}

void PipelineProgram::addStage(LoweringContext &context, Functions &functions,
                               const Op &op) {
  Stage &stage = stages_[static_cast<std::size_t>(op.settings.pipelineStage)];
  functions.lower(context, op, stage.compute);
  bool isStash = op.opid.type == "Stash";
  if (!isStash && op.opid.type != "Restore") {
    return;
  }
  poplar::Tensor from = context.tensor(op.inputs[0]);
  poplar::Tensor to = context.tensor(op.outputs[0]);
  const poplar::Tensor &stash = isStash ? to : from;
  Slots slots;
  for (std::size_t slot = 0; slot < stash.dim(0); ++slot) {
    slots.bySlot.push_back(isStash ? Copy(from, stash[slot])
                                   : Copy(stash[slot], to));
  }
  period_ = std::lcm(period_, static_cast<std::int64_t>(stash.dim(0)));
  (isStash ? stage.stashes : stage.restores).push_back(std::move(slots));
}

poplar::program::Program
PipelineProgram::cycle(std::int64_t number,
                       const std::vector<AnchorStream> &anchors,
                       std::int64_t first) const {
  Sequence cycle("cycle");
  auto forActive = [&](auto function) {
    for (PipelineStage stage = 0; stage < schedule_.stages(); ++stage) {
      std::int64_t microBatch = schedule_.microBatchOf(stage, number);
      if (microBatch >= 0) {
        function(stage, stages_[static_cast<std::size_t>(stage)], microBatch);
      }
    }
  };
  forActive([&](PipelineStage, const Stage &stage, std::int64_t) {
    for (const Program &input : stage.inputs) {
      cycle.add(input);
    }
  });
  forActive([&](PipelineStage, const Stage &stage, std::int64_t microBatch) {
    for (const Slots &restore : stage.restores) {
      cycle.add(restore.of(microBatch));
    }
    cycle.add(stage.compute);
    for (const Slots &stash : stage.stashes) {
      cycle.add(stash.of(microBatch));
    }
  });
  forActive([&](PipelineStage stage, const Stage &, std::int64_t microBatch) {
    addReturns(cycle, anchors, stage, first + microBatch);
  });
  cycle.add(copies_);
  return cycle;
}

poplar::program::Program
PipelineProgram::run(const std::vector<AnchorStream> &anchors,
                     std::int64_t first) const {
  Sequence fill("fill");
  Sequence main("main");
  Sequence flush("flush");
  std::int64_t number = 0;
  for (; number < schedule_.fillCycles(); ++number) {
    fill.add(cycle(number, anchors, first));
  }
  std::int64_t end = number + schedule_.mainCycles();
  std::int64_t rounds = schedule_.mainCycles() / period_;
  if (rounds > 1) {
    Sequence round;
    for (std::int64_t i = 0; i < period_; ++i) {
      round.add(cycle(number + i, anchors, first));
    }
    main.add(Repeat(static_cast<unsigned>(rounds), round));
    number += rounds * period_;
  }
  for (; number < end; ++number) {
    main.add(cycle(number, anchors, first));
  }
  for (; number < schedule_.cycles(); ++number) {
    flush.add(cycle(number, anchors, first));
  }
  return Sequence({fill, main, flush});
}

} // namespace popart
