#include "RegistryHolder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace poplar::internal {
namespace {

namespace fs = std::filesystem;

std::string userName(uid_t uid) {
  std::vector<char> buffer(16384); // what sysconf recommends at most
  passwd entry = {};
  passwd *found = nullptr;
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? std::to_string(uid) : found->pw_name;
}

std::string hostName() {
  std::array<char, 256> name = {};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// What the system knows of a process.
Holder lookUp(pid_t pid) {
  Holder holder;
  const std::string folder = fmt::format("/proc/{}", pid);
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) {
    return holder;
  }
  std::ifstream file(folder + "/cmdline", std::ios::binary);
  std::string commandLine((std::istreambuf_iterator<char>(file)), {});
  const std::string program = commandLine.c_str(); // up to the first zero
  while (!commandLine.empty() && commandLine.back() == '\0') {
    commandLine.pop_back();
  }
  std::replace(commandLine.begin(), commandLine.end(), '\0', ' ');
  holder.pid = pid;
  holder.uid = status.st_uid;
  holder.user = FixedText<32>(userName(status.st_uid));
  holder.executable = FixedText<64>(fs::path(program).filename().string());
  holder.commandLine = FixedText<512>(commandLine);
  holder.host = FixedText<64>(hostName());
  holder.since = std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  holder.attachedAt = coarseNow();
  return holder;
}

// A process locks an IPU and then writes its record: between the two, there is
// that of an earlier one.
Holder readHolder(const RegistryFile &file, unsigned ipu, pid_t pid) {
  std::optional<Holder> holder;
  constexpr unsigned attempts = 5;
  for (unsigned i = 0; i < attempts; ++i) {
    holder = file.read(ipu);
    if (holder && (pid == 0 || holder->pid == pid)) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Numbers still differ when its processes are numbered differently there.
  return holder && holder->pid != 0 ? *holder : lookUp(pid);
}

} // namespace

Holder describeThisProcess() {
  Holder holder = lookUp(getpid());
  holder.pid = getpid(); // also where there is no /proc
  return holder;
}

Attachment describeHolder(const RegistryFile &file, unsigned ipu, pid_t pid) {
  const Holder holder = readHolder(file, ipu, pid);
  Attachment result;
  result.pid = pid == 0 ? holder.pid : pid;
  result.isVisible = pid != 0 && fs::exists(fmt::format("/proc/{}", pid));
  result.user = holder.user.str();
  result.executable = holder.executable.str();
  result.commandLine = holder.commandLine.str();
  result.host = holder.host.str();
  result.deviceId = holder.deviceId;
  result.since = std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::nanoseconds(holder.since)));
  const Activity activity = file.readActivity(holder.firstIpu);
  const Utilisation utilisation =
      utilisationOf(activity, holder.attachedAt, coarseNow());
  result.utilisation = utilisation.recent;
  result.sessionUtilisation = utilisation.session;
  result.hostBytes = activity.hostBytes;
  return result;
}

} // namespace poplar::internal
