// Attaches devices as it is told on standard input, one command a line, and
// answers each with one line:
//   attach <id>   "yes" or "no"
//   detach <id>   "done"
//   fork          "<pid>" of a child that lives until it is killed
//   exec          the same for a child that becomes another program
// It ends at the end of its input.
#include <poplar/DeviceManager.hpp>

#include <iostream>
#include <map>
#include <string>

#include <unistd.h>

static pid_t startChild(bool becomesAnother) {
  const pid_t child = fork();
  if (child == 0) {
    // The tests wait for the end of our output, not of the children's.
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    if (becomesAnother) {
      execl("/bin/sleep", "sleep", "60", static_cast<char *>(nullptr));
    }
    sleep(60);
    _exit(0);
  }
  return child;
}

int main() {
  const poplar::DeviceManager manager =
      poplar::DeviceManager::createDeviceManager();
  std::map<unsigned, poplar::Device> devices;
  std::string command;
  while (std::cin >> command) {
    unsigned id = 0;
    if (command == "fork" || command == "exec") {
      std::cout << startChild(command == "exec") << std::endl;
      continue;
    }
    std::cin >> id;
    if (devices.count(id) == 0) {
      devices[id] = manager.getDevice(id);
    }
    if (command == "attach") {
      std::cout << (devices[id].attach() ? "yes" : "no") << std::endl;
    } else {
      devices[id].detach();
      std::cout << "done" << std::endl;
    }
  }
}
