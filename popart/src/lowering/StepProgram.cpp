// The loops of a step, and what of them is returned to the host when.
#include <lowering/StepProgram.hpp>

#include <lowering/Functions.hpp>
#include <lowering/HostTensors.hpp>
#include <lowering/PipelineProgram.hpp>

#include <poplar/CSRFunctions.hpp>
#include <poputil/internal/Tiles.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace popart {
namespace {

using poplar::program::Program;
using poplar::program::Repeat;
using poplar::program::Sequence;
using poplar::program::Sync;

// Which turn of a loop: transfers that overlap have nothing to load in the last
// and nothing to store in the first.
struct Turn {
  bool isFirst = false;
  bool isLast = false;
};

Program repeat(std::int64_t count, const Program &body) {
  return count == 1 ? body : Repeat(static_cast<unsigned>(count), body);
}

// The part of a graph that operations run on: all but the last numIOTiles of
// each IPU, which are for transfers.
poplar::Graph computeTiles(poplar::Graph &graph,
                           const SessionOptions &options) {
  auto ioTiles = static_cast<unsigned>(options.numIOTiles);
  return ioTiles == 0 ? graph.getTopLevelGraph()
                      : graph.createVirtualGraph(
                            graph.getTarget().getTilesPerIPU() - ioTiles);
}

// After how many micro-batches the pattern of EveryN anchors repeats.
std::int64_t anchorPeriod(const Ir &ir) {
  std::int64_t period = 1;
  for (const auto &[id, type] : ir.dataFlow.getAnchorReturnTypeMap()) {
    period = std::lcm(period, std::int64_t{type.rp()});
  }
  return period;
}

// What other stages read, or stashes, copies between stages and copies to
// variables: they come when all of a stage has run.
bool isReadLate(const Op &op, const TensorId &output, const Graph &graph) {
  const auto &readers = graph.getTensor(output).consumers;
  PipelineStage stage = op.settings.pipelineStage;
  return std::any_of(readers.begin(), readers.end(), [&](const Op *reader) {
    const std::string &type = reader->opid.type;
    return reader->settings.pipelineStage != stage || type == "Stash" ||
           type == "CopyVarUpdate" ||
           (type == "IpuCopy" && stage != unusedPipelineStage);
  });
}

// The variable that an output is a new version of; empty if of none.
TensorId variableBehind(const Op &op, std::size_t output) {
  InIndex modified = op.modifiedInput(static_cast<OutIndex>(output));
  return modified < 0 ? TensorId()
                      : op.inputs[static_cast<std::size_t>(modified)];
}

// A view would not keep the value of a variable that micro-batches overwrite.
void findOverwritten(LoweringContext &context, const Graph &graph) {
  for (const auto &op : graph.getOps()) {
    bool isNormal = op->settings.executionContext == ExecutionContext::Normal;
    for (std::size_t i = 0; isNormal && i < op->outputs.size(); ++i) {
      TensorId variable = variableBehind(*op, i);
      if (variable.empty() && isReadLate(*op, op->outputs[i], graph)) {
        context.addReadLate(op->outputs[i]);
      } else if (context.hasTensor(variable)) {
        context.addOverwritten(context.tensor(variable));
      }
    }
  }
}

class StepLowering {
public:
  StepLowering(const Ir &ir, const Graph &graph, poplar::Graph &target,
               StepForm form)
      : ir_(ir), graph_(graph), tiles_(computeTiles(target, ir.sessionOptions)),
        context_(tiles_, ir.sessionOptions),
        exchange_(!form.isMachine    ? HostExchange::Direct
                  : form.isPipelined ? HostExchange::ThroughIoTiles
                                     : HostExchange::Overlapped),
        inputs_(addHostTensors(context_, ir, graph, exchange_)),
        factor_(ir.sessionOptions.getAccumulationFactor()),
        batches_(ir.dataFlow.batchesPerStep()), pattern_(anchorPeriod(ir)),
        period_(std::lcm(pattern_, factor_) / factor_),
        turns_(ir.sessionOptions.getGlobalReplicationFactor() /
               std::int64_t{target.getReplicationFactor()}) {
    findOverwritten(context_, graph);
  }

