// What poprun makes of its options: shares of instances, the drawing, and the
// command line of mpirun.
#include "InstancePlan.hpp"
#include "LaunchInstances.hpp"

#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace tools;
using Words = std::vector<std::string>;

InstancePlan planOf(unsigned instances, unsigned replicas) {
  InstancePlan plan;
  plan.instances = instances;
  plan.replicas = replicas;
  return plan;
}

std::string valueOf(const Environment &environment, const std::string &name) {
  const auto found =
      std::find_if(environment.begin(), environment.end(),
                   [&](const auto &entry) { return entry.first == name; });
  return found == environment.end() ? "" : found->second;
}

TEST(Poprun, DrawsWhichInstanceHasWhichReplicas) {
  EXPECT_EQ(topologyTable(planOf(2, 8)),
            " ===========================================\n"
            "|              poprun topology              |\n"
            "|===========================================|\n"
            "| hosts     |           localhost           |\n"
            "|-----------|-------------------------------|\n"
            "| ILDs      |               0               |\n"
            "|-----------|-------------------------------|\n"
            "| instances |       0       |       1       |\n"
            "|-----------|-------------------------------|\n"
            "| replicas  | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n"
            " -------------------------------------------\n");
}

TEST(Poprun, DrawsOneReplicaBelowALongName) {
  EXPECT_EQ(topologyTable(planOf(1, 1)), " =====================\n"
                                         "|   poprun topology   |\n"
                                         "|=====================|\n"
                                         "| hosts     |localhost|\n"
                                         "|-----------|---------|\n"
                                         "| ILDs      |    0    |\n"
                                         "|-----------|---------|\n"
                                         "| instances |    0    |\n"
                                         "|-----------|---------|\n"
                                         "| replicas  | 0       |\n"
                                         " ---------------------\n");
}

TEST(Poprun, TellsInstancesTheirShare) {
  InstancePlan plan = planOf(4, 8);
  plan.ipusPerReplica = 2;
  plan.hosts = {"a", "b"};
  const Environment third = environmentOf(plan, 3);
  EXPECT_EQ(valueOf(third, "POPDIST_NUM_TOTAL_REPLICAS"), "8");
  EXPECT_EQ(valueOf(third, "POPDIST_NUM_LOCAL_REPLICAS"), "2");
  EXPECT_EQ(valueOf(third, "POPDIST_NUM_IPUS_PER_REPLICA"), "2");
  EXPECT_EQ(valueOf(third, "POPDIST_REPLICA_INDEX_OFFSET"), "6");
  EXPECT_EQ(valueOf(third, "POPDIST_LOCAL_INSTANCE_INDEX"), "1");
  EXPECT_EQ(valueOf(third, "POPDIST_EXECUTABLE_CACHE_PATH"), "");
}

TEST(Poprun, StartsEachInstanceWithItsVariables) {
  InstancePlan plan = planOf(2, 2);
  plan.onlyOutputFrom = 0;
  LaunchOptions options;
  options.globalArguments = {"--quiet"};
  options.localArguments = {"-x", "MINE=1"};
  options.exported = {"PATH"};
  options.allowRunAsRoot = true;
  const Words command = mpiCommand(plan, options, {"echo", "hello world"});
  const auto contexts = std::find(command.begin(), command.end(), ":");
  const Words first(command.begin(), contexts);
  const Words second(contexts + 1, command.end());
  EXPECT_EQ(
      Words(first.begin(), first.begin() + 9),
      (Words{"mpirun", "--tag-output", "--bind-to", "none", "--oversubscribe",
             "--quiet", "--allow-run-as-root", "-np", "1"}));
  EXPECT_EQ(Words(first.end() - 6, first.end()),
            (Words{"-x", "PATH", "-x", "MINE=1", "echo", "hello world"}));
  EXPECT_NE(
      std::find(second.begin(), second.end(), "POPDIST_REPLICA_INDEX_OFFSET=1"),
      second.end());
  // What the second prints is dropped.
  EXPECT_EQ(Words(second.end() - 6, second.end()),
            (Words{"sh", "-c", "exec \"$@\" >/dev/null 2>&1", "sh", "echo",
                   "hello world"}));
}

TEST(Poprun, TakesHostsAsListsAndRanges) {
  EXPECT_EQ(parseHosts("a,b"), (Words{"a", "b"}));
  EXPECT_EQ(parseHosts("host[0-2,4].net,x"),
            (Words{"host0.net", "host1.net", "host2.net", "host4.net", "x"}));
  for (const char *text : {"a,,b", "host[0-2", "host[a]"}) {
    EXPECT_THROW(parseHosts(text), poplar::poplar_error) << text;
  }
}

TEST(Poprun, RefusesUnevenShares) {
  EXPECT_THROW(checkPlan(planOf(2, 3)), poplar::poplar_error);
  EXPECT_THROW(checkPlan(planOf(0, 2)), poplar::poplar_error);
  InstancePlan plan = planOf(3, 3);
  plan.hosts = {"a", "b"};
  EXPECT_THROW(checkPlan(plan), poplar::poplar_error);
  plan.hosts = {"a"};
  plan.onlyOutputFrom = 3;
  EXPECT_THROW(checkPlan(plan), poplar::poplar_error);
}

} // namespace
