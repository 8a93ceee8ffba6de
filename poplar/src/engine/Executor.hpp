// What an Engine asks of the thing that computes a program's values. There are
// two: ReferenceExecutor, slow and obvious, and FastExecutor.
#pragma once

#include "engine/VariableStore.hpp"
#include "model/ProgramCounts.hpp"

#include <cstddef>
#include <memory>

namespace poplar::engine {

class Executor {
public:
  virtual ~Executor() = default;

  // Gives every variable its initial value.
  virtual void load() = 0;

  // Runs a program to its end. Streams must be connected.
  virtual void run(std::size_t program) = 0;

  // The values between runs of every variable that the host reads or writes.
  virtual const VariableStore &variables() const = 0;

  // Writes the elements of a view, in its row-major order, between runs.
  virtual void write(const std::byte *packed,
                     const internal::TensorView &view) = 0;

  // The same of elements that nobody changes any more: it may keep them in
  // place of a copy.
  virtual void lend(const std::shared_ptr<const std::byte> &packed,
                    const internal::TensorView &view) {
    write(packed.get(), view);
  }

  // Which way control went where it depends on data, since the last call, by
  // the nodes of the programs that are run.
  virtual model::ProgramCounts takeCounts() = 0;
};

} // namespace poplar::engine