  Program lower(bool isPipelined) {
    isPipelined ? lowerPipeline() : lowerOperations();
    anchors_ = addAnchors(context_, ir_, graph_, turns_, exchange_);
    overlaps_ = hasOverlap(inputs_) || hasOverlap(anchors_);
    Sequence step("step");
    if (ir_.sessionOptions.enableStochasticRounding) {
      poplar::setStochasticRounding(context_.graph(), step, true,
                                    "stochasticRounding");
    }
    for (const AnchorStream &anchor : anchors_) {
      step.add(anchor.reset);
    }
    addFirstLoads(step, false);
    // Batches differ only in the anchors they return.
    step.add(loop(batches_ / period_, [&](Turn turn) {
      Sequence period;
      for (std::int64_t batch = 0; batch < period_; ++batch) {
        period.add(lowerBatch(batch, {turn.isFirst && batch == 0,
                                      turn.isLast && batch + 1 == period_}));
      }
      return period;
    }));
    addLastStores(step, false);
    for (const AnchorStream &anchor : anchors_) {
      if (anchor.type.id() == AnchorReturnTypeId::Sum ||
          anchor.type.id() == AnchorReturnTypeId::Final) {
        step.add(anchor.copy);
      }
    }
    return step;
  }

private:
  static bool isUpdate(const Op &op) {
    return op.settings.executionContext != ExecutionContext::Normal;
  }

  void lowerOperations() {
    for (const auto &op : graph_.getOps()) {
      functions_.lower(context_, *op,
                       isUpdate(*op)                    ? update_
                       : op->opid.type == "SumOfCopies" ? begin_
                                                        : compute_);
    }
  }

  template <typename Streams> static bool hasOverlap(const Streams &streams) {
    return std::any_of(streams.begin(), streams.end(), [](const auto &stream) {
      return stream.strategy != ExchangeStrategy::JustInTime;
    });
  }

  // `count` turns; the ends are apart where transfers overlap.
  template <typename F> Program loop(std::int64_t count, F &&body) const {
    if (!overlaps_) {
      return repeat(count, body(Turn()));
    }
    if (count == 1) {
      return body(Turn{true, true});
    }
    Sequence turns({body(Turn{true, false})});
    if (count > 2) {
      turns.add(repeat(count - 2, body(Turn())));
    }
    turns.add(body(Turn{false, true}));
    return turns;
  }

  // OverlapInnerLoop is about the micro-batches between two updates, and else,
  // or if there is one only, about all of the step.
  bool isPerBatch(ExchangeStrategy strategy) const {
    return strategy == ExchangeStrategy::OverlapInnerLoop && factor_ > 1;
  }

  template <typename Stream>
  bool isOverlapped(const Stream &stream, bool perBatch) const {
    return stream.strategy != ExchangeStrategy::JustInTime &&
           isPerBatch(stream.strategy) == perBatch;
  }

  void addFirstLoads(Sequence &program, bool perBatch) const {
    for (const InputStream &input : inputs_) {
      if (isOverlapped(input, perBatch)) {
        program.add(input.load);
      }
    }
  }

  void addLastStores(Sequence &program, bool perBatch) const {
    for (const AnchorStream &anchor : anchors_) {
      if (isOverlapped(anchor, perBatch)) {
        program.add(anchor.store);
      }
    }
  }

  // Without accumulation an update belongs to the micro-batch, and so do the
  // variables that it leaves; where replicas take turns it comes after all.
  bool isReturnedLate(const AnchorStream &anchor) const {
    if (turns_ == 1 || ir_.sessionOptions.enableGradientAccumulation) {
      return false;
    }
    const Tensor &tensor = graph_.getTensor(anchor.id);
    if (tensor.producer) {
      return isUpdate(*tensor.producer);
    }
    return tensor.type == TensorType::Variable &&
           std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                       [](const Op *op) { return isUpdate(*op); });
  }

  void lowerPipeline() {
    pipeline_.emplace(context_, functions_, ir_, graph_, inputs_);
    for (const auto &op : graph_.getOps()) {
      if (isUpdate(*op)) {
        functions_.lower(context_, *op, update_);
      }
    }
    if (!ir_.sessionOptions.enableGradientAccumulation) {
      // All batches of the step are the micro-batches of one fill and flush.
      batches_ = 1;
      period_ = 1;
    }
  }

  // Which turns of their loops a micro-batch is.
  struct Place {
    Turn ofBatch;
    Turn ofStep;
  };

  // Without the inputs that replicas share, if they take turns.
  Program lowerMicroBatch(std::int64_t microBatch, const Place &place) const {
    auto turnOf = [&](ExchangeStrategy strategy) {
      return isPerBatch(strategy) ? place.ofBatch : place.ofStep;
    };
    Sequence program;
    for (const InputStream &input : inputs_) {
      if (!isShared(input)) {
        program.add(input.copy);
      }
    }
    for (const InputStream &input : inputs_) {
      if (input.strategy != ExchangeStrategy::JustInTime &&
          !turnOf(input.strategy).isLast) {
        program.add(input.load); // the next one's
      }
    }
    for (const AnchorStream &anchor : anchors_) {
      if (anchor.strategy != ExchangeStrategy::JustInTime &&
          !turnOf(anchor.strategy).isFirst) {
        program.add(anchor.store); // the last one's
      }
    }
    program.add(compute_);
    for (const AnchorStream &anchor : anchors_) {
      if (!isReturnedLate(anchor)) {
        addReturns(program, {anchor}, anchor.stage, microBatch);
      }
    }
    return program;
  }

