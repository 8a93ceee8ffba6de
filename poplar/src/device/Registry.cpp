#include "Registry.hpp"

#include "RegistryHolder.hpp"

#include <fmt/format.h>
#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include <pthread.h>
#include <unistd.h>

namespace poplar::internal {
namespace {

namespace fs = std::filesystem;

// Guards all registries. Held across fork(), so that a child finds them whole.
std::mutex &mutex() {
  static auto &mutex = *new std::mutex;
  return mutex;
}

std::string defaultName(const System &system) {
  std::string partition = system.partition;
  std::replace_if(
      partition.begin(), partition.end(),
      [](char c) { return c == '/' || c == '\0' || c == '.'; }, '_');
  return fmt::format("aspen-ipus-{}-{}-{}", geteuid(), partition,
                     system.target.numIPUs);
}

fs::path sharedMemory() {
  const char *folder = "/dev/shm";
  return access(folder, W_OK | X_OK) == 0 ? fs::path(folder)
                                          : fs::temp_directory_path();
}

RegistryFile::Place placeOf(const System &system) {
  const unsigned ipus = system.target.numIPUs;
  const char *text = std::getenv("ASPEN_REGISTRY");
  if (text == nullptr || *text == '\0') {
    return {(sharedMemory() / defaultName(system)).string(), true, ipus};
  }
  std::error_code error;
  const fs::path path = fs::absolute(text, error).lexically_normal();
  if (fs::is_directory(path, error)) {
    return {(path / defaultName(system)).string(), true, ipus};
  }
  return {path.string(), false, ipus};
}

} // namespace

// Never destroyed: devices may be, after everything else of the process.
std::vector<std::unique_ptr<Registry>> &Registry::all() {
  static auto &registries = *new std::vector<std::unique_ptr<Registry>>;
  return registries;
}

void Registry::forgetAllAfterFork() {
  for (const auto &registry : all()) {
    for (Owner &owner : registry->owners_) {
      if (owner.claim != nullptr) {
        owner.claim->use()->countIn(nullptr);
      }
      owner = {};
    }
  }
  mutex().unlock();
}

Registry &Registry::of(const System &system) {
  static const int handlers =
      pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); },
                     [] { forgetAllAfterFork(); });
  support::requireInternal(handlers == 0, "no room for fork handlers");
  const RegistryFile::Place place = placeOf(system);
  const std::lock_guard lock(mutex());
  for (const auto &registry : all()) {
    if (registry->place_.path == place.path) {
      support::requireUser<poplar_error>(
          registry->place_.ipus == place.ipus,
          "[poplar::Device] ASPEN_REGISTRY names '{}', which this process uses "
          "for a system of {} IPUs already; this one has {}",
          place.path, registry->place_.ipus, place.ipus);
      return *registry;
    }
  }
  all().push_back(std::unique_ptr<Registry>(new Registry(place)));
  return *all().back();
}

Registry::Registry(RegistryFile::Place place)
    : place_(std::move(place)), owners_(place_.ipus) {}

RegistryFile *Registry::currentFile(bool mayCreate) {
  if (!files_.empty() && files_.back()->isAt(place_.path)) {
    return files_.back().get();
  }
  auto file = mayCreate ? RegistryFile::openOrCreate(place_)
                        : RegistryFile::openExisting(place_);
  if (file == nullptr) {
    return nullptr;
  }
  return files_.emplace_back(std::move(file)).get();
}

bool Registry::lockAll(RegistryFile &file, const IpuGroup &group) {
  for (unsigned i = 0; i < group.count; ++i) {
    if (!file.lock(group.first + i)) {
      unlock(file, group.first, i);
      return false;
    }
  }
  return true;
}

void Registry::unlock(RegistryFile &file, unsigned first, unsigned count) {
  for (unsigned ipu = first; ipu < first + count; ++ipu) {
    file.unlock(ipu);
  }
}

void Registry::writeRecords(RegistryFile &file, const HardwareClaim &claim) {
  const IpuGroup &group = claim.group();
  Holder holder = describeThisProcess();
  holder.deviceId = group.id;
  holder.firstIpu = group.first;
  holder.clockHz = claim.clockHz();
  holder.partition = FixedText<64>(claim.partition());
  for (unsigned i = 0; i < group.count; ++i) {
    file.activity(group.first + i) = {};
    file.write(group.first + i, holder);
  }
}

bool Registry::acquire(HardwareClaim &claim) {
  const std::lock_guard lock(mutex());
  if (claim.isAttached()) {
    return true;
  }
  const IpuGroup &group = claim.group();
  const auto first = owners_.begin() + group.first;
  const bool isHeldHere =
      std::any_of(first, first + group.count,
                  [](const Owner &owner) { return owner.claim != nullptr; });
  if (isHeldHere) {
    return false;
  }
  RegistryFile &file = *currentFile(true);
  file.prepare();
  if (!lockAll(file, group)) {
    return false;
  }
  try {
    writeRecords(file, claim);
  } catch (...) {
    unlock(file, group.first, group.count);
    throw;
  }
  std::fill(first, first + group.count, Owner{&claim, &file});
  claim.use()->countIn(&file.activity(group.first));
  return true;
}

void Registry::release(HardwareClaim &claim) noexcept {
  const std::lock_guard lock(mutex());
  if (!claim.isAttached()) {
    return;
  }
  claim.use()->countIn(nullptr);
  const IpuGroup &group = claim.group();
  unlock(*owners_[group.first].file, group.first, group.count);
  std::fill_n(owners_.begin() + group.first, group.count, Owner());
}

std::optional<Attachment> Registry::attachment(unsigned ipu) {
  const RegistryFile *file = nullptr;
  std::optional<pid_t> holder;
  {
    const std::lock_guard lock(mutex());
    if (owners_[ipu].claim != nullptr) {
      file = owners_[ipu].file;
      holder = getpid();
    } else if ((file = currentFile(false)) != nullptr) {
      holder = file->lockedBy(ipu);
    }
  }
  if (!holder) {
    return std::nullopt;
  }
  Attachment result = describeHolder(*file, ipu, *holder);
  if (result.deviceId >= deviceGroups(place_.ipus).size()) {
    result.deviceId = ipu; // the record is damaged
  }
  return result;
}

} // namespace poplar::internal
