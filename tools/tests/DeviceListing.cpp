#include "DeviceListing.hpp"

#include "MadeUpHardware.hpp"

#include <gtest/gtest.h>

namespace tools {
namespace {

using testing::partitionOf;

TEST(DeviceListing, SinglesThenGroupsWithTheirMembers) {
  EXPECT_EQ(deviceListing(partitionOf(4), true),
            R"(Graphcore device listing:
Partition: p1 [active]
-+- Id: [0], target: [Fabric], IPU-M host: [10.1.5.7], IPU#: [3]
-+- Id: [1], target: [Fabric], IPU-M host: [10.1.5.7], IPU#: [2]
-+- Id: [2], target: [Fabric], IPU-M host: [10.1.5.7], IPU#: [1]
-+- Id: [3], target: [Fabric], IPU-M host: [10.1.5.7], IPU#: [0]
-+- Id: [4], target: [Multi IPU]
 |--- Id: [0], DNC Id: [0], IPU-M host: [10.1.5.7], IPU#: [3]
 |--- Id: [1], DNC Id: [1], IPU-M host: [10.1.5.7], IPU#: [2]
-+- Id: [5], target: [Multi IPU]
 |--- Id: [2], DNC Id: [0], IPU-M host: [10.1.5.7], IPU#: [1]
 |--- Id: [3], DNC Id: [1], IPU-M host: [10.1.5.7], IPU#: [0]
-+- Id: [6], target: [Multi IPU]
 |--- Id: [0], DNC Id: [0], IPU-M host: [10.1.5.7], IPU#: [3]
 |--- Id: [1], DNC Id: [1], IPU-M host: [10.1.5.7], IPU#: [2]
 |--- Id: [2], DNC Id: [2], IPU-M host: [10.1.5.7], IPU#: [1]
 |--- Id: [3], DNC Id: [3], IPU-M host: [10.1.5.7], IPU#: [0]
)");
}

TEST(DeviceListing, AlignsIdsAndHostsOfDifferentLength) {
  const std::string text = deviceListing(partitionOf(16), true);
  for (const char *line : {
           "\n-+- Id:  [0], target: [Fabric], IPU-M host:  [10.1.5.7], "
           "IPU#: [3]\n",
           "\n-+- Id: [15], target: [Fabric], IPU-M host: [10.1.5.10], "
           "IPU#: [0]\n",
           "\n-+- Id: [30], target: [Multi IPU]\n"
           " |--- Id:  [0], DNC Id:  [0], IPU-M host:  [10.1.5.7], "
           "IPU#: [3]\n",
           "\n |--- Id: [15], DNC Id: [15], IPU-M host: [10.1.5.10], "
           "IPU#: [0]\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(DeviceListing, AllPartitionsListsSinglesOnly) {
  EXPECT_EQ(deviceListing(partitionOf(2), false),
            R"(Graphcore device listing:
Partition: p1 [active]
-+- Id: [0], target: [Fabric], IPU-M host: [10.1.5.7], IPU#: [3]
-+- Id: [1], target: [Fabric], IPU-M host: [10.1.5.7], IPU#: [2]
)");
}

TEST(DeviceListing, NamesSlotsOfPcieBoards) {
  auto partition = partitionOf(2);
  partition.isPcie = true;
  partition.ipus[0].pciId = "0000:1a:00.0";
  partition.ipus[1].pciId = "0000:1b:00.0";
  EXPECT_EQ(deviceListing(partition, true),
            R"(Graphcore device listing:
Partition: p1 [active]
-+- Id: [0], target: [PCIe], PCI Domain: [0000:1a:00.0]
-+- Id: [1], target: [PCIe], PCI Domain: [0000:1b:00.0]
-+- Id: [2], target: [Multi IPU]
 |--- PCIe Id: [0], DNC Id: [0], PCI Domain: [0000:1a:00.0]
 |--- PCIe Id: [1], DNC Id: [1], PCI Domain: [0000:1b:00.0]
)");
}

TEST(DeviceInfo, IdAndTargetComeFirst) {
  EXPECT_EQ(deviceInfo({{"target", "Fabric"},
                        {"clock", "1330MHz"},
                        {"ipu architecture", "ipu2"},
                        {"id", "3"},
                        {"average board temp", "N/A"},
                        {"remote buffers supported", "1"}}),
            R"(Device Info:
  id: 3
  target: Fabric
  average board temp: N/A
  clock: 1330MHz
  ipu architecture: ipu2
  remote buffers supported: 1
)");
}

TEST(ChipIds, NameEachIpuOfAGroup) {
  EXPECT_EQ(chipIds(partitionOf(4), {5, 1, 2}), R"(1: 0069.0002.8210521-2
2: 0069.0001.8210521-1
)");
}

TEST(TileOverview, HasARowForEveryStepFromTheExchange) {
  EXPECT_EQ(
      tileOverview(128),
      "       0    1    2    3    4    5    6    7    8    9   10   11   12   "
      "13   14   15\n"
      "  0 :::: :::: :::: :::: :::: :::: :::: :::: :::: :::: :::: :::: :::: "
      ":::: :::: ::::\n"
      "  1 :::: :::: :::: :::: :::: :::: :::: :::: :::: :::: :::: :::: :::: "
      ":::: :::: ::::\n");
}

TEST(TileOverview, ShowsEveryTileOfEachChip) {
  struct Chip {
    unsigned tiles;
    long rows;
  };
  // The last is not made of whole rows.
  for (const Chip &chip : {Chip{1472, 23}, Chip{1216, 19}, Chip{70, 2}}) {
    const std::string text = tileOverview(chip.tiles);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), chip.rows + 1);
    EXPECT_EQ(std::count(text.begin(), text.end(), ':'), chip.tiles);
  }
}

} // namespace
} // namespace tools
