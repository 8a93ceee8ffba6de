// Replicas of one graph shared out among engines: what crosses between them is
// exchanged, and values are those of one engine that runs all.
#include "EngineProgram.hpp"
#include "ExpectError.hpp"

#include <poplar/internal/Collective.hpp>
#include <poplar/internal/ReplicaExchange.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace poplar;
using namespace poplar::program;
using internal::CollectiveKind;
using internal::CollectiveOperator;

constexpr unsigned replicas = 4;
constexpr std::size_t elements = 6;

Device deviceOf(unsigned ipus) {
  IPUModel model;
  model.numIPUs = ipus;
  return model.createDevice();
}

// Stands for what brings processes together.
class Meeting {
public:
  explicit Meeting(unsigned engines) : arrived_(engines), copied_(engines) {}

  void gather(unsigned engine, const void *own, void *all, std::size_t bytes) {
    if (engine == 0) {
      bytes_.resize(2 * bytes);
    }
    copied_.arrive_and_wait();
    std::memcpy(bytes_.data() + engine * bytes, own, bytes);
    arrived_.arrive_and_wait();
    std::memcpy(all, bytes_.data(), bytes_.size());
    copied_.arrive_and_wait();
  }

private:
  std::barrier<> arrived_, copied_;
  std::vector<std::byte> bytes_;
};

struct SharedReplicas : testing::TestWithParam<const char *> {
  SharedReplicas() : graph(deviceOf(replicas), replication_factor(replicas)) {
    x = addVariable("x", {elements});
  }

  Tensor addVariable(const std::string &name,
                     const std::vector<std::size_t> &shape) {
    Tensor tensor = graph.addVariable(FLOAT, shape, name);
    graph.setTileMapping(tensor, 0);
    graph.createHostRead(name, tensor);
    graph.createHostWrite(name, tensor);
    return tensor;
  }

  void add(internal::CollectivePlan plan, const Tensor &to) {
    if (plan.groups.empty()) {
      plan.groups = {{0, 1, 2, 3}};
    }
    internal::addCollective(program, plan, x, to, "collective");
  }

  static std::vector<float> inputs(unsigned first, unsigned count) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count * elements; ++i) {
      const auto n = static_cast<float>(first * elements + i);
      values.push_back(0.1F + n * n * 1e-3F);
    }
    return values;
  }

  // What an engine with these replicas leaves in `name`.
  std::vector<float> run(Engine &engine, unsigned first, unsigned count,
                         const std::string &name, std::size_t each) {
    engine.load(deviceOf(count));
    std::vector<float> values = inputs(first, count);
    engine.writeTensor("x", values.data(), values.data() + values.size());
    engine.run();
    std::vector<float> result(count * each);
    engine.readTensor(name, result.data(), result.data() + result.size());
    return result;
  }

  // The same values from one engine and from two.
  void expectSame(const std::string &name, std::size_t each) {
    const test::Environment executor("ASPEN_EXECUTOR", GetParam());
    const Executable executable = compileGraph(graph, {program});
    Engine whole(executable);
    const auto expected = run(whole, 0, replicas, name, each);
    Meeting meeting(2);
    std::vector<float> halves[2];
    const auto runHalf = [&](unsigned half) {
      Engine engine(executable,
                    {{"target.firstRuntimeReplica", half == 0 ? "0" : "2"},
                     {"target.numberRuntimeReplica", "2"}});
      internal::connectExchange(
          engine, [&, half](const void *own, void *all, std::size_t bytes) {
            meeting.gather(half, own, all, bytes);
          });
      halves[half] = run(engine, 2 * half, 2, name, each);
    };
    std::thread other(runHalf, 1U);
    runHalf(0);
    other.join();
    halves[0].insert(halves[0].end(), halves[1].begin(), halves[1].end());
    EXPECT_EQ(halves[0], expected);
  }

  Graph graph;
  Tensor x;
  Sequence program;
};

TEST_P(SharedReplicas, SumInTheOrderOfAll) {
  add({.kind = CollectiveKind::AllReduce}, x);
  program = Sequence({Repeat(3, program)});
  expectSame("x", elements);
}

TEST_P(SharedReplicas, ScatterAndGather) {
  const Tensor part = addVariable("part", {2});
  add({.kind = CollectiveKind::ReduceScatter, .op = CollectiveOperator::Mean},
      part);
  expectSame("part", 2);
  const Tensor whole = addVariable("whole", {replicas * elements});
  add({.kind = CollectiveKind::AllGather}, whole);
  expectSame("whole", replicas * elements);
}

TEST_P(SharedReplicas, CombineInGroupsAcrossEngines) {
  add({.kind = CollectiveKind::AllReduce, .groups = {{0, 2}, {1, 3}}}, x);
  add({.kind = CollectiveKind::AllReduce, .groups = {{0, 1}, {2, 3}}}, x);
  add({.kind = CollectiveKind::Broadcast, .root = 3}, x);
  expectSame("x", elements);
}

TEST_P(SharedReplicas, CopyAcrossEngines) {
  program.add(CrossReplicaCopy(x, x, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
  expectSame("x", elements);
}

TEST_P(SharedReplicas, KnowTheirNumbersAmongAll) {
  const Tensor number = graph.addReplicationIndexConstant();
  graph.setTileMapping(number, 0);
  program.add(Copy(number.reshape({1}).reinterpret(FLOAT), x.slice(0, 1)));
  expectSame("x", elements);
}

INSTANTIATE_TEST_SUITE_P(Executors, SharedReplicas,
                         testing::Values("reference", "fast"),
                         [](const auto &info) { return info.param; });

TEST(SharedReplicasOptions, MustBeAnEqualShare) {
  const Graph graph(deviceOf(replicas), replication_factor(replicas));
  const auto makeEngine = [&](const char *first, const char *count) {
    Engine(graph, Sequence(),
           {{"target.firstRuntimeReplica", first},
            {"target.numberRuntimeReplica", count}});
  };
  for (const auto &[first, count] :
       {std::pair("0", "3"), {"1", "2"}, {"4", "2"}, {"0", "0"}}) {
    expectError<invalid_option>([&] { makeEngine(first, count); },
                                "share of 4 replicas");
  }
}

TEST(SharedReplicasExchange, MustBeConnected) {
  Graph graph(deviceOf(2), replication_factor(2));
  const Tensor x = graph.addVariable(FLOAT, {3}, "x");
  graph.setTileMapping(x, 0);
  Engine engine(graph, CrossReplicaCopy(x, x, {{0, 1}, {1, 0}}),
                {{"target.numberRuntimeReplica", "1"}});
  engine.load(deviceOf(1));
  expectError<stream_connection_error>([&] { engine.run(); },
                                       "exchange between engines");
}

} // namespace
