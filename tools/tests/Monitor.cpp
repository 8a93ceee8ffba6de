#include "Monitor.hpp"

#include "MadeUpHardware.hpp"
#include "MonitorCells.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tools {
namespace {

using poplar::internal::PartitionStatus;
using std::chrono::seconds;
using testing::attachment;
using testing::partitionOf;
using testing::snapshotOf;

TEST(DeviceTable, IsThatOfTheDocuments) {
  EXPECT_EQ(
      deviceTable(snapshotOf(partitionOf(4, "pt-trainee01-4-ipus"))),
      R"(+---------------+---------------------------------------------------------------------------------+
|  gc-monitor   |        Partition: pt-trainee01-4-ipus [active] has 4 reconfigurable IPUs        |
+-------------+--------------------+--------+--------------+----------+-------+----+------+-------+
|    IPU-M    |       Serial       |IPU-M SW|Server version|  ICU FW  | Type  | ID | IPU# |Routing|
+-------------+--------------------+--------+--------------+----------+-------+----+------+-------+
|  10.1.5.7   | 0069.0002.8210521  |        |    1.9.0     |  2.4.4   | M2000 | 0  |  3   |  DNC  |
|  10.1.5.7   | 0069.0002.8210521  |        |    1.9.0     |  2.4.4   | M2000 | 1  |  2   |  DNC  |
|  10.1.5.7   | 0069.0001.8210521  |        |    1.9.0     |  2.4.4   | M2000 | 2  |  1   |  DNC  |
|  10.1.5.7   | 0069.0001.8210521  |        |    1.9.0     |  2.4.4   | M2000 | 3  |  0   |  DNC  |
+-------------+--------------------+--------+--------------+----------+-------+----+------+-------+
)");
}

TEST(DeviceTable, SeparatesMachinesAndShortensLongAddresses) {
  PartitionStatus partition = partitionOf(2);
  partition.ipus[1].machine = "192.168.100.123";
  EXPECT_EQ(
      deviceTable(snapshotOf(partition)),
      R"(+---------------+---------------------------------------------------------------------------------+
|  gc-monitor   |                Partition: p1 [active] has 2 reconfigurable IPUs                 |
+-------------+--------------------+--------+--------------+----------+-------+----+------+-------+
|    IPU-M    |       Serial       |IPU-M SW|Server version|  ICU FW  | Type  | ID | IPU# |Routing|
+-------------+--------------------+--------+--------------+----------+-------+----+------+-------+
|  10.1.5.7   | 0069.0002.8210521  |        |    1.9.0     |  2.4.4   | M2000 | 0  |  3   |  DNC  |
+-------------+--------------------+--------+--------------+----------+-------+----+------+-------+
|...68.100.123| 0069.0002.8210521  |        |    1.9.0     |  2.4.4   | M2000 | 1  |  2   |  DNC  |
+-------------+--------------------+--------+--------------+----------+-------+----+------+-------+
)");
}

TEST(ProcessTables, SayThatNobodyIsAttached) {
  EXPECT_EQ(
      processTables(snapshotOf(partitionOf(4, "ipuof")), 200),
      R"(+-------------------------------------------------------------------------------------------------+
|                            No attached processes in partition ipuof                             |
+-------------------------------------------------------------------------------------------------+
)");
}

PartitionStatus partitionInUse() {
  PartitionStatus partition = partitionOf(8);
  const auto python = attachment(205698, "trainee01", "python", seconds(13));
  for (unsigned id : {0, 1, 4}) {
    partition.ipus[id].attachment = python;
  }
  partition.ipus[6].attachment =
      attachment(77, "a-very-long-name", "gc-hosttraffictest", seconds(3723));
  return partition;
}

TEST(ProcessTables, GroupRowsByMachine) {
  const char *expected =
      R"(+------------------------------------------------------------------------+------------------------+-----------------+
|                   Attached processes in partition p1                   |          IPU           |      Board      |
+--------+-----------------------------------------+--------+------------+----+----------+--------+--------+--------+
|  PID   |                 Command                 |  Time  |    User    | ID |  Clock   |  Temp  |  Temp  | Power  |
+--------+-----------------------------------------+--------+------------+----+----------+--------+--------+--------+
| 205698 |                 python                  |  13s   | trainee01  | 0  | 1330MHz  |  N/A   |  N/A   |  N/A   |
| 205698 |                 python                  |  13s   | trainee01  | 1  | 1330MHz  |  N/A   |        |        |
+--------+-----------------------------------------+--------+------------+----+----------+--------+--------+--------+
| 205698 |                 python                  |  13s   | trainee01  | 4  | 1330MHz  |  N/A   |  N/A   |  N/A   |
|   77   |           gc-hosttraffictest            | 1h2m3s |...long-name| 6  | 1330MHz  |  N/A   |        |        |
+--------+-----------------------------------------+--------+------------+----+----------+--------+--------+--------+
)";
  const Snapshot snapshot = snapshotOf(partitionInUse());
  EXPECT_EQ(processTables(snapshot, 117), expected);
  // Narrower than the columns need.
  EXPECT_EQ(processTables(snapshot, 80), expected);
  EXPECT_EQ(processTables(snapshot, 1), expected);
}

