// Attaches to the devices whose ids are given, says so, and holds them until
// its input ends.
#include <cstdlib>
#include <iostream>
#include <poplar/DeviceManager.hpp>
#include <string>
#include <vector>

int main(int argc, char **argv) {
  auto manager = poplar::DeviceManager::createDeviceManager();
  std::vector<poplar::Device> devices;
  for (int i = 1; i < argc; ++i) {
    devices.push_back(manager.getDevice(unsigned(std::atoi(argv[i]))));
    if (!devices.back().attach()) {
      std::cout << "device " << argv[i] << " is taken" << std::endl;
      return 1;
    }
  }
  std::cout << "attached" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}
