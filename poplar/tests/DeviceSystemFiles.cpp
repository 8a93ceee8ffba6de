// System files that users write: what they may say, and what each mistake in
// them is answered with.
#include "Environment.hpp"
#include "ExpectError.hpp"

#include "device/System.hpp"

#include <poplar/DeviceManager.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Target.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace poplar {
namespace {

namespace fs = std::filesystem;
using internal::emulatedSystem;
using internal::findSystem;
using internal::System;
using internal::TargetData;
using test::Environment;

// A folder of files, as long as it lives.
class DeviceSystemFiles : public testing::Test {
protected:
  DeviceSystemFiles() { fs::create_directories(folder_); }
  ~DeviceSystemFiles() override { fs::remove_all(folder_); }

  std::string path(const std::string &name) const { return folder_ / name; }

  std::string write(const std::string &text,
                    const std::string &name = "mine.json") const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

  // What a system that differs from bow-pod16 by `text` is.
  TargetData differing(const std::string &text) const {
    return findSystem(
               write(R"({"name": "x", "based on": "bow-pod16", )" + text + "}"))
        .target;
  }

  template <typename... Parts>
  void expectRefused(const std::string &text, const Parts &...parts) const {
    const std::string file = write(text);
    expectError<invalid_machine_model>([&] { findSystem(file); }, file,
                                       parts...);
  }

  template <typename... Parts>
  void expectDifferenceRefused(const std::string &text,
                               const Parts &...parts) const {
    expectRefused(R"({"name": "x", "based on": "bow-pod16", )" + text + "}",
                  parts...);
  }

private:
  fs::path folder_ = fs::path(testing::TempDir()) /
                     ("aspen-systems-" + std::to_string(getpid()));
};

TEST_F(DeviceSystemFiles, DifferFromBuiltInOnesInAFewFigures) {
  const std::string file = write(R"({
    "name": "wide", "based on": "bow-pod16",
    "chip": {"tiles per IPU": {"value": 2944}}})");
  const System wide = findSystem(file);
  TargetData expected = findSystem("bow-pod16").target;
  expected.system = "wide";
  expected.tilesPerIPU = 2944;
  EXPECT_EQ(wide.name, "wide");
  EXPECT_EQ(wide.partition, "wide");
  EXPECT_EQ(wide.boardType, "M2000");
  const Target target = Target::createIPUTarget(file);
  EXPECT_EQ(target.getNumIPUs(), 16U);
  EXPECT_EQ(target.getTilesPerIPU(), 2944U);
  EXPECT_EQ(target.getTargetSystemString(), "wide");
  EXPECT_EQ(target.getTileClockFrequency(), 1.85e9);
  EXPECT_EQ(Target::createIPUTarget(4, file).getNumTiles(), 4 * 2944U);
  EXPECT_EQ(wide.target.hostToDeviceBytesPerSecond,
            expected.hostToDeviceBytesPerSecond);
  expectError<poplar_error>([&] { Target::createIPUTarget(17, file); },
                            "17 IPUs", "16 in wide");
}

TEST_F(DeviceSystemFiles, TakeEveryUnit) {
  const auto clock = [&](const std::string &figure) {
    return differing(R"("chip": {"clock": )" + figure + "}").clockHz;
  };
  EXPECT_EQ(clock("2.5"), 2.5e9);
  EXPECT_EQ(clock(R"({"value": 2.5})"), 2.5e9);
  EXPECT_EQ(clock(R"({"value": 2500, "unit": "MHz"})"), 2.5e9);
  EXPECT_EQ(clock(R"({"value": 2500000, "unit": "kHz"})"), 2.5e9);
  EXPECT_EQ(clock(R"({"value": 2.5e9, "unit": "Hz", "source": "wish"})"),
            2.5e9);
  const auto memory = [&](const std::string &figure) {
    return differing(R"("chip": {"memory per tile": )" + figure + "}")
        .bytesPerTile;
  };
  EXPECT_EQ(memory("1024"), 1U << 20);
  EXPECT_EQ(memory(R"({"value": 1, "unit": "MiB"})"), 1U << 20);
  EXPECT_EQ(memory(R"({"value": 1048576, "unit": "B"})"), 1U << 20);
  const auto link = [&](const std::string &figure) {
    return differing(R"("IPU-Link rate": )" + figure).linkBytesPerSecond;
  };
  EXPECT_EQ(link("20"), 20e9);
  EXPECT_EQ(link(R"({"value": 160, "unit": "Gbit/s"})"), 20e9);
  EXPECT_EQ(link(R"({"value": 20000, "unit": "MB/s"})"), 20e9);
  EXPECT_EQ(link(R"({"value": 0.02, "unit": "TB/s"})"), 20e9);
  const auto hop = [&](const std::string &figure) {
    return differing(R"("IPU-Link hop": )" + figure).linkHopSeconds;
  };
  EXPECT_EQ(hop("100"), 100e-9);
  EXPECT_EQ(hop(R"({"value": 0.25, "unit": "us"})"), 0.25e-6);
  EXPECT_EQ(hop(R"({"value": 0, "unit": "s"})"), 0);
}

