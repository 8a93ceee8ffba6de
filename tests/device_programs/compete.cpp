// Attaches a device of <ipus> IPUs, whichever is free, <rounds> times, and
// marks each IPU that it holds with a file in <folder>. A mark that is there
// already is another holder: nobody else may have the IPU, whatever the
// registry says.
#include <poplar/DeviceManager.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

using namespace poplar;

static std::string folder;

static std::string markOf(int ipu) {
  return folder + "/ipu" + std::to_string(ipu);
}

static void mark(int ipu) {
  const int file = open(markOf(ipu).c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (file < 0) {
    std::cerr << "IPU " << ipu << " has two holders\n";
    std::exit(2);
  }
  close(file);
}

// Waits as the frameworks do: asks every matching device again and again.
static Device attachAny(unsigned ipus) {
  const DeviceManager manager = DeviceManager::createDeviceManager();
  auto devices = manager.getDevices(TargetType::IPU, ipus);
  for (;;) {
    for (Device &device : devices) {
      if (device.attach()) {
        return std::move(device);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int main(int argc, char **argv) {
  if (argc != 4) {
    return 1;
  }
  const auto ipus = static_cast<unsigned>(std::atoi(argv[1]));
  const int rounds = std::atoi(argv[2]);
  folder = argv[3];
  for (int round = 0; round < rounds; ++round) {
    const Device device = attachAny(ipus);
    const std::vector<int> held = device.getDriverIDs();
    for (const int ipu : held) {
      mark(ipu);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (const int ipu : held) {
      unlink(markOf(ipu).c_str());
    }
    if (round % 2 == 0) {
      device.detach(); // otherwise its end does
    }
  }
}
