// The passes on small graphs: names, stages, schedules, stashes, errors.
#include "Models.hpp"

#include <ir/GraphEditor.hpp>
#include <popart/error.hpp>
#include <transforms/Pipeline.hpp>
#include <transforms/PipelineSchedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace popart::tests {
namespace {

std::string messageOf(const std::shared_ptr<Ir> &ir, int ipus) {
  try {
    PassContext context{*ir, ir->getMainGraph(), ipus};
    runPasses(modelPasses(), context);
    Graph machine;
    GraphEditor(machine).copyFrom(ir->getMainGraph());
    PassContext machineContext{*ir, machine, ipus};
    runPasses(machinePasses(), machineContext);
  } catch (const error &e) {
    return e.what();
  }
  return {};
}

std::shared_ptr<Ir> training(int layers) {
  auto ir = classifier(layers, 2, ReductionType::Sum);
  ir->optimizer = std::make_shared<ConstSGD>(0.1f);
  ir->dataFlow = DataFlow(1, {"loss"});
  return ir;
}

std::shared_ptr<Ir> pipelined(int layers, std::int64_t factor) {
  auto ir = training(layers);
  SessionOptions &options = ir->sessionOptions;
  options.virtualGraphMode = VirtualGraphMode::Manual;
  options.enablePipelining = true;
  options.enableGradientAccumulation = true;
  options.accumulationFactor = factor;
  return ir;
}

void toMachine(Ir &ir, Graph &machine, int ipus) {
  PassContext model{ir, ir.getMainGraph(), ipus};
  runPasses(modelPasses(), model);
  GraphEditor(machine).copyFrom(ir.getMainGraph());
  PassContext context{ir, machine, ipus};
  runPasses(machinePasses(), context);
}

std::vector<const Op *> opsOfType(const Graph &graph, const std::string &type) {
  std::vector<const Op *> result;
  for (const auto &op : graph.getOps()) {
    if (op->opid.type == type) {
      result.push_back(op.get());
    }
  }
  return result;
}

TEST(Autodiff, NamesGradientsAndSumsTheirPaths) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId w = addWeight(graph, "w", {3}, 1);
  TensorId squared = add(graph, "Mul", {w, w});
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {squared}, {"loss"}, {}, {});
  ir->loss = "loss";
  ir->optimizer = std::make_shared<ConstSGD>(0.1f);
  ir->dataFlow = DataFlow(1, {"loss"});
  EXPECT_EQ(messageOf(ir, 1), "");
  ASSERT_TRUE(graph.hasTensor("Gradient___w"));
  EXPECT_EQ(graph.getTensor("Gradient___w").producer->opid.type, "Sum");
  EXPECT_EQ(graph.getTensor("Gradient___w").info, floats({3}));
  EXPECT_TRUE(graph.hasTensor("UpdatedVar___w"));
  EXPECT_TRUE(graph.hasTensor("learningRate___default___FLOAT"));
}

TEST(Autodiff, MakesGradientsOfAnchoredInputsOnly) {
  auto ir = training(1);
  ir->dataFlow = DataFlow(1, {"Gradient___x"});
  EXPECT_EQ(messageOf(ir, 1), "");
  EXPECT_TRUE(ir->getMainGraph().hasTensor("Gradient___x"));
  auto other = training(1);
  EXPECT_EQ(messageOf(other, 1), "");
  EXPECT_FALSE(other->getMainGraph().hasTensor("Gradient___x"));
}

// Of softmax and nllloss: the type of the operation that ends the gradient.
std::string lossGradientOf(const std::vector<TensorId> &anchors,
                           bool isPatternOn = true, VGraphId ipuOfLoss = 0) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId w = addWeight(graph, "w", {2, 3}, 1);
  TensorId labels = graph.addStream("labels", TensorInfo(DataType::INT32, {2}));
  graph.addOp({"ai.onnx", "Softmax"}, {w}, {"p"}, {}, onIpu(0));
  graph.addOp({"ai.graphcore", "Nllloss"}, {"p", labels}, {"loss"}, {},
              onIpu(ipuOfLoss));
  ir->loss = "loss";
  ir->optimizer = std::make_shared<ConstSGD>(0.1f);
  ir->dataFlow = DataFlow(1, anchors);
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  ir->patterns.enablePattern("SoftmaxGradDirect", isPatternOn);
  EXPECT_EQ(messageOf(ir, 2), "");
  return graph.getTensor("Gradient___w").producer->opid.type;
}

