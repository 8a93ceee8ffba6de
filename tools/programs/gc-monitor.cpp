// gc-monitor: the IPUs of the partition and the processes that hold them, now.
// It reads only, so that `watch gc-monitor` disturbs nobody.
#include "Monitor.hpp"
#include "Program.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

namespace {

tools::Snapshot takeSnapshot() {
  tools::Snapshot snapshot;
  snapshot.partition = poplar::internal::readPartition();
  snapshot.time = std::chrono::system_clock::now();
  support::requireUser<poplar::poplar_error>(
      !snapshot.partition.ipus.empty(),
      "no active partition: the system has no IPUs");
  const auto attributes = poplar::internal::deviceAttributes(0);
  snapshot.machineSoftware = attributes.at("gateway software version");
  snapshot.serverVersion = attributes.at("ipuof server version");
  snapshot.firmware = attributes.at("firmware version");
  snapshot.routing = attributes.at("ipuof routing type");
  return snapshot;
}

tools::Work setUp(CLI::App &app) {
  const auto *json =
      tools::addFlag(app, "-j,--json,--json-output", "Print JSON");
  const auto *noDevices =
      tools::addFlag(app, "--no-card-info", "Print processes only");
  tools::addFlag(app, "--all-partitions",
                 "Print all partitions: an emulated system is one");
  const auto *version =
      app.add_subcommand("version", "Print the version and exit");
  return [=]() -> std::string {
    if (version->parsed()) {
      return tools::versionLine() + '\n';
    }
    const tools::Snapshot snapshot = takeSnapshot();
    if (json->count() > 0) {
      return tools::monitorJson(snapshot);
    }
    return (noDevices->count() > 0 ? "" : tools::deviceTable(snapshot)) +
           tools::processTables(snapshot, tools::terminalWidth());
  };
}

} // namespace

int main(int argc, char **argv) {
  return tools::runTool(
      "gc-monitor",
      "Prints the emulated IPUs and the processes that hold them.", setUp, argc,
      argv);
}
