// Loads and stores of remote buffers, as operations of the machine program.
#pragma once

#include <ir/GraphEditor.hpp>
#include <popart/settings.hpp>
#include <popart/tensorlocation.hpp>

#include <map>

namespace popart {

class RemoteTransfers {
public:
  explicit RemoteTransfers(Graph &graph);

  // Loads a buffer for `reader` and those after it. Preload: while the phase
  // before the reader's runs, if there are phases.
  TensorId load(const TensorId &buffer, const TensorInfo &info, TileSet tiles,
                const Op &reader, ExecutionPhaseIOSchedule schedule);
  // Stores a tensor as soon as it is made.
  void store(const TensorId &buffer, const TensorId &tensor, TileSet tiles);

  // The operations that read a tensor, as they are scheduled.
  std::vector<Op *> readersOf(const TensorId &id) const;

  GraphEditor &editor() { return editor_; }

private:
  Graph &graph_;
  GraphEditor editor_;
  std::map<const Op *, std::size_t> places_; // of operations that were there
  std::map<ExecutionPhase, const Op *> firstOfPhase_;
};

} // namespace popart
