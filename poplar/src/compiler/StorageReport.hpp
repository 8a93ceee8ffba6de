// What takes a program's memory: the arena at its fullest and the variables,
// for whoever wants programs smaller. Shown with ASPEN_MEMORY_PROFILE=1.
#pragma once

#include "compiler/AssignStorage.hpp"
#include "compiler/ValueIr.hpp"

#include <cstddef>
#include <string>

namespace poplar::compiler {

// The most bytes of the arena that hold something at one time: the arena is
// larger by what the gaps between blocks take.
std::size_t liveBytes(const StorageAssignment &storage);

// Tables of the blocks at the node where they are the most bytes, and of the
// variables; `title` is the first line.
std::string storageReport(ValueProgram &program,
                          const StorageAssignment &storage,
                          const std::string &title);

} // namespace poplar::compiler
