// What Poplar logs. The environment is read once a process, so that each test
// runs in one of its own: death tests of this style start the program again.
#include "Environment.hpp"

#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace poplar {
namespace {

using test::Environment;

class PoplarLogDeathTest : public testing::Test {
protected:
  PoplarLogDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void attachAndDetach() {
  const Device device = DeviceManager().getDevice(2);
  device.attach();
  DeviceManager().getDevice(2).attach();
  device.detach();
  std::exit(0);
}

TEST_F(PoplarLogDeathTest, ShowsWhoHoldsDevices) {
  const Environment level("POPLAR_LOG_LEVEL", "INFO");
  const std::string line = "[-0-9]+T[:0-9.]+Z PO:TARGET [0-9]+[.][0-9]+ I: ";
  EXPECT_EXIT(attachAndDetach(), testing::ExitedWithCode(0),
              "^" + line + "device 2: attached\n" + line +
                  "device 2: another holds some of its IPUs\n" + line +
                  "device 2: detached\n$");
}

TEST_F(PoplarLogDeathTest, IsSilentByDefault) {
  EXPECT_EXIT(attachAndDetach(), testing::ExitedWithCode(0), "^$");
}

void compile() {
  Graph graph(Target::createIPUTarget(2, 4, "bow-pod4"));
  compileGraph(graph, {program::Sequence()}, {{"debug.instrument", "true"}});
  std::exit(0);
}

TEST_F(PoplarLogDeathTest, ShowsTargets) {
  const Environment level("POPLAR_TARGET_LOG_LEVEL", "DEBUG");
  EXPECT_EXIT(compile(), testing::ExitedWithCode(0),
              "D: target: 2 IPUs of bow-pod4, 4 tiles each at 1850 MHz\n$");
}

TEST_F(PoplarLogDeathTest, ShowsOptions) {
  const Environment level("POPLAR_ENGINE_LOG_LEVEL", "DEBUG");
  EXPECT_EXIT(compile(), testing::ExitedWithCode(0),
              "PO:ENGINE [0-9.]+ D: option debug.instrument = true\n");
}

void createTarget() {
  try {
    Target::createCPUTarget();
  } catch (const poplar_error &error) {
    std::fprintf(stderr, "poplar_error: %s", error.what());
    std::exit(1);
  }
  std::exit(0);
}

TEST_F(PoplarLogDeathTest, UnknownLevelsAreErrorsOfPoplar) {
  const Environment level("POPLAR_GRAPH_LOG_LEVEL", "loud");
  EXPECT_EXIT(createTarget(), testing::ExitedWithCode(1),
              "^poplar_error: Unknown POPLAR_GRAPH_LOG_LEVEL 'loud'. Valid "
              "values are TRACE, DEBUG, INFO, WARN, ERR and OFF.$");
}

TEST_F(PoplarLogDeathTest, FilesThatCannotBeWrittenAreErrorsOfPoplar) {
  const Environment level("POPLAR_LOG_LEVEL", "INFO");
  const Environment file("POPLAR_LOG_DEST", "/dev/null/log");
  EXPECT_EXIT(createTarget(), testing::ExitedWithCode(1),
              "^poplar_error: .*/dev/null/log");
}

} // namespace
} // namespace poplar