TEST_F(DeviceSystemFiles, MemoryElementsFollowTheMemory) {
  const TargetData data = differing(R"("chip": {"memory per tile": 1024})");
  // 13 plain elements and 32 KiB pairs of them behind: 25.5 pairs.
  ASSERT_EQ(data.memoryElementOffsets.size(), 13U + 26U);
  EXPECT_EQ(data.memoryElementOffsets[13], 13 * 0x4000U);
  EXPECT_EQ(data.memoryElementOffsets.back(), 13 * 0x4000U + 25 * 0x8000U);
}

TEST_F(DeviceSystemFiles, DescribeTheSystem) {
  const std::string file = write(R"({
    "name": "ring", "about": "Bow chips in a ring", "based on": "bow-pod16",
    "board type": "Mine", "partition": "lab", "topology": "Torus",
    "link configuration": "BarleyTwist", "gateway": false,
    "IPUs": 1024, "IPU-Link domain": 128, "IPUs per machine": 8})");
  const System ring = findSystem(file);
  EXPECT_EQ(ring.partition, "lab");
  EXPECT_EQ(ring.boardType, "Mine");
  EXPECT_EQ(ring.target.numIPUs, 1024U);
  EXPECT_EQ(ring.target.ipuLinkDomainSize, 128U);
  EXPECT_EQ(ring.target.ipusPerMachine, 8U);
  EXPECT_EQ(ring.target.ipuLinkTopology, IpuLinkTopology::Torus);
  EXPECT_EQ(ring.target.ipuLinkConfiguration,
            IpuLinkConfiguration::BarleyTwist);
  EXPECT_FALSE(ring.target.hasGateway);
  // Another that is based on it keeps all but the names.
  const System two = findSystem(write(
      R"({"name": "two", "based on": "./mine.json", "IPUs": 2})", "b.json"));
  EXPECT_EQ(two.partition, "two");
  EXPECT_EQ(two.target.ipuLinkTopology, IpuLinkTopology::Torus);
  EXPECT_EQ(two.target.ipuLinkDomainSize, 2U);
}

TEST_F(DeviceSystemFiles, ReplaceTheChip) {
  EXPECT_EQ(differing(R"("chip": "ipu21")").arch, "ipu21");
  const TargetData data =
      differing(R"("chip": {"based on": "ipu1", "worker contexts": 8})");
  EXPECT_EQ(data.arch, "ipu1");
  EXPECT_EQ(data.tilesPerIPU, 1216U);
  EXPECT_EQ(data.workerContexts, 8U);
  EXPECT_EQ(data.hostToDeviceBytesPerSecond, 10e9); // of the system
  write(R"({"name": "own", "based on": "bow", "global sync": 300})",
        "chip.json");
  EXPECT_EQ(differing(R"("chip": "chip.json")").globalSyncCycles, 300U);
}

TEST_F(DeviceSystemFiles, AreModelsToo) {
  const std::string file =
      write(R"({"name": "own", "based on": "bow", "tiles per IPU": 100,
                "IPU to host": 50})");
  IPUModel model(("ipu:" + file).c_str());
  EXPECT_EQ(model.numIPUs, 1U);
  EXPECT_EQ(model.tilesPerIPU, 100U);
  EXPECT_EQ(model.tileClockFrequency, 1.85e9);
  EXPECT_EQ(model, IPUModel(("ipu:" + file).c_str()));
  EXPECT_NE(model, IPUModel());
  model.numIPUs = 2;
  fs::remove(file); // was read when the model was made
  const Device device = model.createDevice();
  EXPECT_EQ(device.getTarget().getNumTiles(), 200U);
  EXPECT_EQ(device.getTarget().getTargetType(), TargetType::IPU_MODEL);
  EXPECT_EQ(device.getTarget().getTargetArchString(), "ipu2");
  EXPECT_EQ(internal::targetData(device.getTarget()).deviceToHostBytesPerSecond,
            50e9);
  expectError<invalid_machine_model>([&] { IPUModel(("ipu:" + file).c_str()); },
                                     file, "does not exist");
  expectError<invalid_machine_model>([] { IPUModel("bow"); }, "'bow'",
                                     "ipu1, ipu2 and ipu21", "ipu:<file>");
  // A system's chip, with the connections of the system.
  const Device bow = IPUModel("ipu:bow-pod16").createDevice();
  EXPECT_EQ(bow.getTarget().getNumIPUs(), 1U);
  EXPECT_EQ(internal::targetData(bow.getTarget()).deviceToHostBytesPerSecond,
            5.5e9);
}

