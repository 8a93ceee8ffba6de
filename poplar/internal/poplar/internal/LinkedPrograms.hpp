// One source, two readings: a front end may give the engine a value program and
// the model the machine program that it stands for.
#pragma once

#include <poplar/Engine.hpp>

#include <memory>
#include <vector>

namespace poplar::internal {

// Compiles `valuePrograms` of `valueGraph` for the engine. Profiles price
// `machinePrograms` of `machineGraph` instead, program i for program i; an
// empty machine program costs nothing.
Executable compileLinked(const Graph &valueGraph,
                         const std::vector<program::Program> &valuePrograms,
                         const Graph &machineGraph,
                         const std::vector<program::Program> &machinePrograms,
                         const OptionFlags &options,
                         ProgressFunc progress = {});

// The model's cycles for the runs that the profile's summary would show.
std::uint64_t modelledCycles(const Engine &engine);

} // namespace poplar::internal
