// Who holds which IPU of an emulated system: other processes by the locks of a
// file that all share, devices of this process by a table.
#pragma once

#include "HardwareClaim.hpp"
#include "RegistryFile.hpp"
#include "System.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace poplar::internal {

class Registry {
public:
  // The one of a system that has IPUs. There is one for each file, and it lives
  // as long as the process does. Opens nothing yet.
  static Registry &of(const System &system);
  Registry(const Registry &) = delete;
  Registry &operator=(const Registry &) = delete;

  // All IPUs of the claim, or none and false. Never waits. IPUs are taken in
  // ascending order: of several processes that want the same ones, whoever has
  // the lowest gets on, so that they cannot keep each other from it for ever.
  bool acquire(HardwareClaim &claim);
  void release(HardwareClaim &claim) noexcept;

  // The process that holds an IPU, this or another one.
  std::optional<Attachment> attachment(unsigned ipu);

private:
  explicit Registry(RegistryFile::Place place);
  static std::vector<std::unique_ptr<Registry>> &all();
  static void forgetAllAfterFork();

  // The file that is there now; null when there is none and none is made.
  RegistryFile *currentFile(bool mayCreate);
  static bool lockAll(RegistryFile &file, const IpuGroup &group);
  static void unlock(RegistryFile &file, unsigned first, unsigned count);
  static void writeRecords(RegistryFile &file, const HardwareClaim &claim);

  const RegistryFile::Place place_;
  // The last is in use. Those before were deleted under us, and stay open for
  // what is still counted in them.
  std::vector<std::unique_ptr<RegistryFile>> files_;
  struct Owner {
    HardwareClaim *claim = nullptr;
    RegistryFile *file = nullptr;
  };
  std::vector<Owner> owners_; // by IPU: devices of this process
};

} // namespace poplar::internal