TEST(FuseLossGradients, NeedsASoftmaxThatTheLossAloneReads) {
  EXPECT_EQ(lossGradientOf({"loss"}), "SoftmaxNlllossGrad");
  EXPECT_EQ(lossGradientOf({"loss", "p"}), "SoftmaxNlllossGrad");
  EXPECT_EQ(lossGradientOf({"Gradient___p"}), "SoftmaxGrad");
  EXPECT_EQ(lossGradientOf({"loss"}, false), "SoftmaxGrad");
  EXPECT_EQ(lossGradientOf({"loss"}, true, 1), "SoftmaxGrad");
}

TEST(Prune, RemovesALossThatNobodyReads) {
  auto ir = training(1);
  ir->dataFlow = DataFlow(1);
  EXPECT_EQ(messageOf(ir, 1), "");
  EXPECT_TRUE(opsOfType(ir->getMainGraph(), "Nllloss").empty());
  EXPECT_EQ(opsOfType(ir->getMainGraph(), "SgdUpdate").size(), 2u);
}

TEST(PipelineSchedule, FoldsBackAtTheLoss) {
  auto ir = pipelined(3, 5);
  EXPECT_EQ(messageOf(ir, 4), "");
  for (int i = 0; i < 3; ++i) {
    const Tensor &velocity = ir->getMainGraph().getTensor(
        "UpdatedVar___Accl___w" + std::to_string(i));
    const Op *op = velocity.producer;
    ASSERT_NE(op, nullptr);
    EXPECT_EQ(op->settings.vgraphId, i);
    // Layer i of stage i is differentiated in stage 2 * 2 - i.
    EXPECT_EQ(op->settings.pipelineStage, 4 - op->settings.vgraphId);
  }
  PipelineSchedule schedule = pipelineSchedule(*ir, ir->getMainGraph());
  EXPECT_EQ(schedule.ipus, (std::vector<VGraphId>{0, 1, 2, 1, 0}));
}

TEST(PipelineSchedule, CountsTheCyclesOfTwoIpus) {
  auto ir = pipelined(2, 4);
  EXPECT_EQ(messageOf(ir, 2), "");
  PipelineSchedule schedule = pipelineSchedule(*ir, ir->getMainGraph());
  EXPECT_EQ(schedule.stages(), 3);
  EXPECT_EQ(schedule.fillCycles(), 2);
  EXPECT_EQ(schedule.mainCycles(), 2);
  EXPECT_EQ(schedule.flushCycles(), 2);
  EXPECT_EQ(schedule.cycles(), 6);
  EXPECT_EQ(schedule.microBatchOf(2, 1), -1);
  EXPECT_EQ(schedule.microBatchOf(2, 2), 0);
  EXPECT_EQ(schedule.microBatchOf(0, 4), -1);
}

TEST(PipelineSchedule, RunsNeighboursOnOneIpuTogether) {
  auto ir = classifier(3, 2, ReductionType::Sum);
  for (const auto &op : ir->getMainGraph().getOps()) {
    op->settings.pipelineStage = op->settings.vgraphId;
    op->settings.vgraphId = op->settings.vgraphId == 2 ? 1 : 0;
  }
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  ir->sessionOptions.enablePipelining = true;
  ir->dataFlow = DataFlow(4, {"loss"});
  EXPECT_EQ(messageOf(ir, 2), "");
  PipelineSchedule schedule = pipelineSchedule(*ir, ir->getMainGraph());
  EXPECT_EQ(schedule.stages(), 3);
  EXPECT_EQ(schedule.independentStages(), 2);
  EXPECT_EQ(schedule.fillCycles(), 1);
  EXPECT_EQ(schedule.mainCycles(), 3);
}