TEST(ProcessTables, FillTheTerminal) {
  const Snapshot snapshot = snapshotOf(partitionInUse());
  for (std::size_t width : {118, 158, 163, 239}) {
    std::istringstream lines(processTables(snapshot, width));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_EQ(line.size(), width);
    }
  }
}

TEST(ProcessTables, ShowIpusOfOtherNamespacesApart) {
  PartitionStatus partition = partitionOf(8);
  for (unsigned id : {1, 2, 4}) {
    auto &attached = partition.ipus[id].attachment.emplace();
    attached.isVisible = false;
    attached.host = "node7";
  }
  const std::string expected =
      R"(+--------------------------------------------------------------+-----------------------+
|          IPUs in p1 attached from other namespaces           |         Board         |
+----+------------------------------+--------------+-----------+-----------+-----------+
| ID |       Application host       |    Clock     |   Temp    |   Temp    |   Power   |
+----+------------------------------+--------------+-----------+-----------+-----------+
| 1  |            node7             |   1330MHz    |    N/A    |    N/A    |    N/A    |
| 2  |            node7             |   1330MHz    |    N/A    |           |           |
+----+------------------------------+--------------+-----------+-----------+-----------+
| 4  |            node7             |   1330MHz    |    N/A    |    N/A    |    N/A    |
+----+------------------------------+--------------+-----------+-----------+-----------+
)";
  EXPECT_EQ(processTables(snapshotOf(partition), 117), expected);

  partition.ipus[0].attachment =
      attachment(5, "trainee01", "python", seconds(1));
  const std::string both = processTables(snapshotOf(partition), 117);
  EXPECT_NE(both.find("|   5    "), std::string::npos) << both;
  EXPECT_TRUE(both.ends_with(expected)) << both;
}

TEST(DurationText, HasTheUnitsThatItNeeds) {
  EXPECT_EQ(durationText(seconds(0)), "0s");
  EXPECT_EQ(durationText(seconds(13)), "13s");
  EXPECT_EQ(durationText(seconds(63)), "1m3s");
  EXPECT_EQ(durationText(seconds(241)), "4m1s");
  EXPECT_EQ(durationText(seconds(3600)), "1h0m0s");
  EXPECT_EQ(durationText(seconds(35999)), "9h59m59s");
  EXPECT_EQ(durationText(seconds(36063)), "10h1m");
  EXPECT_EQ(durationText(seconds(3600 * 100)), "100h0m");
  // A clock that was set back.
  EXPECT_EQ(durationText(seconds(-5)), "0s");
}

TEST(MonitorJson, HasACardForEachMachine) {
  PartitionStatus partition = partitionInUse();
  partition.ipus[4].attachment->utilisation = 0.87364;
  partition.ipus[4].attachment->sessionUtilisation = 0.5;
  const auto json = nlohmann::json::parse(monitorJson(snapshotOf(partition)));
  ASSERT_EQ(json["cards"].size(), 2);
  const auto &card = json["cards"][1];
  EXPECT_EQ(card["IPU-M"], "10.1.5.8");
  EXPECT_EQ(card["Type"], "M2000");
  EXPECT_EQ(card["Server version"], "1.9.0");
  ASSERT_EQ(card["ipus"].size(), 4);
  EXPECT_EQ(card["ipus"][0], nlohmann::json::parse(R"({
    "ID": "4", "IPU#": "3", "PCIe ID": "4", "Serial": "0069.0002.8210521",
    "Routing": "DNC", "Clock": "1330MHz", "Temp": "N/A",
    "IPU utilisation": "87.36%", "IPU utilisation session": "50.00%",
    "PID": "205698", "Command": "python", "Time": "13s",
    "User": "trainee01", "Application host": ""})"));
  EXPECT_EQ(card["ipus"][1], nlohmann::json::parse(R"({
    "ID": "5", "IPU#": "2", "PCIe ID": "5", "Serial": "0069.0002.8210521",
    "Routing": "DNC", "Clock": "1330MHz", "Temp": "N/A",
    "IPU utilisation": "0.00%", "IPU utilisation session": "0.00%"})"));
}

TEST(MonitorJson, TakesNamesOfAnyBytes) {
  PartitionStatus partition = partitionOf(1);
  partition.ipus[0].attachment = attachment(1, "\xff", "\"py\"", seconds(1));
  const auto json = nlohmann::json::parse(monitorJson(snapshotOf(partition)));
  EXPECT_EQ(json["cards"][0]["ipus"][0]["Command"], "\"py\"");
}

} // namespace
} // namespace tools