TEST_F(DeviceSystemFiles, AreTheEmulatedSystem) {
  EXPECT_EQ(emulatedSystem().name, "bow-pod16");
  {
    const Environment system("ASPEN_SYSTEM", "");
    EXPECT_EQ(emulatedSystem().name, "bow-pod16");
  }
  {
    const Environment system("ASPEN_SYSTEM", "pod64");
    EXPECT_EQ(emulatedSystem().target.numIPUs, 64U);
    EXPECT_EQ(emulatedSystem().target.clockHz, 1.33e9);
  }
  {
    const Environment system("ASPEN_SYSTEM", "none");
    EXPECT_EQ(emulatedSystem().target.numIPUs, 0U);
    EXPECT_EQ(emulatedSystem().name, "none");
  }
  {
    const Environment system(
        "ASPEN_SYSTEM",
        write(R"({"name": "x", "based on": "c600", "IPUs": 8})"));
    EXPECT_EQ(emulatedSystem().target.numIPUs, 8U);
    EXPECT_EQ(emulatedSystem().boardType, "C600");
  }
  const Environment system("ASPEN_SYSTEM", "pod65");
  expectError<invalid_machine_model>([] { emulatedSystem(); }, "'pod65'",
                                     "did you mean 'pod64'?", "ASPEN_SYSTEM");
}

TEST_F(DeviceSystemFiles, MustBeReadable) {
  expectError<invalid_machine_model>([&] { findSystem(path("no.json")); },
                                     path("no.json"), "does not exist");
  expectError<invalid_machine_model>([&] { findSystem(path("")); },
                                     "is not a regular file");
  expectError<invalid_machine_model>([] { findSystem("/dev/zero"); },
                                     "/dev/zero is not a regular file");
  expectRefused(std::string((1 << 20) + 1, ' '), "1048577 bytes", "1048576");
  expectRefused("", "not JSON");
  expectRefused("tiles: 1472", "not JSON: parse error at line 1, column 2");
  expectRefused("[1, 2]", "[1,2] given", "a JSON object");
  expectRefused(R"({"name": "x", "name": "y"})", "'name' is there twice");
  expectRefused(R"({"name": 1e999})", "not JSON");
  expectRefused(std::string(100000, '['), "not JSON");
}

TEST_F(DeviceSystemFiles, MustBeWhole) {
  const std::string whole =
      R"({"name": "wide", "based on": "bow-pod16", "chip": {"clock": 2}})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expectRefused(whole.substr(0, size), "not JSON");
  }
  EXPECT_EQ(findSystem(write(whole)).target.clockHz, 2e9);
  expectRefused(R"({"name": "x", "chip": "bow"})", "'IPUs' is missing",
                "based on");
  expectRefused(R"({"name": "x", "chip": "bow", "IPUs": 2})",
                "'board type' is missing");
  expectRefused(R"({"name": "x"})", "'tiles per IPU' is missing");
  expectRefused(R"({"based on": "bow"})", "'name' is missing");
}

TEST_F(DeviceSystemFiles, HaveNoOtherKeys) {
  expectDifferenceRefused(R"("IPU": 4)", "the key 'IPU' does not exist",
                          "name, about, based on, chip",
                          "did you mean 'IPUs'?");
  expectDifferenceRefused(R"("chip": {"Clok": 4})", "'Clok'",
                          "did you mean 'clock'?");
  expectDifferenceRefused(R"("chip": {"clock": {"value": 2, "Unit": "GHz"}})",
                          "'clock' has the key 'Unit'", "value, unit, source");
  expectDifferenceRefused(R"("clock": 2)", "'clock' belongs into \"chip\"");
  expectDifferenceRefused(R"("chip": {"IPU to host": 2})",
                          "'IPU to host' belongs outside \"chip\"");
  expectRefused(R"({"name": "x", "based on": "ipu2", "IPUs": 2})",
                "'IPUs' is of a system", "this is a chip");
  expectRefused(R"({"name": "x", "based on": "ipu2", "chip": "bow"})",
                "'chip' is of a system");
}