TEST(Pipeline, StashesWhatTheBackwardPassNeeds) {
  auto ir = pipelined(2, 4);
  Graph machine;
  toMachine(*ir, machine, 2);
  // Stage 0 to stage 2: three slots.
  auto stashes = opsOfType(machine, "Stash");
  ASSERT_FALSE(stashes.empty());
  for (const Op *stash : stashes) {
    EXPECT_EQ(stash->settings.pipelineStage, 0);
    EXPECT_EQ(stash->attributes.getInt("slots", 0), 3);
  }
  // The input x for the weights' gradient and the tanh's result for its own.
  EXPECT_EQ(stashes.size(), 2u);
  // tanh's result forward, its gradient back.
  auto copies = opsOfType(machine, "IpuCopy");
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0]->attributes.getInt("destination", -1), 1);
  EXPECT_EQ(copies[1]->attributes.getInt("destination", -1), 0);
}

TEST(Pipeline, RecomputesAStageFromItsInputs) {
  auto ir = pipelined(2, 4);
  ir->sessionOptions.autoRecomputation = RecomputationType::Pipeline;
  ir->sessionOptions.enableOutlining = false;
  Graph machine;
  toMachine(*ir, machine, 2);
  auto stashes = opsOfType(machine, "Stash");
  ASSERT_EQ(stashes.size(), 1u); // the input x
  EXPECT_EQ(stashes[0]->inputs[0], "x");
  EXPECT_EQ(opsOfType(machine, "Tanh").size(), 2u);
  EXPECT_EQ(opsOfType(machine, "LogSoftmax").size(), 1u);
}

TEST(Pipeline, ChainsCopiesThroughTheStagesBetween) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId x = graph.addStream("x", floats({2}));
  TensorId a = add(graph, "Tanh", {x}, {}, onIpu(0));
  TensorId b = add(graph, "Tanh", {a}, {}, onIpu(1));
  graph.addOp({"ai.onnx", "Add"}, {a, b}, {"sum"}, {}, onIpu(2));
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  ir->sessionOptions.enablePipelining = true;
  ir->dataFlow = DataFlow(3, {"sum"});
  Graph machine;
  toMachine(*ir, machine, 4);
  // a to IPU 1, from there to 2; b to 2.
  EXPECT_EQ(opsOfType(machine, "IpuCopy").size(), 3u);
  EXPECT_TRUE(opsOfType(machine, "Stash").empty());
}

TEST(Sharding, CopiesOncePerIpu) {
  auto ir = training(2);
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  Graph machine;
  toMachine(*ir, machine, 2);
  EXPECT_EQ(opsOfType(machine, "IpuCopy").size(), 2u);
  EXPECT_TRUE(machine.hasTensor("learningRate___default___FLOAT___ipu1") ||
              machine.hasTensor("learningRate___default___FLOAT___ipu0"));
}

TEST(Sharding, CopiesTogetherWhatGoesTheSameWay) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId x = graph.addStream("x", floats({4}));
  TensorId a = add(graph, "Tanh", {x}, {}, onIpu(0));
  TensorId b = add(graph, "Sigmoid", {x}, {}, onIpu(0));
  TensorId c = add(graph, "Add", {a, b}, {}, onIpu(1));
  // Made too late for the first copy, and read on a third IPU.
  TensorId d = add(graph, "Mul", {a, b}, {}, onIpu(0));
  TensorId e = add(graph, "Mul", {c, d}, {}, onIpu(1));
  graph.addOp({"ai.onnx", "Add"}, {e, a}, {"y"}, {}, onIpu(2));
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  ir->dataFlow = DataFlow(1, {"y"});
  Graph machine;
  toMachine(*ir, machine, 4);
  std::vector<std::vector<TensorId>> copied;
  for (const Op *op : opsOfType(machine, "IpuCopy")) {
    copied.push_back(op->inputs);
    EXPECT_EQ(op->outputs.size(), op->inputs.size());
  }
  EXPECT_EQ(copied,
            (std::vector<std::vector<TensorId>>{{a, b}, {d}, {e}, {a}}));
}

