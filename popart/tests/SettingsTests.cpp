// Options that are refused, whatever the model is.
#include "Models.hpp"

#include <popart/error.hpp>
#include <transforms/Pipeline.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <ostream>

namespace popart::tests {
namespace {

struct Case {
  const char *name;
  std::function<void(SessionOptions &)> set;
  const char *message; // or a part of it
};

void PrintTo(const Case &test, std::ostream *out) {
  *out << test.name;
}

class Settings : public testing::TestWithParam<Case> {};

TEST_P(Settings, AreRefused) {
  auto ir = classifier(2, 2, ReductionType::Sum);
  ir->optimizer = std::make_shared<ConstSGD>(0.125f);
  ir->dataFlow = DataFlow(2, {{"loss", AnchorReturnType("EveryN", 2)}});
  GetParam().set(ir->sessionOptions);
  std::string message;
  try {
    PassContext context{*ir, ir->getMainGraph(), 2};
    runPasses(modelPasses(), context);
  } catch (const error &e) {
    message = e.what();
  }
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

void distribute(SessionOptions &options) {
  options.enableDistributedReplicatedGraphs = true;
  options.globalReplicationFactor = 4;
  options.enableReplicatedGraphs = true;
  options.replicatedGraphCount = 2;
}

INSTANTIATE_TEST_SUITE_P(
    Options, Settings,
    testing::Values(
        Case{"NoReplicas",
             [](SessionOptions &options) {
               distribute(options);
               options.globalReplicationFactor = 0;
             },
             "globalReplicationFactor (0) must be at least 1"},
        Case{"OffsetBeyondTheEnd",
             [](SessionOptions &options) {
               distribute(options);
               options.globalReplicaOffset = 5;
             },
             "globalReplicaOffset (5)"},
        Case{"MoreLocalThanGlobal",
             [](SessionOptions &options) {
               distribute(options);
               options.replicatedGraphCount = 5;
             },
             "replicatedGraphCount (5) is more than"},
        Case{"OffsetOfNoProcess",
             [](SessionOptions &options) {
               distribute(options);
               options.globalReplicaOffset = 1;
             },
             "must be multiples of the replicas of this process (2)"},
        Case{"OneLocalReplica",
             [](SessionOptions &options) {
               distribute(options);
               options.replicatedGraphCount = 1;
             },
             "Local replicated graphs enabled but replication factor is 1"},
        Case{"OddIoTiles",
             [](SessionOptions &options) { options.numIOTiles = 33; },
             "numIOTiles (33) must be even and at least 32"},
        Case{"PipelineHalfExplicit",
             [](SessionOptions &options) {
               options.enableExplicitIR(true);
               options.explicitRecomputation = false;
               options.enablePipelining = true;
             },
             "SessionOption 'explicitRecomputation' must be true."},
        Case{"ExplicitPipelineWithEveryN",
             [](SessionOptions &options) {
               options.enableExplicitIR(true);
               options.enablePipelining = true;
             },
             "EveryN"},
        Case{"SerialLoopForward",
             [](SessionOptions &options) {
               options.batchSerializationSettings.factor = 2;
               options.batchSerializationSettings.method =
                   BatchSerializationMethod::Loop;
             },
             "method Loop needs transformContext Bwd"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace popart::tests
