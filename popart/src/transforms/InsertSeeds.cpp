// Seeds for the operations that draw random numbers. Each stage and phase on
// each IPU has a copy of the session's seed, and counts the micro-batches
// itself: the numbers of a micro-batch are the same wherever and whenever it
// runs.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <ops/OpRule.hpp>
#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>

#include <map>
#include <tuple>
#include <utility>

namespace popart {
namespace {

class SeedInserter {
public:
  explicit SeedInserter(PassContext &context)
      : graph_(context.graph), editor_(context.graph),
        isTraining_(context.ir.isTraining()) {}

  void run() {
    std::vector<std::pair<Op *, InIndex>> random;
    for (const auto &op : graph_.getOps()) {
      if (InIndex input = seedInputOf(*op); input >= 0) {
        random.emplace_back(op.get(), input);
      }
      requireNone(op->getCalledGraphs());
    }
    std::int64_t modifier = 0;
    for (const auto &[op, input] : random) {
      op->attributes.set("seedModifier", ++modifier);
      TensorId seed = seedFor(*op);
      editor_.addInput(*op, input,
                       op->requiresRandomSeed() ? ownSeed(*op, seed, modifier)
                                                : seed);
    }
  }

private:
  InIndex seedInputOf(const Op &op) const {
    return op.requiresRandomSeed() ? op.getSeedInIndex()
           : op.rule().seedInput   ? op.rule().seedInput(op, isTraining_)
                                   : -1;
  }

  // A loop would have to count its turns.
  void requireNone(const std::vector<const Graph *> &subgraphs) const {
    for (const Graph *subgraph : subgraphs) {
      for (const auto &op : subgraph->getOps()) {
        support::requireUser<error>(
            seedInputOf(*op) < 0,
            "[{}] draws random numbers inside of subgraph {}, which is not "
            "supported",
            op->str(), subgraph->id);
        requireNone(op->getCalledGraphs());
      }
    }
  }

  using Place = std::tuple<VGraphId, PipelineStage, ExecutionPhase>;

  // The micro-batch's seed, as one stage on one IPU has it, made before the
  // first operation that reads it there.
  TensorId seedFor(const Op &op) {
    const Op::Settings &settings = op.settings;
    TensorId &seed = seeds_[{settings.vgraphId, settings.pipelineStage,
                             settings.executionPhase}];
    if (seed.empty()) {
      TensorId state = reservedRandomSeedId();
      if (graph_.hasTensor(state)) {
        state = editor_.uniqueName(state);
      }
      const std::uint32_t start[] = {0, 0, 0};
      graph_.addVariable(state, TensorInfo(DataType::UINT32, {3}), start);
      graph_.getTensor(state).variableUpdateType = VariableUpdateType::None;
      Op::Settings place;
      place.name = "randomSeed";
      place.vgraphId = settings.vgraphId;
      place.pipelineStage = settings.pipelineStage;
      place.executionPhase = settings.executionPhase;
      seed = editor_
                 .insertBefore(&op, {"aspen", "NextSeed"}, {state},
                               std::vector<TensorId>(2), {}, place)
                 .outputs[0];
    }
    return seed;
  }

  // Classes of users know of no modifier: each operation has another seed.
  TensorId ownSeed(const Op &op, const TensorId &seed, std::int64_t modifier) {
    Op::Settings place = op.settings;
    place.name += "/seed";
    return editor_
        .insertBefore(&op, {"aspen", "Elementwise"}, {seed},
                      std::vector<TensorId>(1),
                      Attributes()
                          .set("expression", "s+" + std::to_string(modifier))
                          .set("operands", Attributes::String("s"))
                          .set("shape", graph_.getTensor(seed).info.shape()),
                      place)
        .outputs[0];
  }

  Graph &graph_;
  GraphEditor editor_;
  bool isTraining_;
  std::map<Place, TensorId> seeds_;
};

} // namespace

void insertSeeds(PassContext &context) {
  SeedInserter(context).run();
}

} // namespace popart