TEST(AutoVirtualGraph, SplitsByCost) {
  auto ir = training(2);
  for (const auto &op : ir->getMainGraph().getOps()) {
    op->settings.vgraphId = unusedVGraphId;
  }
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Auto;
  EXPECT_EQ(messageOf(ir, 2), "");
  auto products = opsOfType(ir->getMainGraph(), "MatMul");
  EXPECT_EQ(products[0]->settings.vgraphId, 0);
  EXPECT_EQ(products[1]->settings.vgraphId, 1);
}

// Four products with weights of equal size, to run on IPUs by these ratios.
std::shared_ptr<Ir> chain(const std::vector<float> &ratios) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId x = graph.addStream("x", floats({2, 4}));
  for (int i = 0; i < 4; ++i) {
    std::string name = "w" + std::to_string(i);
    x = add(graph, "MatMul", {x, addWeight(graph, name, {4, 4}, 1)});
  }
  ir->dataFlow = DataFlow(1, {x});
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Auto;
  ir->sessionOptions.virtualGraphSplitRatios = ratios;
  return ir;
}

TEST(AutoVirtualGraph, FollowsRatios) {
  auto ipusBy = [](const std::vector<float> &ratios, int ipus) {
    auto ir = chain(ratios);
    EXPECT_EQ(messageOf(ir, ipus), "");
    std::vector<VGraphId> result;
    for (const Op *op : opsOfType(ir->getMainGraph(), "MatMul")) {
      result.push_back(op->settings.vgraphId);
    }
    return result;
  };
  using Ids = std::vector<VGraphId>;
  EXPECT_EQ(ipusBy({}, 1), (Ids{0, 0, 0, 0}));
  EXPECT_EQ(ipusBy({}, 2), (Ids{0, 0, 1, 1}));
  EXPECT_EQ(ipusBy({0.25f, 0.75f}, 2), (Ids{0, 1, 1, 1}));
  EXPECT_EQ(ipusBy({0.7f, 0.3f}, 2), (Ids{0, 0, 0, 1}));
  EXPECT_EQ(ipusBy({}, 4), (Ids{0, 1, 2, 3}));
}

TEST(AutoVirtualGraph, ChecksRatiosAndCuts) {
  auto has = [](const std::string &message, const std::string &part) {
    return message.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(messageOf(chain({0.5f}), 2), "one for each of the 2 IPUs"));
  EXPECT_TRUE(has(messageOf(chain({1.5f, -0.5f}), 2), "between 0 and 1"));
  EXPECT_TRUE(has(messageOf(chain({0.5f, 0.25f}), 2), "must be 1"));
  EXPECT_TRUE(
      has(messageOf(chain({}), 8), "Couldn't find enough splits for 8 IPUs"));
}

// Bytes: x and w for Mul, the result for Exp, nothing for Neg. Half of all 804
// is nearest to the 404 of Mul.
TEST(AutoVirtualGraph, CountsWhatTheBackwardPassKeeps) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({100}));
  TensorId a = add(graph, "Mul", {"x", addWeight(graph, "w", {1}, 1)});
  for (int i = 0; i < 3; ++i) {
    a = add(graph, "Neg", {a});
  }
  a = add(graph, "Exp", {a});
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {a}, {"loss"},
              Attributes().set("reduction", Attributes::Int{0}), {});
  ir->loss = "loss";
  ir->optimizer = std::make_shared<ConstSGD>(0.5f);
  ir->dataFlow = DataFlow(1, {"loss"});
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Auto;
  EXPECT_EQ(messageOf(ir, 2), "");
  const Op &first = *graph.getOps().front();
  EXPECT_EQ(first.settings.vgraphId, 0);
  EXPECT_EQ(
      graph.getTensor(first.outputs[0]).consumers.front()->settings.vgraphId,
      1);
}

