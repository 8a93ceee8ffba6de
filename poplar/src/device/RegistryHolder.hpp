// The process that holds an IPU: what it says of itself in the registry, and
// what others make of that.
#pragma once

#include "RegistryFile.hpp"

#include <poplar/internal/Hardware.hpp>

namespace poplar::internal {

// The device and what belongs to it is left to the caller.
Holder describeThisProcess();

// Of an IPU that is locked by process `pid`, or by one that cannot be seen from
// here (0). Without a record, what the system knows of the process.
Attachment describeHolder(const RegistryFile &file, unsigned ipu, pid_t pid);

} // namespace poplar::internal
