#include "Monitor.hpp"
#include "MonitorCells.hpp"
#include "TextTable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tools {

using poplar::internal::Attachment;
using poplar::internal::IpuStatus;

namespace {

Columns deviceColumns() {
  return Columns({13, 20, 8, 14, 10, 7, 4, 6, 7});
}

// What the process table needs besides its column for the command.
constexpr std::size_t fixedWidth = 76;
constexpr std::size_t minCommandWidth = 41;

// The attached IPUs, those of processes that are visible from here or those of
// the others.
std::vector<IpuStatus> attachedIpus(const Snapshot &snapshot, bool visible) {
  std::vector<IpuStatus> attached;
  std::copy_if(snapshot.partition.ipus.begin(), snapshot.partition.ipus.end(),
               std::back_inserter(attached), [&](const IpuStatus &ipu) {
                 return ipu.attachment && ipu.attachment->isVisible == visible;
               });
  return attached;
}

// A row for each IPU, its own cells and then those of its board, which only the
// first IPU of an IPU-Machine shows; a line after each IPU-Machine.
template <typename CellsOf>
std::string boardRows(const Columns &columns, Ipus ipus, CellsOf cellsOf) {
  std::string text;
  for (Ipus machine : byMachine(ipus)) {
    for (const IpuStatus &ipu : machine) {
      std::vector<std::string> cells = cellsOf(ipu);
      const bool isFirst = &ipu == &machine.front();
      cells.insert(cells.end(), 2, isFirst ? notMeasured : "");
      text += columns.row(cells);
    }
    text += columns.separator();
  }
  return text;
}

std::string processTable(const Snapshot &snapshot, Ipus ipus,
                         std::size_t width) {
  const std::size_t command =
      std::max(minCommandWidth, width - std::min(width, fixedWidth));
  const Columns title({command + 31, 24, 17});
  const Columns columns({8, command, 8, 12, 4, 10, 8, 8, 8});
  return title.separator() +
         title.row(
             {"Attached processes in partition " + snapshot.partition.name,
              "IPU", "Board"}) +
         columns.separator() +
         columns.row({"PID", "Command", "Time", "User", "ID", "Clock", "Temp",
                      "Temp", "Power"}) +
         columns.separator() +
         boardRows(columns, ipus, [&](const IpuStatus &ipu) {
           const Attachment &process = *ipu.attachment;
           return std::vector<std::string>{std::to_string(process.pid),
                                           process.executable,
                                           heldFor(snapshot, process),
                                           process.user,
                                           std::to_string(ipu.id),
                                           clockText(snapshot.partition),
                                           notMeasured};
         });
}

std::string hiddenTable(const Snapshot &snapshot, Ipus ipus) {
  const Columns title({62, 23});
  const Columns columns({4, 30, 14, 11, 11, 11});
  return title.separator() +
         title.row({fmt::format("IPUs in {} attached from other namespaces",
                                snapshot.partition.name),
                    "Board"}) +
         columns.separator() +
         columns.row(
             {"ID", "Application host", "Clock", "Temp", "Temp", "Power"}) +
         columns.separator() +
         boardRows(columns, ipus, [&](const IpuStatus &ipu) {
           return std::vector<std::string>{
               std::to_string(ipu.id), ipu.attachment->host,
               clockText(snapshot.partition), notMeasured};
         });
}

} // namespace

std::string deviceTable(const Snapshot &snapshot) {
  const auto &partition = snapshot.partition;
  const Columns title({15, 81});
  const Columns columns = deviceColumns();
  std::string text =
      title.separator() +
      title.row(
          {"gc-monitor",
           fmt::format("Partition: {} [active] has {} reconfigurable IPUs",
                       partition.name, partition.ipus.size())}) +
      columns.separator() +
      columns.row({"IPU-M", "Serial", "IPU-M SW", "Server version", "ICU FW",
                   "Type", "ID", "IPU#", "Routing"}) +
      columns.separator();
  for (Ipus machine : byMachine(partition.ipus)) {
    for (const IpuStatus &ipu : machine) {
      text += columns.row({ipu.machine, ipu.serial, snapshot.machineSoftware,
                           snapshot.serverVersion, snapshot.firmware,
                           partition.boardType, std::to_string(ipu.id),
                           std::to_string(ipu.ipuNumber), snapshot.routing});
    }
    text += columns.separator();
  }
  return text;
}

std::string processTables(const Snapshot &snapshot, std::size_t width) {
  const std::vector<IpuStatus> visible = attachedIpus(snapshot, true);
  const std::vector<IpuStatus> hidden = attachedIpus(snapshot, false);
  if (visible.empty() && hidden.empty()) {
    const Columns box({deviceColumns().lineLength() - 2});
    return box.separator() +
           box.row({"No attached processes in partition " +
                    snapshot.partition.name}) +
           box.separator();
  }
  return (visible.empty() ? "" : processTable(snapshot, visible, width)) +
         (hidden.empty() ? "" : hiddenTable(snapshot, hidden));
}

} // namespace tools
