// Devices, their targets, and who may hold which IPU.
#include "ExpectError.hpp"

#include <poplar/DeviceManager.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

#include <gtest/gtest.h>

#include <set>

#include <unistd.h>

using namespace poplar;

namespace {

TEST(DeviceManager, ListsSinglesThenLargerGroups) {
  DeviceManager manager = DeviceManager::createDeviceManager();
  EXPECT_EQ(manager.getNumDevices(), 31U); // 16 + 8 + 4 + 2 + 1
  auto devices = manager.getDevices();
  ASSERT_EQ(devices.size(), 31U);
  EXPECT_EQ(devices[15].getTarget().getNumIPUs(), 1U);
  EXPECT_EQ(devices[16].getTarget().getNumIPUs(), 2U);
  EXPECT_EQ(devices[30].getTarget().getNumIPUs(), 16U);
  EXPECT_EQ(devices[30].getId(), 30U);
  EXPECT_EQ(manager.getDevices(TargetType::IPU, 4).size(), 4U);
  EXPECT_TRUE(manager.getDevices(TargetType::IPU, 3).empty());
  EXPECT_TRUE(manager.getDevices(TargetType::CPU, 1).empty());
  EXPECT_EQ(manager.getChildDeviceIds(25), (std::vector<unsigned>{4, 5, 6, 7}));
  EXPECT_EQ(manager.getChildDeviceIds(25, 2), (std::vector<unsigned>{18, 19}));
  expectError<poplar_error>([&] { manager.getDevice(31); }, "31", "0 to 30");
}

TEST(DeviceManager, HardwareIsBow) {
  Device device = DeviceManager().getDevice(0);
  const Target &target = device.getTarget();
  EXPECT_EQ(target.getTargetType(), TargetType::IPU);
  EXPECT_EQ(target.getTargetArchString(), "ipu2");
  EXPECT_EQ(target.getTilesPerIPU(), 1472U);
  EXPECT_EQ(target.getBytesPerTile(), 638976U);
  EXPECT_EQ(target.getTileClockFrequency(), 1.85e9);
}

TEST(DeviceAttach, OverlappingDevicesExcludeEachOther) {
  DeviceManager manager;
  Device first = manager.getDevice(4);
  Device sameIpu = manager.getDevice(4);
  Device pair = manager.getDevice(18); // IPUs 4 and 5
  Device other = manager.getDevice(6);
  EXPECT_FALSE(first.isAttached());
  EXPECT_TRUE(first.attach());
  EXPECT_TRUE(first.attach()); // again is no harm
  EXPECT_TRUE(first.isAttached());
  EXPECT_FALSE(sameIpu.attach());
  EXPECT_FALSE(pair.attach());
  EXPECT_FALSE(pair.isAttached());
  EXPECT_TRUE(other.attach());
  sameIpu.detach(); // does not hold it
  EXPECT_TRUE(first.isAttached());
  first.detach();
  EXPECT_TRUE(pair.attach());
  EXPECT_FALSE(first.attach());
}

TEST(DeviceAttach, EndsWithTheDevice) {
  DeviceManager manager;
  {
    Device device = manager.getDevice(9);
    ASSERT_TRUE(device.attach());
    Device moved = std::move(device);
    EXPECT_TRUE(moved.isAttached());
    Device again = manager.getDevice(9);
    EXPECT_FALSE(again.attach());
  }
  EXPECT_TRUE(manager.getDevice(9).attach());
}

TEST(DeviceAttach, VirtualDevicesShareTheirHardware) {
  Device device = DeviceManager().getDevice(10);
  Device small = device.createVirtualDevice(16);
  EXPECT_EQ(small.getTarget().getTilesPerIPU(), 16U);
  EXPECT_TRUE(small.attach());
  EXPECT_TRUE(device.isAttached());
  EXPECT_TRUE(device.attach());
}

TEST(DeviceAttach, DriverQueriesNeedAttachedHardware) {
  unsigned major = 0, minor = 0, point = 0;
  Device device = DeviceManager().getDevice(11);
  expectError<poplar_error>(
      [&] { device.getDriverVersion(major, minor, point); }, "device 11");
  device.attach();
  device.getDriverVersion(major, minor, point);
  EXPECT_EQ(major, 1U);
  Device model = IPUModel().createDevice();
  expectError<poplar_error>(
      [&] { model.getDriverVersion(major, minor, point); },
      "not an attached IPU");
}

TEST(DeviceQueries, HardwareAnswersWhileAttached) {
  Device pair = DeviceManager().getDevice(21); // IPUs 10 and 11
  expectError<poplar_error>([&] { pair.hasGateway(); }, "device 21");
  expectError<poplar_error>([&] { pair.getNumaTopology(); }, "device 21");
  expectError<poplar_error>([&] { pair.reset(); }, "device 21");
  ASSERT_TRUE(pair.attach());
  EXPECT_EQ(pair.getDriverIDs(), (std::vector<int>{10, 11}));
  EXPECT_TRUE(pair.hasGateway());
  EXPECT_EQ(pair.getNumaTopology(), (std::vector<int>{0, 0}));
  EXPECT_EQ(pair.getNumaNodesUsedForIPUs(), std::set<int>{0});
  pair.reset();
  EXPECT_TRUE(pair.isAttached());
  EXPECT_TRUE(pair.supportsRemoteBuffers());
}

TEST(DeviceQueries, AttributesAreThoseOfTheTools) {
  Device pair = DeviceManager().getDevice(22);
  auto attributes = pair.getAttributes();
  EXPECT_EQ(attributes.at("id"), "22");
  EXPECT_EQ(attributes.at("target"), "Multi IPU");
  EXPECT_EQ(attributes.at("clock"), "1850MHz");
  EXPECT_EQ(attributes.at("ipu architecture"), "ipu2");
  EXPECT_EQ(attributes.at("driver version"), "1.1.3");
  EXPECT_EQ(attributes.at("remote buffers supported"), "1");
  EXPECT_EQ(attributes.count("user process id"), 0U);
  ASSERT_TRUE(pair.attach());
  EXPECT_EQ(pair.getAttributes().at("user process id"),
            std::to_string(getpid()));
  EXPECT_EQ(DeviceManager().getDevice(3).getAttributes().at("target"),
            "Fabric");
  EXPECT_EQ(IPUModel().createDevice().getAttributes().at("target"),
            "IPU_MODEL");
}

TEST(DeviceQueries, DevicesWithoutHardware) {
  Device cpu = Device::createCPUDevice(2);
  EXPECT_EQ(cpu.getTarget().getNumTiles(), 2U);
  EXPECT_TRUE(cpu.attach());
  EXPECT_FALSE(cpu.supportsRemoteBuffers());
  Device simulator =
      Device::createSimulatorDevice(Target::createIPUTarget(1, "ipu21"));
  EXPECT_TRUE(simulator.attach());
  EXPECT_EQ(simulator.getTarget().getTargetArchString(), "ipu21");
}

TEST(IPUModel, ArchitecturesHaveTheirFigures) {
  EXPECT_EQ(IPUModel("ipu1").tilesPerIPU, 1216U);
  EXPECT_EQ(IPUModel("ipu1").memoryBytesPerTile, 262144U);
  EXPECT_EQ(IPUModel("ipu1").tileClockFrequency, 1.6e9);
  EXPECT_EQ(IPUModel().tilesPerIPU, 1472U);
  EXPECT_EQ(IPUModel().IPUVersion, "ipu2");
  EXPECT_EQ(IPUModel().tileClockFrequency, 1.33e9);
  EXPECT_EQ(IPUModel("ipu21").createDevice().getTarget().getTargetArchString(),
            "ipu21");
  expectError<invalid_machine_model>([] { IPUModel("ipu3"); }, "'ipu3'",
                                     "ipu1, ipu2 and ipu21");
}

TEST(IPUModel, FieldsDescribeTheDevice) {
  IPUModel model;
  model.numIPUs = 2;
  model.tilesPerIPU = 4;
  model.minIPUSyncDelay = 10;
  model.relativeSyncDelay = IPUModel::RelativeSyncDelayType::NO_DELAY;
  EXPECT_NE(model, IPUModel());
  Device device = model.createDevice();
  const Target &target = device.getTarget();
  EXPECT_EQ(target.getTargetType(), TargetType::IPU_MODEL);
  EXPECT_EQ(target.getNumTiles(), 8U);
  EXPECT_EQ(target.getNumIPUs(), 2U);
  EXPECT_EQ(target.getMinIPUSyncDelay(), 10U);
  EXPECT_EQ(target.getMaxIPUSyncDelay(), 10U);
  EXPECT_EQ(target.getExchangeBytesPerCycle(), 4U);
  EXPECT_EQ(target.getNumWorkerContexts(), 6U);
  EXPECT_TRUE(device.attach());
  model.tilesPerIPU = 0;
  expectError<invalid_machine_model>([&] { model.createDevice(); }, "0 tiles");
}

TEST(Target, TypeFigures) {
  Target target = Target::createIPUTarget(1, "ipu2");
  EXPECT_EQ(target.getTypeSize(HALF), 2U);
  EXPECT_EQ(target.getTypeSize(FLOAT), 4U);
  EXPECT_EQ(target.getVectorWidth(FLOAT), 2U);
  EXPECT_EQ(target.getVectorWidth(HALF), 4U);
  EXPECT_EQ(target.getVectorWidth(QUARTER), 8U);
}

TEST(Target, ComparesByWhatItDescribes) {
  Target a = Target::createIPUTarget(2, "ipu2");
  Target b = Target::createIPUTarget(2, "ipu2");
  Target c = Target::createIPUTarget(2, 100, "ipu2");
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a, c);
  EXPECT_TRUE((a < c) != (c < a));
  EXPECT_EQ(c, a.createVirtualTarget(2, 100));
  expectError<poplar_error>([&] { a.createVirtualTarget(3, 100); },
                            "3 IPUs of 100 tiles");
}

TEST(Target, CpuHasOneTilePerIpu) {
  Target target = Target::createCPUTarget(true, 3);
  EXPECT_EQ(target.getTargetType(), TargetType::CPU);
  EXPECT_EQ(target.getNumTiles(), 3U);
  EXPECT_EQ(target.getNumWorkerContexts(), 1U);
}

} // namespace
