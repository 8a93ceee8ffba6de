// The chips and systems that are built in: their figures against published
// ones, typed by hand, and what follows from them.
#include "ExpectError.hpp"

#include "device/BuiltInSystems.hpp"
#include "device/Figures.hpp"
#include "device/System.hpp"

#include <nlohmann/json.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Target.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <poplar/internal/TargetFields.hpp>

#include <gtest/gtest.h>

#include <regex>
#include <utility>

namespace poplar {
namespace {

using internal::BuiltInSystem;
using internal::findSystem;
using internal::System;
using internal::TargetData;
using internal::TargetKind;
using Json = nlohmann::json;

TEST(DeviceSystems, AllLoad) {
  const std::vector<std::string> names = internal::systemNames();
  EXPECT_EQ(names, (std::vector<std::string>{
                       "ipu1", "ipu2", "bow", "ipu21", "c2", "m2000",
                       "bow-2000", "c600", "pod4", "pod16", "pod64", "pod128",
                       "pod256", "bow-pod4", "bow-pod16", "bow-pod64",
                       "bow-pod128", "bow-pod256", "_VIRTUAL_GRAPH_TEST_16"}));
  for (const std::string &name : names) {
    const System system = findSystem(name);
    EXPECT_EQ(system.name, name);
    EXPECT_EQ(system.partition, name);
    EXPECT_EQ(system.target.kind, TargetKind::Ipu);
  }
}

TEST(DeviceSystems, EveryFigureHasUnitAndSource) {
  const std::regex mark(R"(\[[VDA]\] \S.*)");
  for (const BuiltInSystem &file : internal::builtInSystems()) {
    const Json root = Json::parse(file.text);
    EXPECT_EQ(root.at("name"), file.name);
    EXPECT_TRUE(root.contains("about")) << file.name;
    for (const internal::Figure &figure : internal::figures()) {
      const auto found = root.find(figure.name);
      if (found == root.end()) {
        continue;
      }
      ASSERT_TRUE(found->is_object()) << file.name << ": " << figure.name;
      // A bare number of a user's file is in the unit that is seen here.
      EXPECT_EQ(found->at("unit"), figure.unit) << file.name;
      EXPECT_TRUE(
          std::regex_match(found->at("source").get<std::string>(), mark))
          << file.name << ": " << figure.name;
    }
  }
}

// The first table of the published figures, a column for each chip.
struct Chip {
  const char *name;
  const char *arch;
  unsigned tiles;
  unsigned threads;
  double clockHz;
  unsigned bytesPerTile;
  double memoryMiB;
  double memoryTBs;
  double exchangeTBs;
  double half;    // TFLOPS, FP16 with FP16 partials
  double mixed;   // with FP32 partials
  double single;  // FP32
  double quarter; // FP8
  unsigned partnerLinks;
};

void PrintTo(const Chip &chip, std::ostream *stream) {
  *stream << chip.name;
}

class DeviceSystemsChip : public testing::TestWithParam<Chip> {};

TEST_P(DeviceSystemsChip, HasThePublishedFigures) {
  const Chip &chip = GetParam();
  const Target target = Target::createIPUTarget(1, chip.name);
  EXPECT_EQ(target.getTargetArchString(), chip.arch);
  EXPECT_EQ(target.getTilesPerIPU(), chip.tiles);
  EXPECT_EQ(target.getNumWorkerContexts(), 6U);
  EXPECT_EQ(target.getTilesPerIPU() * target.getNumWorkerContexts(),
            chip.threads);
  EXPECT_EQ(target.getTileClockFrequency(), chip.clockHz);
  EXPECT_EQ(target.getBytesPerTile(), chip.bytesPerTile);
  EXPECT_EQ(double(target.getMemoryBytes()) / 0x1p20, chip.memoryMiB);
  EXPECT_EQ(internal::targetData(target).linksToPairPartner, chip.partnerLinks);
}

TEST_P(DeviceSystemsChip, ReachesThePublishedRates) {
  const Chip &chip = GetParam();
  const Target target = Target::createIPUTarget(1, chip.name);
  const double tera =
      target.getTilesPerIPU() * target.getTileClockFrequency() / 1e12;
  // Two 8-byte loads and an 8-byte store a cycle.
  const double portBytes = 3.0 * target.getDataPathWidth() / 8;
  EXPECT_NEAR(tera * portBytes, chip.memoryTBs, 0.05);
  EXPECT_NEAR(tera * target.getExchangeBytesPerCycle(), chip.exchangeTBs, 0.05);
  const auto flops = [&](const Type &in, const Type &out, unsigned inputs) {
    return tera * 2 * target.getNumConvUnits(in, out) * inputs;
  };
  EXPECT_NEAR(flops(HALF, HALF, 4), chip.half, 0.05);
  EXPECT_NEAR(flops(HALF, FLOAT, 4), chip.mixed, 0.05);
  EXPECT_NEAR(flops(FLOAT, FLOAT, 1), chip.single, 0.05);
  EXPECT_NEAR(flops(QUARTER, HALF, 8), chip.quarter, 0.05);
}

// The rates are quoted as 8, 8 and 11 TB/s and, in TFLOPS, as 124.5, 250, 350
// and 280; these are the products behind them.
INSTANTIATE_TEST_SUITE_P(
    Chips, DeviceSystemsChip,
    testing::Values(Chip{"ipu1", "ipu1", 1216, 7296, 1.6e9, 262144, 304, 46.7,
                         7.78, 124.5, 124.5, 31.1, 0, 4},
                    Chip{"ipu2", "ipu2", 1472, 8832, 1.33e9, 638976, 897, 47.0,
                         7.83, 250.6, 125.3, 62.65, 0, 6},
                    Chip{"bow", "ipu2", 1472, 8832, 1.85e9, 638976, 897, 65.4,
                         10.9, 348.6, 174.3, 87.1, 0, 6},
                    Chip{"ipu21", "ipu21", 1472, 8832, 1.5e9, 638976, 897, 53.0,
                         8.83, 282.6, 141.3, 70.65, 565.2, 4}));

TEST(DeviceSystems, ChipsHaveTheFiguresThatLibrariesRead) {
  for (const char *chip : {"ipu1", "ipu2", "bow", "ipu21"}) {
    const Target target = Target::createIPUTarget(1, chip);
    const bool isMk1 = target.getTargetArchString() == "ipu1";
    EXPECT_EQ(target.getExchangeBytesPerCycle(), 4U);
    EXPECT_EQ(target.getMemcpyBytesPerCycle(), 8U);
    EXPECT_EQ(target.getTilesPerSharedExchangeBus(), 2U);
    EXPECT_TRUE(target.supportsExchangeBusSharing());
    EXPECT_EQ(target.getMaxIPUSyncDelay(), 126U);
    EXPECT_EQ(target.getMinIPUSyncDelay(), 70U);
    EXPECT_EQ(target.getGlobalSyncCycles(), 600U);
    EXPECT_EQ(target.getDataPathWidth(), 64U);
    EXPECT_EQ(target.getFp16InFp16OutConvUnitsPerTile(), isMk1 ? 8U : 16U);
    EXPECT_EQ(target.getFp16InFp32OutConvUnitsPerTile(), 8U);
    EXPECT_EQ(target.getFp32InFp32OutConvUnitsPerTile(), isMk1 ? 8U : 16U);
    EXPECT_EQ(target.getConvUnitMaxPipelineDepth(HALF), 4U);
    EXPECT_EQ(target.getWeightsPerConvUnit(FLOAT), 8U);
    EXPECT_EQ(target.getWeightsPerConvUnit(HALF), 16U);
    EXPECT_EQ(target.getConvUnitCoeffLoadBytesPerCycle(), 16U);
    EXPECT_EQ(target.getRptCountMax(), 4095U);
    EXPECT_EQ(target.getNumStrideBits(), 10U);
    EXPECT_EQ(target.getAtomicStoreGranularity(), 4U);
    EXPECT_EQ(target.getInterleavedMemoryElementIndex(), isMk1 ? 8U : 13U);
  }
}

// What a TargetData is before anybody sets it are the figures of one ipu2.
TEST(DeviceSystems, DefaultsAreThoseOfTheFile) {
  TargetData expected;
  for (unsigned i = 0; i < 13; ++i) {
    expected.memoryElementOffsets.push_back(i * 0x4000);
  }
  for (unsigned i = 0; i < 13; ++i) {
    expected.memoryElementOffsets.push_back(0x34000 + i * 0x8000);
  }
  const Device model = IPUModel().createDevice();
  EXPECT_EQ(targetFields(internal::targetData(model.getTarget())),
            targetFields(std::as_const(expected)));
  expected.kind = TargetKind::Ipu;
  const System ipu2 = findSystem("ipu2");
  EXPECT_EQ(targetFields(ipu2.target), targetFields(std::as_const(expected)));
}

struct Machine {
  const char *name;
  const char *board;
  unsigned ipus;
  unsigned domain;
  unsigned ipusPerMachine;
  double clockHz;
  double fromHost; // GB/s
  double toHost;
};

TEST(DeviceSystems, HaveTheirIpusAndConnections) {
  const Machine machines[] = {
      {"c2", "C2", 2, 2, 2, 1.6e9, 15.75, 15.75},
      {"c600", "C600", 1, 1, 1, 1.5e9, 31.5, 31.5},
      {"m2000", "M2000", 4, 4, 4, 1.33e9, 10, 5.5},
      {"bow-2000", "M2000", 4, 4, 4, 1.85e9, 10, 5.5},
      {"pod4", "M2000", 4, 4, 4, 1.33e9, 10, 5.5},
      {"pod16", "M2000", 16, 16, 4, 1.33e9, 10, 5.5},
      {"pod64", "M2000", 64, 64, 4, 1.33e9, 10, 5.5},
      {"pod128", "M2000", 128, 64, 4, 1.33e9, 10, 5.5},
      {"pod256", "M2000", 256, 64, 4, 1.33e9, 10, 5.5},
      {"bow-pod4", "M2000", 4, 4, 4, 1.85e9, 10, 5.5},
      {"bow-pod16", "M2000", 16, 16, 4, 1.85e9, 10, 5.5},
      {"bow-pod64", "M2000", 64, 64, 4, 1.85e9, 10, 5.5},
      {"bow-pod128", "M2000", 128, 64, 4, 1.85e9, 10, 5.5},
      {"bow-pod256", "M2000", 256, 64, 4, 1.85e9, 10, 5.5},
      {"_VIRTUAL_GRAPH_TEST_16", "M2000", 16, 16, 4, 1.33e9, 10, 5.5},
  };
  for (const Machine &machine : machines) {
    SCOPED_TRACE(machine.name);
    const System system = findSystem(machine.name);
    const TargetData &target = system.target;
    EXPECT_EQ(system.boardType, machine.board);
    EXPECT_EQ(target.system, machine.name);
    EXPECT_EQ(target.numIPUs, machine.ipus);
    EXPECT_EQ(target.ipuLinkDomainSize, machine.domain);
    EXPECT_EQ(target.ipusPerMachine, machine.ipusPerMachine);
    EXPECT_EQ(target.clockHz, machine.clockHz);
    EXPECT_EQ(target.hostToDeviceBytesPerSecond, machine.fromHost * 1e9);
    EXPECT_EQ(target.deviceToHostBytesPerSecond, machine.toHost * 1e9);
    EXPECT_EQ(target.ipuLinkTopology, IpuLinkTopology::Mesh);
  }
}

TEST(DeviceSystems, MachinesAddUp) {
  const TargetData bow = findSystem("bow-2000").target;
  EXPECT_EQ(bow.numTiles(), 5888U);                       // cores
  EXPECT_EQ(bow.numTiles() * bow.workerContexts, 35328U); // threads
  EXPECT_NEAR(4 * bow.gatewayBytesPerSecond, 25e9, 1);
  EXPECT_EQ(4 * bow.streamingBytesPerIPU, 256ULL << 30);
  EXPECT_NEAR(4 * bow.streamingBytesPerSecond, 20e9, 1);
  // One direction: 82 GB/s to the pair partner, 27 GB/s along a rail.
  EXPECT_NEAR(bow.linksToPairPartner * bow.linkBytesPerSecond, 82e9, 0.5e9);
  EXPECT_NEAR(bow.linksPerRail * bow.linkBytesPerSecond, 27e9, 0.5e9);
  const TargetData c2 = findSystem("c2").target;
  EXPECT_NEAR(c2.linksToPairPartner * c2.linkBytesPerSecond, 54e9, 0.5e9);
}

TEST(DeviceSystems, ModelsKeepTheHostLinkOfTheModel) {
  for (const char *version : {"ipu1", "ipu2", "ipu21", "ipu:bow"}) {
    const Device device = IPUModel(version).createDevice();
    const TargetData &data = internal::targetData(device.getTarget());
    EXPECT_EQ(data.hostToDeviceBytesPerSecond, 8e9);
    EXPECT_EQ(data.deviceToHostBytesPerSecond, 8e9);
    EXPECT_EQ(data.kind, TargetKind::IpuModel);
  }
}

TEST(DeviceSystems, UnknownNamesSuggestOthers) {
  expectError<invalid_machine_model>(
      [] { findSystem("bow-pod15"); }, "'bow-pod15'", "ipu1, ipu2, bow",
      "with a '/' or with .json at the end", "did you mean 'bow-pod16'?");
  expectError<invalid_machine_model>([] { findSystem("gpu-rack-of-mine"); },
                                     "'gpu-rack-of-mine'");
  expectError<invalid_machine_model>([] { findSystem(""); }, "''");
}

} // namespace
} // namespace poplar
