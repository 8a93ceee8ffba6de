// How busy devices are: the arithmetic by hand, and programs that run.
#include "OwnRegistry.hpp"

#include "device/Activity.hpp"

#include <poplar/Engine.hpp>
#include <poplar/internal/Hardware.hpp>

#include <chrono>
#include <thread>

namespace poplar {
namespace {

using internal::Activity;
using internal::Utilisation;

// Times in these tests are milliseconds.
std::uint64_t ns(std::uint64_t ms) {
  return ms * 1'000'000;
}

void addRun(Activity &activity, std::uint64_t begin, std::uint64_t end) {
  internal::beginBusy(activity, ns(begin));
  internal::endBusy(activity, ns(end));
}

Utilisation at(const Activity &activity, std::uint64_t attached,
               std::uint64_t now) {
  return internal::utilisationOf(activity, ns(attached), ns(now));
}

TEST(DeviceActivity, IsTheShareOfTime) {
  Activity activity;
  addRun(activity, 10'000, 10'500);
  const Utilisation half = at(activity, 10'000, 11'000);
  EXPECT_DOUBLE_EQ(half.recent, 0.5);
  EXPECT_DOUBLE_EQ(half.session, 0.5);
  EXPECT_EQ(at(activity, 10'000, 10'000).session, 0);
}

TEST(DeviceActivity, RecentTimeForgets) {
  Activity activity;
  addRun(activity, 10'000, 12'000);
  EXPECT_EQ(at(activity, 10'000, 12'000).recent, 1);
  EXPECT_EQ(at(activity, 10'000, 14'000).recent, 0);
  EXPECT_EQ(at(activity, 10'000, 14'000).session, 0.5);
  // The ring of slots came round: what is left in it is not recent.
  EXPECT_EQ(at(activity, 10'000, 10'000 + 16 * 125 * 100).recent, 0);
  addRun(activity, 14'500, 15'000);
  EXPECT_DOUBLE_EQ(at(activity, 10'000, 15'000).recent, 0.5);
}

TEST(DeviceActivity, CountsARunThatHasNotEnded) {
  Activity activity;
  internal::beginBusy(activity, ns(20'000));
  EXPECT_EQ(at(activity, 10'000, 30'000).recent, 1);
  EXPECT_EQ(at(activity, 10'000, 30'000).session, 0.5);
  EXPECT_DOUBLE_EQ(at(activity, 10'000, 20'250).recent, 0.25 / 1);
}

TEST(DeviceActivity, AddsUpShortRuns) {
  Activity activity;
  for (std::uint64_t t = 10'000; t < 13'000; t += 10) {
    addRun(activity, t, t + 3);
  }
  EXPECT_NEAR(at(activity, 10'000, 13'000).recent, 0.3, 0.01);
  EXPECT_NEAR(at(activity, 10'000, 13'000).session, 0.3, 0.001);
}

TEST(DeviceActivity, StaysBelowOne) {
  Activity activity;
  activity.busyNs = ns(100'000);
  EXPECT_EQ(at(activity, 10'000, 11'000).session, 1);
}

// Programs.

class BusyDevice : public test::OwnRegistry {
protected:
  // One callback, then a loop over `elements`; the pair's second IPU is asked.
  Engine makeEngine(unsigned repeats) {
    Graph graph(device.getTarget());
    const Tensor x = graph.addVariable(FLOAT, {1 << 16}, "x");
    const Tensor y = graph.addVariable(FLOAT, {1 << 16}, "y");
    const Tensor z = graph.addVariable(FLOAT, {100}, "z");
    for (const Tensor &t : {x, y, z}) {
      graph.setTileMapping(t, 0);
    }
    graph.createHostRead("y", y);
    graph.createHostWrite("x", x);
    const DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, 100);
    const RemoteBuffer remote = graph.addRemoteBuffer("r", FLOAT, 100, 10);
    const program::Sequence program = {
        program::Copy(in, z), program::Copy(z, remote),
        program::Repeat(repeats, program::Sequence({program::Copy(x, y),
                                                    program::Copy(y, x)}))};
    const test::Environment reference("ASPEN_EXECUTOR", "reference");
    return Engine(graph, program);
  }

  internal::Attachment holder() const {
    return internal::readPartition().ipus[1].attachment.value();
  }

  const Device device = DeviceManager().getDevice(16);
};

TEST_F(BusyDevice, CountsProgramsAndNotWaits) {
  using namespace std::chrono;
  using namespace std::chrono_literals;
  ASSERT_TRUE(device.attach());
  Engine engine = makeEngine(1);
  engine.load(device);
  double whileWaiting = 1;
  engine.connectStreamToCallback("in", [&](void *) {
    std::this_thread::sleep_for(300ms);
    whileWaiting = holder().utilisation;
  });
  engine.run(0);
  EXPECT_LT(whileWaiting, 0.2);
  EXPECT_LT(holder().sessionUtilisation, 0.2);

  Engine longer = makeEngine(800);
  longer.load(device);
  longer.connectStreamToCallback("in", [](void *) {});
  device.detach(); // attaching starts the session
  ASSERT_TRUE(device.attach());
  const auto start = steady_clock::now();
  while (steady_clock::now() - start < 300ms) {
    longer.run(0);
  }
  EXPECT_GT(holder().utilisation, 0.8);
  EXPECT_GT(holder().sessionUtilisation, 0.8);
}

TEST_F(BusyDevice, CountsHostBuffersOfLoadedEngines) {
  ASSERT_TRUE(device.attach());
  const std::uint64_t bytes = 400 + 4000; // a transfer, and ten rows
  {
    Engine first = makeEngine(1);
    EXPECT_EQ(holder().hostBytes, 0U);
    first.load(device);
    first.load(device);
    EXPECT_EQ(holder().hostBytes, bytes);
    Engine second = makeEngine(1);
    second.load(device);
    EXPECT_EQ(holder().hostBytes, 2 * bytes);
    EXPECT_EQ(device.getAttributes().at("hexoatt active size (bytes)"),
              std::to_string(2 * bytes));
    device.detach();
    ASSERT_TRUE(device.attach());
    EXPECT_EQ(holder().hostBytes, 2 * bytes);
  }
  EXPECT_EQ(holder().hostBytes, 0U);
}

TEST_F(BusyDevice, EnginesMayOutliveIt) {
  Engine engine = [&] {
    const Device own = DeviceManager().getDevice(16);
    EXPECT_TRUE(own.attach());
    Engine loaded = makeEngine(1);
    loaded.load(own);
    return loaded;
  }();
  EXPECT_FALSE(internal::readPartition().ipus[1].attachment);
  EXPECT_TRUE(device.attach());
  engine.connectStreamToCallback("in", [](void *) {});
  engine.run(0);
  EXPECT_EQ(holder().hostBytes, 0U); // what runs on it was loaded before
}

} // namespace
} // namespace poplar
