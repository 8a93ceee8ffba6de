// What planners ask a target; names, options, files and comparison of targets.
#include "Environment.hpp"
#include "ExpectError.hpp"

#include <poplar/DeviceManager.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Target.hpp>
#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace poplar {
namespace {

using test::Environment;

TEST(TargetQueries, ConvUnitsFollowTheChip) {
  const Target ipu1 = Target::createIPUTarget(1, "ipu1");
  const Target ipu2 = Target::createIPUTarget(1, "ipu2");
  const Target ipu21 = Target::createIPUTarget(1, "ipu21");
  // Peak figures: 64 MACs a cycle and tile in half, 4 inputs a unit.
  EXPECT_EQ(ipu2.getNumConvUnits(HALF, HALF), 16U);
  EXPECT_EQ(ipu2.getNumConvUnits(HALF, FLOAT), 8U);
  EXPECT_EQ(ipu2.getNumConvUnits(FLOAT, FLOAT), 16U);
  EXPECT_EQ(ipu1.getNumConvUnits(HALF, HALF), 8U);
  EXPECT_EQ(ipu1.getNumConvUnits(FLOAT, FLOAT), 8U);
  EXPECT_EQ(ipu2.getNumConvUnits(QUARTER, HALF), 0U);
  EXPECT_EQ(ipu21.getNumConvUnits(QUARTER, HALF), 16U);
  EXPECT_EQ(ipu2.getNumConvUnits(INT, INT), 0U);
  EXPECT_EQ(ipu2.getConvUnitInputLoadElemsPerCycle(HALF), 4U);
  EXPECT_EQ(ipu2.getWeightsPerConvUnit(FLOAT), 8U);
  EXPECT_EQ(ipu2.getWeightsPerConvUnit(HALF), 16U);
  EXPECT_EQ(ipu2.getWeightsPerConvUnit(QUARTER), 32U);
  EXPECT_EQ(ipu2.getConvUnitMaxPipelineDepth(HALF), 4U);
  EXPECT_EQ(ipu2.getConvUnitCoeffLoadBytesPerCycle(), 16U);
}

TEST(TargetQueries, MemoryElementsCoverTheTile) {
  const Target ipu2 = Target::createIPUTarget(1, "ipu2");
  auto offsets = ipu2.getMemoryElementOffsets();
  ASSERT_EQ(offsets.size(), 26U);
  EXPECT_EQ(offsets[1], 0x4000U);
  EXPECT_EQ(ipu2.getInterleavedMemoryElementIndex(), 13U);
  EXPECT_EQ(offsets[13], 0x34000U);
  EXPECT_EQ(offsets[25] + 0x8000, ipu2.getBytesPerTile());
  const Target ipu1 = Target::createIPUTarget(1, "ipu1");
  EXPECT_EQ(ipu1.getMemoryElementOffsets().back() + 0x8000,
            ipu1.getBytesPerTile());
}

TEST(TargetQueries, HostExchangeBlocksCoverAnIpu) {
  for (const char *arch : {"ipu1", "ipu2", "ipu21"}) {
    const Target target = Target::createIPUTarget(2, arch);
    const unsigned tiles = target.getTilesPerIPU();
    EXPECT_EQ(tiles % (target.getNumTilesPerXBContext() *
                       target.getNumContextsPerXB()),
              0U);
    EXPECT_EQ(target.getTileHostExchangeXB(0), 0U);
    EXPECT_EQ(target.getTileHostExchangeXB(tiles - 1), 1U);
    EXPECT_EQ(target.getTileHostExchangeXB(tiles), 0U);
    expectError<poplar_error>([&] { target.getTileHostExchangeXB(2 * tiles); },
                              std::to_string(2 * tiles));
  }
}

TEST(TargetQueries, FloatingPointControlHasABitPerEvent) {
  const Target target = Target::createIPUTarget(1, "ipu2");
  EXPECT_EQ(target.makeFpIctlValue(false, false, false, false, false), 0U);
  EXPECT_EQ(target.makeFpIctlValue(true, false, false, false, false), 1U);
  EXPECT_EQ(target.makeFpIctlValue(false, true, false, false, false), 2U);
  EXPECT_EQ(target.makeFpIctlValue(false, false, true, false, false), 4U);
  EXPECT_EQ(target.makeFpIctlValue(true, true, true, true, true), 31U);
  EXPECT_NE(target.getFpIctlRegIndex(), target.getDbgDataRegIndex());
}

TEST(TargetQueries, TypeLimitsAreExactOrAnError) {
  const Target target = Target::createIPUTarget(1, "ipu2");
  EXPECT_EQ(target.getTypeLimitsMaxAs<float>(HALF), 65504.0F);
  EXPECT_EQ(target.getTypeLimitsLowestAs<int>(HALF), -65504);
  EXPECT_EQ(target.getTypeLimitsMaxAs<int>(INT), 2147483647);
  EXPECT_EQ(target.getTypeLimitsLowestAs<short>(CHAR), -128);
  EXPECT_EQ(target.getTypeLimitsMaxAs<unsigned long long>(UNSIGNED_LONGLONG),
            18446744073709551615ULL);
  EXPECT_EQ(target.getTypeLimitsMaxAs<double>(FLOAT),
            std::numeric_limits<float>::max());
  EXPECT_EQ(target.getTypeLimitsMaxAs<bool>(BOOL), true);
  expectError<poplar_error>([&] { target.getTypeLimitsMaxAs<float>(INT); },
                            "int");
  expectError<poplar_error>([&] { target.getTypeLimitsMaxAs<short>(HALF); },
                            "65504", "half");
  expectError<poplar_error>(
      [&] { target.getTypeLimitsLowestAs<unsigned>(INT); }, "int");
  expectError<poplar_error>([&] { target.getTypeLimitsMaxAs<float>(QUARTER); },
                            "quarter");
}

TEST(TargetNames, SystemsHaveAllTheirIpus) {
  const Target pod = Target::createIPUTarget("bow-pod64");
  EXPECT_EQ(pod.getNumIPUs(), 64U);
  EXPECT_EQ(pod.getTargetSystemString(), "bow-pod64");
  EXPECT_EQ(pod.getTargetArchString(), "ipu2");
  EXPECT_EQ(pod.getTileClockFrequency(), 1.85e9);
  EXPECT_EQ(pod.getIpuLinkDomainSize(), 64U);
  EXPECT_EQ(Target::createIPUTarget("_VIRTUAL_GRAPH_TEST_16").getNumIPUs(),
            16U);
  EXPECT_EQ(Target::createIPUTarget("ipu2").getNumIPUs(), 1U);
  EXPECT_EQ(Target::createIPUTarget(2, "pod4").getNumIPUs(), 2U);
  EXPECT_EQ(Target::createIPUTarget(2, "ipu1").getTargetSystemString(), "ipu1");
  EXPECT_EQ(DeviceManager().getDevice(0).getTarget().getTargetSystemString(),
            "bow-pod16");
  expectError<poplar_error>([] { Target::createIPUTarget(5, "pod4"); },
                            "5 IPUs", "4 in pod4");
  expectError<invalid_machine_model>([] { Target::createIPUTarget("pod5"); },
                                     "'pod5'", "ipu21", "bow-pod16");
}

TEST(TargetOptions, DescribeTheSystem) {
  const Target plain = Target::createIPUTarget(4, "pod64");
  EXPECT_EQ(plain.getIpuLinkTopology(), IpuLinkTopology::Mesh);
  EXPECT_EQ(plain.getIpuLinkConfiguration(), IpuLinkConfiguration::Default);
  EXPECT_TRUE(plain.getGatewayMode());
  EXPECT_EQ(plain.getInstanceSize(), 4U);
  const Target target =
      Target::createIPUTarget(4, "pod64",
                              {{"ipuLinkTopology", "torus"},
                               {"ipuLinkConfiguration", "BarleyTwist"},
                               {"ipuLinkDomainSize", "16"},
                               {"instanceSize", "2"},
                               {"syncConfiguration", "ipuAndAll"},
                               {"gatewayMode", "false"}});
  EXPECT_EQ(target.getIpuLinkTopology(), IpuLinkTopology::Torus);
  EXPECT_EQ(target.getIpuLinkConfiguration(),
            IpuLinkConfiguration::BarleyTwist);
  EXPECT_EQ(target.getIpuLinkDomainSize(), 16U);
  EXPECT_EQ(target.getInstanceSize(), 2U);
  EXPECT_FALSE(target.getGatewayMode());
  EXPECT_NE(target, plain);
}

TEST(TargetOptions, AreChecked) {
  const auto create = [](const OptionFlags &options) {
    Target::createIPUTarget(1, "ipu2", options);
  };
  expectError<invalid_option>(
      [&] {
        create({{"topology", "Mesh"}});
      },
      "'topology'", "ipuLinkTopology");
  expectError<invalid_option>(
      [&] {
        create({{"ipuLinkTopology", "Star"}});
      },
      "'Star'", "Mesh, Torus, Line");
  expectError<invalid_option>(
      [&] {
        create({{"ipuLinkDomainSize", "0"}});
      },
      "'ipuLinkDomainSize'", "'0'");
  expectError<invalid_option>(
      [&] {
        create({{"gatewayMode", "1"}});
      },
      "true, false");
  expectError<invalid_option>(
      [&] {
        create({{"syncConfiguration", ""}});
      },
      "ipuAndAll");
  expectError<invalid_option>(
      [] {
        IPUModel().createDevice({{"no such", "1"}});
      },
      "'no such'");
}

TEST(TargetOptions, OfTheEnvironmentComeLast) {
  const Environment options("POPLAR_TARGET_OPTIONS",
                            R"({"ipuLinkDomainSize":"8"})");
  const Target target =
      Target::createIPUTarget(1, "ipu2", {{"ipuLinkDomainSize", "4"}});
  EXPECT_EQ(target.getIpuLinkDomainSize(), 8U);
}

std::string written(const Target &target) {
  std::ostringstream stream;
  target.serialize(stream);
  return stream.str();
}

Target fromText(const std::string &text) {
  std::istringstream stream(text);
  return Target(stream);
}

TEST(TargetFiles, GiveTheSameTarget) {
  IPUModel model("ipu1");
  model.numIPUs = 2;
  model.tilesPerIPU = 7;
  model.tileClockFrequency = 1.234567891e9;
  model.memoryElementOffsets = {0, 100};
  for (const Target &target :
       {model.createDevice().getTarget(), Target::createCPUTarget(true, 3),
        Target::createIPUTarget("bow-pod256", {{"ipuLinkTopology", "Line"}})}) {
    std::istringstream stream(written(target) + "more");
    const Target read(stream);
    EXPECT_EQ(read, target);
    EXPECT_EQ(read.hash(), target.hash());
    std::string rest;
    stream >> rest;
    EXPECT_EQ(rest, "more"); // reads no further than the target
  }
}

TEST(TargetFiles, DamageIsAnError) {
  const std::string good = written(Target::createIPUTarget("bow-pod16"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THROW(fromText(damaged), poplar_error) << "byte " << i;
    EXPECT_THROW(fromText(good.substr(0, i)), poplar_error) << "cut at " << i;
  }
  expectError<poplar_error>([] { fromText("something else entirely"); },
                            "does not hold a target");
}

TEST(TargetOrder, IsOneOfValues) {
  const Target small = Target::createIPUTarget(1, 4, "ipu2");
  const Target large = Target::createIPUTarget(1, 8, "ipu2");
  EXPECT_LT(small, large);
  EXPECT_FALSE(large < small);
  EXPECT_NE(small.hash(), large.hash());
}

} // namespace
} // namespace poplar
