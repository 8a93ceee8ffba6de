// The ids that devices have, and what the tools say of each.
#include "ExpectError.hpp"
#include "OwnRegistry.hpp"

#include <poplar/exceptions.hpp>
#include <poplar/internal/Hardware.hpp>

#include <regex>
#include <set>
#include <sstream>

namespace poplar {
namespace {

using internal::deviceAttributes;
using internal::deviceGroups;
using internal::IpuGroup;
using internal::readPartition;
using test::Environment;

// First and last id of the groups of 1, 2, 4, ... IPUs, as documented.
using IdRanges = std::vector<std::pair<unsigned, unsigned>>;

class DeviceIds : public testing::TestWithParam<std::pair<unsigned, IdRanges>> {
};

TEST_P(DeviceIds, SinglesThenLargerGroups) {
  const auto &[ipus, ranges] = GetParam();
  const std::vector<IpuGroup> groups = deviceGroups(ipus);
  ASSERT_EQ(groups.size(), ranges.back().second + 1);
  unsigned size = 1;
  for (const auto &[first, last] : ranges) {
    EXPECT_EQ(first, 2 * ipus - 2 * ipus / size);
    EXPECT_EQ(last - first + 1, ipus / size);
    for (unsigned id = first; id <= last; ++id) {
      EXPECT_EQ(groups[id].id, id);
      EXPECT_EQ(groups[id].count, size);
      EXPECT_EQ(groups[id].first, (id - first) * size);
    }
    size *= 2;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Documented, DeviceIds,
    testing::Values(
        std::pair(4U, IdRanges{{0, 3}, {4, 5}, {6, 6}}),
        std::pair(8U, IdRanges{{0, 7}, {8, 11}, {12, 13}, {14, 14}}),
        std::pair(16U,
                  IdRanges{{0, 15}, {16, 23}, {24, 27}, {28, 29}, {30, 30}}),
        std::pair(64U, IdRanges{{0, 63},
                                {64, 95},
                                {96, 111},
                                {112, 119},
                                {120, 123},
                                {124, 125},
                                {126, 126}})));

class DeviceAttributes : public test::OwnRegistry {};

// All keys of the documents that a single IPU has.
constexpr const char *freeKeyList =
    "id, target, average board temp, average die temp, board ipu index, "
    "board serial number, board type, board variant, clock, config domain, "
    "driver version, firmware major version, firmware minor version, "
    "firmware patch version, firmware version, gateway software version, "
    "graph streaming, hexoatt active size (bytes), "
    "hexoatt total size (bytes), hexopt active size (bytes), "
    "hexopt total size (bytes), host link correctable error count, "
    "icu bootloader version, ipu architecture, ipu error state, ipu power, "
    "ipu utilisation, ipu utilisation (session), ipuof host, "
    "ipuof partition id, ipuof routing id, ipuof routing type, "
    "ipuof server version, link correctable error count, "
    "link correctable error count (session), link speed, link width, "
    "number of replicas, numa node, parity error count threshold, "
    "parity error threshold interval, parity initialised, "
    "partition sync type, pci id, pcie physical slot, "
    "reconfigurable partition, remote buffers supported, sysfs file id, "
    "total board power";

std::set<std::string> makeFreeKeys() {
  std::set<std::string> keys;
  std::istringstream list(freeKeyList);
  for (std::string key; std::getline(list >> std::ws, key, ',');) {
    keys.insert(key);
  }
  return keys;
}

const std::set<std::string> freeKeys = makeFreeKeys();

std::set<std::string> keysOf(const std::map<std::string, std::string> &map) {
  std::set<std::string> keys;
  for (const auto &[key, value] : map) {
    keys.insert(key);
  }
  return keys;
}

TEST_F(DeviceAttributes, FreeIpusHaveNoUser) {
  EXPECT_EQ(keysOf(deviceAttributes(5)), freeKeys);
}

TEST_F(DeviceAttributes, AttachedIpusHaveOne) {
  const Device device = DeviceManager().getDevice(5);
  ASSERT_TRUE(device.attach());
  const auto attributes = device.getAttributes();
  std::set<std::string> keys = freeKeys;
  keys.insert({"process start time", "user executable", "user name",
               "user process id"});
  EXPECT_EQ(keysOf(attributes), keys);
  EXPECT_EQ(attributes.at("user process id"), std::to_string(getpid()));
  EXPECT_EQ(attributes.at("user executable"), "poplar_tests");
  EXPECT_TRUE(std::regex_match(attributes.at("process start time"),
                               std::regex("[0-9]{8}T[0-9]{6}Z")));
  device.detach();
  EXPECT_EQ(keysOf(deviceAttributes(5)), freeKeys);
}

TEST_F(DeviceAttributes, ClaimNoPhysicalHardware) {
  const auto attributes = deviceAttributes(6);
  EXPECT_EQ(attributes.at("board serial number"), "SIM0.0001.0000001");
  EXPECT_EQ(attributes.at("ipuof host"), "127.0.1.1");
  EXPECT_EQ(attributes.at("board ipu index"), "1");
  EXPECT_EQ(attributes.at("ipu power"), "N/A");
  EXPECT_EQ(attributes.at("average die temp"), "N/A");
  EXPECT_EQ(attributes.at("firmware version"), "3.3.0");
  EXPECT_EQ(attributes.at("ipu utilisation"), "0.00%");
  EXPECT_EQ(attributes.at("clock"), "1850MHz");
  EXPECT_EQ(attributes.at("target"), "Fabric");
}

TEST_F(DeviceAttributes, GroupsHaveAUserWhenOneDeviceHasAllOfThem) {
  const auto hasUser = [](unsigned id) {
    return deviceAttributes(id).count("user process id") == 1;
  };
  DeviceManager manager;
  Device single = manager.getDevice(0);
  Device other = manager.getDevice(1);
  ASSERT_TRUE(single.attach());
  EXPECT_TRUE(hasUser(0));
  EXPECT_FALSE(hasUser(16)); // IPUs 0 and 1
  ASSERT_TRUE(other.attach());
  EXPECT_FALSE(hasUser(16));
  single.detach();
  other.detach();
  const Device quad = manager.getDevice(24);
  ASSERT_TRUE(quad.attach());
  EXPECT_TRUE(hasUser(24));
  EXPECT_TRUE(hasUser(16)); // part of what is held
  EXPECT_TRUE(hasUser(3));
  EXPECT_FALSE(hasUser(28));
  EXPECT_EQ(deviceAttributes(24).at("target"), "Multi IPU");
  EXPECT_EQ(deviceAttributes(24).count("board serial number"), 0U);
}

TEST_F(DeviceAttributes, MachinesHaveTheirNumbersInDescendingOrder) {
  const auto ipus = readPartition().ipus;
  ASSERT_EQ(ipus.size(), 16U);
  EXPECT_EQ(ipus[0].ipuNumber, 3U);
  EXPECT_EQ(ipus[3].ipuNumber, 0U);
  EXPECT_EQ(ipus[4].ipuNumber, 3U);
  EXPECT_EQ(ipus[3].machine, "127.0.0.1");
  EXPECT_EQ(ipus[15].machine, "127.0.3.1");
  EXPECT_EQ(ipus[0].serial, "SIM0.0002.0000000");
  EXPECT_EQ(ipus[1].serial, "SIM0.0002.0000000");
  EXPECT_EQ(ipus[2].serial, "SIM0.0001.0000000");
}

TEST_F(DeviceAttributes, FollowTheSystem) {
  const Environment system("ASPEN_SYSTEM", "pod4");
  EXPECT_EQ(deviceAttributes(6).at("clock"), "1330MHz");
  expectError<poplar_error>([] { deviceAttributes(7); }, "7", "0 to 6");
}

TEST_F(DeviceAttributes, SystemsWithoutIpusHaveNoDevices) {
  const Environment system("ASPEN_SYSTEM", "none");
  const DeviceManager manager = {};
  EXPECT_EQ(manager.getNumDevices(), 0U);
  EXPECT_TRUE(manager.getDevices().empty());
  EXPECT_TRUE(manager.getDevices(TargetType::IPU, 1).empty());
  EXPECT_TRUE(readPartition().ipus.empty());
  expectError<poplar_error>([&] { manager.getDevice(0); }, "has no IPUs");
  expectError<poplar_error>([] { deviceAttributes(0); }, "has no IPUs");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

} // namespace
} // namespace poplar
