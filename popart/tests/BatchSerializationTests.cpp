// Batches in parts: what the machine program has instead, and that it computes
// the same.
#include "MachineRuns.hpp"

#include <popart/error.hpp>

namespace popart::tests {
namespace {

std::shared_ptr<Ir> model(int factor) {
  auto ir = classifier(2, 4, ReductionType::Sum);
  ir->optimizer = std::make_shared<ConstSGD>(0.125f);
  ir->dataFlow = DataFlow(3, {"loss"});
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  ir->sessionOptions.batchSerializationSettings.factor = factor;
  return ir;
}

TEST(BatchSerialization, ComputesTheSame) {
  for (int factor : {2, 4}) {
    auto ir = model(factor);
    expectSame(runMachine(*ir, 2), runSession(model(0), 2), 1e-5);
  }
}

TEST(BatchSerialization, RunsLayersForPartsOfTheBatch) {
  auto ir = model(2);
  ir->sessionOptions.enableOutlining = false;
  Graph machine;
  toMachine(*ir, machine, 2);
  std::vector<std::string> forward;
  for (const auto &op : machine.getOps()) {
    if (!op->settings.isBackward && op->settings.vgraphId == 0) {
      forward.push_back(op->opid.type);
    }
  }
  // A part through the whole layer, then the other; its copy to the next IPU.
  EXPECT_EQ(forward, (std::vector<std::string>{"Slice", "MatMul", "Add", "Tanh",
                                               "Slice", "MatMul", "Add", "Tanh",
                                               "Concat", "IpuCopy"}));
}

TEST(BatchSerialization, KeepsPartsApartAcrossIpusIfAsked) {
  auto ir = model(2);
  ir->sessionOptions.batchSerializationSettings.concatOnVirtualGraphChange =
      false;
  Graph machine;
  toMachine(*ir, machine, 2);
  auto counts = countOps(machine);
  EXPECT_EQ(counts["Slice"], 2); // of the input alone
  auto again = model(2);
  again->sessionOptions.batchSerializationSettings.concatOnVirtualGraphChange =
      false;
  expectSame(runMachine(*again, 2), runSession(model(0), 2), 1e-5);
}

TEST(BatchSerialization, NeedsAFactorOfTheBatch) {
  auto ir = model(3);
  Graph machine;
  EXPECT_THROW(toMachine(*ir, machine, 2), error);
}

} // namespace
} // namespace popart::tests