TEST(Checks, NameWhatIsWrongWithTheOptions) {
  auto ir = training(2);
  ir->sessionOptions.accumulationFactor = 4;
  EXPECT_EQ(messageOf(ir, 1).rfind("enableGradientAccumulation is false, but "
                                   "accumulationFactor > 1. Either enable",
                                   0),
            0u);
  ir = classifier(2, 2, ReductionType::Sum);
  ir->sessionOptions.enableGradientAccumulation = true;
  EXPECT_EQ(messageOf(ir, 1),
            "Gradient Accumulation only available when training.");
  ir = pipelined(2, 4);
  EXPECT_EQ(messageOf(ir, 1),
            "Pipelining requires more than 1 IPU (currently 1) and the "
            "'virtualGraphMode' session option to not be "
            "VirtualGraphMode::Off (currently VirtualGraphMode::Manual).");
}

TEST(Checks, NameWhatIsWrongWithLossAndAnchors) {
  auto ir = training(2);
  ir->loss = "nothing";
  EXPECT_EQ(messageOf(ir, 1),
            "Could not find loss tensor 'nothing' in main graph tensors");
  ir = training(2);
  ir->loss = "w0";
  EXPECT_EQ(messageOf(ir, 1), "Loss tensor, 'w0', must be a scalar tensor");
  ir = training(2);
  ir->dataFlow = DataFlow(1, {"nothing"});
  EXPECT_EQ(messageOf(ir, 1), "Anchor tensor `nothing' not in Ir Tensors.");
  ir = classifier(2, 2, ReductionType::Sum);
  EXPECT_EQ(messageOf(ir, 1),
            "User must specify an anchor tensor when doing inference.");
}

TEST(Checks, NameWhatIsWrongWithThePipeline) {
  EXPECT_EQ(messageOf(pipelined(2, 2), 2)
                .rfind("For pipelining, depth (gradient accumulation factor) "
                       "must equal at least the number of pipeline stages (3)",
                       0),
            0u);
  auto ir = pipelined(2, 4);
  (*ir->getMainGraph().getOps().begin())->settings.pipelineStage = 0;
  EXPECT_EQ(messageOf(ir, 2).rfind("Only some ops have had their pipeline "
                                   "stage set.",
                                   0),
            0u);
  ir = pipelined(2, 8);
  for (const auto &op : ir->getMainGraph().getOps()) {
    op->settings.pipelineStage = 2 * op->settings.vgraphId;
  }
  EXPECT_EQ(messageOf(ir, 2).rfind("The set of pipeline stages for all Ops "
                                   "contains 2 stages, but stage 1 is missing",
                                   0),
            0u);
  ir = pipelined(2, 8);
  for (const auto &op : ir->getMainGraph().getOps()) {
    op->settings.pipelineStage = 0;
  }
  EXPECT_NE(messageOf(ir, 2).find("All ops with the same pipeline stage must "
                                  "also have the same virtual graph id"),
            std::string::npos);
}

TEST(Checks, NameWhatIsWrongWithVirtualGraphs) {
  auto ir = training(2);
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  for (const auto &op : ir->getMainGraph().getOps()) {
    op->settings.vgraphId = unusedVGraphId;
  }
  EXPECT_NE(messageOf(ir, 2).find("no Ops have been annotated with virtual "
                                  "graph information"),
            std::string::npos);
}

TEST(Checks, RefuseAWeightOnTwoPipelinedIpus) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId x = graph.addStream("x", floats({2, 3}));
  TensorId w = addWeight(graph, "w", {3, 3}, 1);
  TensorId a = add(graph, "MatMul", {x, w}, {}, onIpu(0));
  graph.addOp({"ai.onnx", "MatMul"}, {a, w}, {"y"}, {}, onIpu(1));
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  ir->sessionOptions.enablePipelining = true;
  ir->dataFlow = DataFlow(2, {"y"});
  EXPECT_EQ(messageOf(ir, 2).rfind("Can not copy variable tensor w between "
                                   "virtual graphs when pipelining.",
                                   0),
            0u);
}

} // namespace
} // namespace popart::tests