  bool isShared(const InputStream &input) const {
    return turns_ > 1 && input.isBroadcast;
  }

  bool isAnyShared() const {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [&](auto &input) { return isShared(input); });
  }

  Sequence sharedInputs() const {
    Sequence shared;
    for (const InputStream &input : inputs_) {
      if (isShared(input)) {
        shared.add(input.copy);
      }
    }
    return shared;
  }

  bool returnTheSame(std::int64_t a, std::int64_t b) const {
    return std::all_of(anchors_.begin(), anchors_.end(),
                       [&](const AnchorStream &anchor) {
                         return isReturned(anchor, a) == isReturned(anchor, b);
                       });
  }

  // Micro-batches [first, first + count), each as often as replicas take turns:
  // a loop for each run of them that returns the same anchors.
  Program lowerRuns(std::int64_t first, std::int64_t count, Turn ofBatch,
                    Turn ofStep) const {
    Sequence shared = sharedInputs();
    Sequence program;
    std::int64_t begin = 0;
    while (begin < count) {
      std::int64_t end = begin + 1;
      while (end < count && returnTheSame(first + begin, first + end)) {
        ++end;
      }
      std::int64_t number = first + begin;
      if (isAnyShared()) {
        program.add(repeat(
            end - begin,
            Sequence({shared, repeat(turns_, lowerMicroBatch(number, {}))})));
      } else {
        program.add(loop((end - begin) * turns_, [&](Turn turn) {
          Turn inBatch{turn.isFirst && begin == 0 && ofBatch.isFirst,
                       turn.isLast && end == count && ofBatch.isLast};
          return lowerMicroBatch(number, {inBatch,
                                          {inBatch.isFirst && ofStep.isFirst,
                                           inBatch.isLast && ofStep.isLast}});
        }));
      }
      begin = end;
    }
    return program;
  }

  Program lowerMicroBatches(std::int64_t batch, Turn ofStep) const {
    std::int64_t first = batch * factor_;
    bool isRegular = pattern_ > 1 && factor_ % pattern_ == 0;
    if (!isRegular) {
      return lowerRuns(first, factor_, {true, true}, ofStep);
    }
    return loop(factor_ / pattern_, [&](Turn turn) {
      return lowerRuns(first, pattern_, turn, ofStep);
    });
  }

  Program lowerBatch(std::int64_t batch, Turn ofStep) const {
    if (pipeline_) {
      return Sequence({pipeline_->run(anchors_, batch * factor_), update_});
    }
    Sequence program({begin_});
    // What overlaps with the micro-batches only does not with their update.
    auto isPerBatchStream = [&](const auto &stream) {
      return isOverlapped(stream, true);
    };
    bool isApart =
        std::any_of(inputs_.begin(), inputs_.end(), isPerBatchStream) ||
        std::any_of(anchors_.begin(), anchors_.end(), isPerBatchStream);
    auto sync = [&] {
      if (isApart) {
        program.add(Sync(poplar::SyncType::INTERNAL));
      }
    };
    sync();
    addFirstLoads(program, true);
    program.add(lowerMicroBatches(batch, ofStep));
    addLastStores(program, true);
    sync();
    program.add(update_);
    Sequence late;
    for (const AnchorStream &anchor : anchors_) {
      if (isReturnedLate(anchor)) { // a batch is one micro-batch
        addReturns(late, {anchor}, anchor.stage, batch);
      }
    }
    program.add(repeat(turns_, late));
    return program;
  }

  const Ir &ir_;
  const Graph &graph_;
  poplar::Graph tiles_; // that compute
  LoweringContext context_;
  Functions functions_;
  HostExchange exchange_;
  std::vector<InputStream> inputs_;
  std::vector<AnchorStream> anchors_;
  std::optional<PipelineProgram> pipeline_;
  Sequence begin_{"begin"};
  Sequence compute_{"microBatch"};
  Sequence update_{"update"};
  bool overlaps_ = false;
  std::int64_t factor_;
  std::int64_t batches_;
  std::int64_t pattern_; // of anchors, in micro-batches
  std::int64_t period_;  // of it, in batches
  std::int64_t turns_;   // replicas that run their micro-batches in turn
};

} // namespace

Program lowerStep(const Ir &ir, const Graph &graph, poplar::Graph &target,
                  StepForm form) {
  poputil::internal::takeTurns(target);
  return StepLowering(ir, graph, target, form).lower(form.isPipelined);
}

} // namespace popart
