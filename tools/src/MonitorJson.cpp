#include "Monitor.hpp"
#include "MonitorCells.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tools {

using Json = nlohmann::ordered_json;
using poplar::internal::Attachment;
using poplar::internal::IpuStatus;

namespace {

std::string percent(double share) {
  return fmt::format("{:.2f}%", 100 * share);
}

Json ipuJson(const Snapshot &snapshot, const IpuStatus &ipu) {
  const Attachment process = ipu.attachment.value_or(Attachment{});
  Json json = {
      {"ID", std::to_string(ipu.id)},
      {"IPU#", std::to_string(ipu.ipuNumber)},
      {"PCIe ID", std::to_string(ipu.id)},
      {"Serial", ipu.serial},
      {"Routing", snapshot.routing},
      {"Clock", clockText(snapshot.partition)},
      {"Temp", notMeasured},
      {"IPU utilisation", percent(process.utilisation)},
      {"IPU utilisation session", percent(process.sessionUtilisation)}};
  if (ipu.attachment) {
    json["PID"] = std::to_string(process.pid);
    json["Command"] = process.executable;
    json["Time"] = heldFor(snapshot, process);
    json["User"] = process.user;
    json["Application host"] = process.host;
  }
  return json;
}

} // namespace

std::string monitorJson(const Snapshot &snapshot) {
  Json cards = Json::array();
  for (Ipus machine : byMachine(snapshot.partition.ipus)) {
    Json ipus = Json::array();
    for (const IpuStatus &ipu : machine) {
      ipus.push_back(ipuJson(snapshot, ipu));
    }
    cards.push_back({{"IPU-M", machine.front().machine},
                     {"Type", snapshot.partition.boardType},
                     {"IPU-M SW", snapshot.machineSoftware},
                     {"Server version", snapshot.serverVersion},
                     {"ICU FW", snapshot.firmware},
                     {"Board temp", notMeasured},
                     {"Board power", notMeasured},
                     {"ipus", std::move(ipus)}});
  }
  // User and file names may hold any bytes.
  return Json{{"cards", std::move(cards)}}.dump(
             2, ' ', false, Json::error_handler_t::replace) +
         '\n';
}

} // namespace tools