TEST_F(DeviceSystemFiles, HaveValuesInRange) {
  expectDifferenceRefused(R"("chip": {"tiles per IPU": 0})",
                          "'tiles per IPU' is 0", "1 to 100000");
  expectDifferenceRefused(R"("chip": {"tiles per IPU": 100001})", "100001");
  expectDifferenceRefused(R"("chip": {"tiles per IPU": 1.5})",
                          "'tiles per IPU' is 1.5", "whole numbers");
  expectDifferenceRefused(R"("chip": {"clock": {"value": 999, "unit": "kHz"}})",
                          "'clock' is 999 kHz", "0.001 to 100 GHz");
  expectDifferenceRefused(R"("chip": {"clock": 101})", "'clock' is 101 GHz");
  expectDifferenceRefused(R"("IPUs": 8192)", "'IPUs' is 8192", "1 to 4096");
  expectDifferenceRefused(R"("IPUs": 12)", "'IPUs' is 12", "a power of two");
  expectDifferenceRefused(R"("IPUs": -4)", "'IPUs' is -4");
  expectDifferenceRefused(
      R"("chip": {"memory per tile": {"value": 0.1, "unit": "MiB"}})",
      "'memory per tile' is 0.1 MiB", "whole B");
  expectDifferenceRefused(R"("chip": {"memory per tile": 208})",
                          "'memory elements for code' is 13 of 16384 B");
  expectDifferenceRefused(R"("chip": {"memory element": 0.0625})",
                          "'memory element' is 0.0625 KiB");
  expectDifferenceRefused(R"("chip": {"memory per tile": 65536})",
                          "in elements of 16384 B", "at most 1024");
  expectDifferenceRefused(R"("chip": {"sync of nearest tile": 127})",
                          "'sync of nearest tile' is 127", "126");
}

TEST_F(DeviceSystemFiles, HaveUnitsThatFit) {
  expectDifferenceRefused(R"("chip": {"clock": {"value": 2, "unit": "GB/s"}})",
                          "'clock' has the unit 'GB/s'", "Hz, kHz, MHz, GHz");
  expectDifferenceRefused(R"("IPU-Link rate": {"value": 2, "unit": "B/cycle"})",
                          "'IPU-Link rate' has the unit 'B/cycle'", "B/s",
                          "Gbit/s");
  expectDifferenceRefused(R"("chip": {"memory per tile": {"value": 2,
                             "unit": "MB"}})",
                          "'MB'", "B, KiB, MiB, GiB");
  expectDifferenceRefused(R"("IPUs": {"value": 2, "unit": ""})", "''", "1");
}

TEST_F(DeviceSystemFiles, HaveValuesOfTheRightKind) {
  expectDifferenceRefused(R"("IPUs": "four")", "'IPUs' is \"four\"",
                          "\"value\": number");
  expectDifferenceRefused(R"("IPUs": {"value": "4"})", "'IPUs'");
  expectDifferenceRefused(R"("IPUs": {"value": 4, "unit": 1})",
                          "the unit 1; allowed: a string");
  expectDifferenceRefused(R"("IPUs": {"value": 4, "source": null})",
                          "the source null");
  expectDifferenceRefused(R"("topology": "Star")", "'topology' is \"Star\"",
                          "\"Mesh\", \"Torus\", \"Line\"");
  expectDifferenceRefused(R"("link configuration": 3)", "BarleyTwist");
  expectDifferenceRefused(R"("gateway": 1)", "'gateway' is 1", "true, false");
  expectDifferenceRefused(R"("partition": "../lab")", "letters, digits");
  expectDifferenceRefused(R"("board type": "")", "not empty");
  expectDifferenceRefused(R"("about": [])", "'about' is []");
  expectDifferenceRefused(R"("chip": 2)", "the name of a chip");
  expectDifferenceRefused(R"("chip": {"architecture": "ipu3"})",
                          "\"ipu1\", \"ipu2\", \"ipu21\"");
  expectRefused(R"({"name": "two words", "based on": "bow"})",
                "'name' is \"two words\"");
  expectRefused(R"({"name": "x", "based on": "bow-pod16", "chip": "pod4"})",
                "'chip' is \"pod4\"", "this is a system");
}

TEST_F(DeviceSystemFiles, MustBeBasedOnSomethingThatExists) {
  expectError<invalid_machine_model>(
      [&] { findSystem(write(R"({"name": "x", "based on": "bow-pod17"})")); },
      "'bow-pod17'", "did you mean 'bow-pod16'?");
  expectRefused(R"({"name": "x", "based on": "mine.json"})",
                "based on each other");
}

} // namespace
} // namespace poplar
