// Seeds for the operations that draw random numbers. Each stage and phase on
// each IPU has a copy of the session's seed, and counts the micro-batches
// itself: the numbers of a micro-batch are the same wherever and whenever it
// runs.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <ops/OpRule.hpp>
#include <popart/tensornames.hpp>

#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace popart {
namespace {

class SeedInserter {
public:
  explicit SeedInserter(PassContext &context)
      : ir_(context.ir), graph_(context.graph), editor_(context.graph) {}

  void run() {
    for (Op *op : randomOps(graph_)) {
      giveSeed(editor_, *op, seedFor(*op));
    }
  }

private:
  InIndex seedInputOf(const Op &op) const {
    return op.requiresRandomSeed() ? op.getSeedInIndex()
           : op.rule().seedInput   ? op.rule().seedInput(op, ir_.isTraining())
                                   : -1;
  }

  bool drawsInside(const Op &op) const {
    for (const Graph *body : op.getCalledGraphs()) {
      for (const auto &inner : body->getOps()) {
        if (seedInputOf(*inner) >= 0 || drawsInside(*inner)) {
          return true;
        }
      }
    }
    return false;
  }

  // Those that draw random numbers, themselves or in their subgraphs.
  std::vector<Op *> randomOps(const Graph &graph) const {
    std::vector<Op *> found;
    for (const auto &op : graph.getOps()) {
      if (seedInputOf(*op) >= 0 || drawsInside(*op)) {
        found.push_back(op.get());
      }
    }
    return found;
  }

  void giveSeed(GraphEditor &editor, Op &op, const TensorId &seed) {
    ++modifier_;
    InIndex input = seedInputOf(op);
    if (input < 0) {
      giveToBodies(editor, op, seed);
      return;
    }
    op.attributes.set("seedModifier", modifier_);
    editor.addInput(op, input,
                    op.requiresRandomSeed() ? ownSeed(editor, op, seed) : seed);
  }

  // The bodies read the seed as they read what they capture. Operations may
  // share bodies, but not their numbers.
  void giveToBodies(GraphEditor &editor, Op &op, const TensorId &seed) {
    auto last = static_cast<InIndex>(op.inputs.size());
    editor.addInput(op, last, ownSeed(editor, op, seed));
    op.attributes.set("captured", op.attributes.getInt("captured", 0) + 1)
        .set("seed", Attributes::Int{last});
    for (const Graph *called : op.getCalledGraphs()) {
      if (seeded_.insert(called).second) {
        seedBody(ir_.getGraph(called->id));
      }
    }
  }

  void seedBody(Graph &body) {
    GraphEditor editor(body);
    TensorId seed = body.addInput(editor.uniqueName(reservedRandomSeedId()),
                                  TensorInfo(DataType::UINT32, {2}));
    for (Op *op : randomOps(body)) {
      giveSeed(editor, *op, seed);
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

  // Classes of users and subgraphs know of no modifier: each operation has
  // another seed.
  TensorId ownSeed(GraphEditor &editor, const Op &op, const TensorId &seed) {
    Op::Settings place = op.settings;
    place.name += "/seed";
    return editor
        .insertBefore(&op, {"aspen", "Elementwise"}, {seed},
                      std::vector<TensorId>(1),
                      Attributes()
                          .set("expression", "s+" + std::to_string(modifier_))
                          .set("operands", Attributes::String("s"))
                          .set("shape", Attributes::Ints{2}),
                      place)
        .outputs[0];
  }

  Ir &ir_;
  Graph &graph_;
  GraphEditor editor_;
  std::int64_t modifier_ = 0;
  std::map<Place, TensorId> seeds_;
  std::set<const Graph *> seeded_; // bodies that have a seed
};

} // namespace

void insertSeeds(PassContext &context) {
  SeedInserter(context).run();
}

} // namespace popart
