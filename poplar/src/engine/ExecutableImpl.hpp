// What an Executable holds: the graph as it was when it was compiled, and its
// programs in one or two readings.
#pragma once

#include <poplar/Executable.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <memory>
#include <string>
#include <vector>

namespace poplar {

class ExecutableImpl {
public:
  // A graph and programs over it.
  struct Reading {
    internal::GraphData graph;
    std::vector<internal::ProgramPtr> programs;
  };

  ExecutableImpl(std::shared_ptr<const Reading> values,
                 std::shared_ptr<const Reading> machine, OptionFlags options)
      : values_(std::move(values)), machine_(std::move(machine)),
        options_(std::move(options)) {}

  // What the engine runs.
  const Reading &values() const { return *values_; }
  std::shared_ptr<const Reading> sharedValues() const { return values_; }
  // What the model prices; the same, unless a front end linked two programs.
  const Reading &machine() const { return *machine_; }
  const OptionFlags &options() const { return options_; }

private:
  std::shared_ptr<const Reading> values_;
  std::shared_ptr<const Reading> machine_;
  OptionFlags options_;
};

} // namespace poplar
