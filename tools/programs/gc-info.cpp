// gc-info: which IPUs and groups of them there are, and what is known of each.
#include "DeviceListing.hpp"
#include "Program.hpp"

#include <poplar/DeviceManager.hpp>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace {

using poplar::poplar_error;
using poplar::internal::IpuGroup;
using poplar::internal::PartitionStatus;
using tools::addFlag;
using tools::addOption;

PartitionStatus readIpus() {
  PartitionStatus partition = poplar::internal::readPartition();
  support::requireUser<poplar_error>(!partition.ipus.empty(),
                                     "no IPU detected in the system");
  return partition;
}

// The device that the option -d names.
IpuGroup chosenDevice(const CLI::Option *deviceId,
                      const PartitionStatus &partition) {
  const auto groups = poplar::internal::deviceGroups(
      static_cast<unsigned>(partition.ipus.size()));
  support::requireUser<poplar_error>(
      deviceId->count() > 0,
      "this needs a device: -d ID; the system has devices 0 to {}",
      groups.size() - 1);
  return groups[tools::parseDeviceId(deviceId->as<std::string>(),
                                     groups.size())];
}

poplar::Target chosenTarget(const CLI::Option *deviceId) {
  return poplar::DeviceManager()
      .getDevice(chosenDevice(deviceId, readIpus()).id)
      .getTarget();
}

std::string clockSpeed(const CLI::Option *deviceId) {
  return fmt::format("{:.0f}MHz\n",
                     chosenTarget(deviceId).getTileClockFrequency() / 1e6);
}

std::string chipIds(const CLI::Option *deviceId) {
  const PartitionStatus partition = readIpus();
  return tools::chipIds(partition, chosenDevice(deviceId, partition));
}

std::string tileOverview(const CLI::Option *deviceId) {
  const PartitionStatus partition = readIpus();
  const IpuGroup group = chosenDevice(deviceId, partition);
  const std::string grid =
      tools::tileOverview(chosenTarget(deviceId).getTilesPerIPU());
  std::string text;
  for (unsigned i = group.first; i < group.first + group.count; ++i) {
    const auto &ipu = partition.ipus[i];
    if (ipu.attachment) {
      throw poplar_error(
          fmt::format("IPU {} is in use by process {} ({}); this needs it free",
                      ipu.id, ipu.attachment->pid, ipu.attachment->executable));
    }
    text += group.count > 1 ? fmt::format("IPU {}:\n", ipu.id) : "";
    text += grid;
  }
  return text;
}

// Refuses `what`, for a device that exists.
[[noreturn]] void refuse(const CLI::Option *deviceId, const char *what) {
  chosenDevice(deviceId, readIpus());
  throw poplar_error(
      fmt::format("the emulated machine has no {}; it computes whole programs "
                  "in the process that runs them",
                  what));
}

// An option that says what to print.
struct Action {
  const CLI::Option *option;
  tools::Work text;
};

std::vector<Action> addListings(CLI::App &app) {
  const auto *allPartitions =
      addFlag(app, "--all-partitions",
              "With -l: list the IPUs of all partitions, without groups");
  return {
      {addFlag(app, "-l,--list-devices",
               "List the IPUs and the groups that they form"),
       [=] {
         return tools::deviceListing(readIpus(), allPartitions->count() == 0);
       }},
      {addFlag(app, "--list-all-devices", "The same as -l --all-partitions"),
       [] { return tools::deviceListing(readIpus(), false); }},
      {addFlag(app, "--ipu-count", "Print the number of IPUs"),
       [] {
         return fmt::format("{}\n",
                            poplar::internal::readPartition().ipus.size());
       }},
  };
}

std::vector<Action> addDeviceQueries(CLI::App &app,
                                     const CLI::Option *deviceId) {
  return {
      {addFlag(app, "-i,-I,--device-info", "Print all attributes of a device"),
       [=] {
         return tools::deviceInfo(poplar::internal::deviceAttributes(
             chosenDevice(deviceId, readIpus()).id));
       }},
      {addFlag(app, "--ipu-arch", "Print the architecture of a device"),
       [=] {
         return chosenTarget(deviceId).getTargetArchString().cloneAsString() +
                '\n';
       }},
      {addFlag(app, "--tile-clock-speed", "Print the clock of a device"),
       [=] { return clockSpeed(deviceId); }},
      {addFlag(app, "--chip-id", "Print what identifies each IPU of a device"),
       [=] { return chipIds(deviceId); }},
      {addFlag(app, "--tile-overview",
               "Print the state of all tiles of a free device"),
       [=] { return tileOverview(deviceId); }},
  };
}

// What only hardware has: accepted, and refused with the reason.
std::vector<Action> addRegisterQueries(CLI::App &app,
                                       const CLI::Option *deviceId) {
  const std::string group = "Not on emulated hardware";
  addOption(app, "-c,--context", "SU|W<n>", "The thread of --tile-status")
      ->group(group);
  addOption(app, "-r,--register", "NAME", "The register of --tile-status")
      ->group(group);
  const std::vector<std::pair<CLI::Option *, const char *>> refused = {
      {addOption(app, "--tile-status", "TILE",
                 "Print the registers of a tile, or of all: -"),
       "tile registers"},
      {addOption(app, "--dump-mem", "TILE ADDRESS LENGTH",
                 "Print memory of a tile")
           ->expected(3),
       "tile memory to read"},
      {addFlag(app, "--xb-status", "Print exchange block registers"),
       "exchange block registers"},
      {addFlag(app, "--gsp-status", "Print sync registers"),
       "global sync registers"},
      {addFlag(app, "--pci-status", "Print PCI registers"), "PCI registers"}};
  std::vector<Action> actions;
  for (const auto &[option, what] : refused) {
    option->group(group);
    actions.push_back({option, [deviceId, what = what]() -> std::string {
                         refuse(deviceId, what);
                       }});
  }
  return actions;
}

// The one action that the command line asks for.
const Action &chosenAction(const CLI::App &app,
                           const std::vector<Action> &actions) {
  const Action *chosen = nullptr;
  for (const Action &action : actions) {
    if (action.option->count() == 0) {
      continue;
    }
    if (chosen != nullptr) {
      throw poplar_error(fmt::format("both {} and {} given; choose one",
                                     chosen->option->get_name(),
                                     action.option->get_name()));
    }
    chosen = &action;
  }
  support::requireUser<poplar_error>(
      chosen != nullptr, "nothing to print was asked for\n\n{}", app.help());
  return *chosen;
}

tools::Work setUp(CLI::App &app) {
  const auto *deviceId = addOption(app, "-d,--device-id", "ID",
                                   "The device: an id that -l prints");
  std::vector<Action> actions = addListings(app);
  for (const auto &more :
       {addDeviceQueries(app, deviceId), addRegisterQueries(app, deviceId)}) {
    actions.insert(actions.end(), more.begin(), more.end());
  }
  return [&app, actions] { return chosenAction(app, actions).text(); };
}

} // namespace

int main(int argc, char **argv) {
  return tools::runTool(
      "gc-info",
      "Prints which emulated IPUs there are, and what is known of each.", setUp,
      argc, argv);
}
