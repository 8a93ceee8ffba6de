// Where in the schedule tensors move between the chip and the host's memory.
#include <transforms/RemoteTransfers.hpp>

#include <algorithm>
#include <set>

namespace popart {

RemoteTransfers::RemoteTransfers(Graph &graph) : graph_(graph), editor_(graph) {
  for (const auto &op : graph.getOps()) {
    places_.emplace(op.get(), places_.size());
    if (op->settings.executionContext == ExecutionContext::Normal) {
      firstOfPhase_.emplace(op->settings.executionPhase, op.get());
    }
  }
}

TensorId RemoteTransfers::load(const TensorId &buffer, const TensorInfo &info,
                               TileSet tiles, const Op &reader,
                               ExecutionPhaseIOSchedule schedule) {
  const Op *position = &reader;
  Op::Settings settings = reader.settings;
  settings.name = buffer;
  auto before = firstOfPhase_.find(settings.executionPhase - 1);
  if (schedule == ExecutionPhaseIOSchedule::Preload &&
      settings.executionPhase > 0 && before != firstOfPhase_.end() &&
      settings.executionContext == ExecutionContext::Normal) {
    position = before->second;
    --settings.executionPhase;
  }
  return editor_
      .insertBefore(
          position, {"aspen", "RemoteLoad"}, {}, {editor_.uniqueName(buffer)},
          Attributes()
              .set("buffer", Attributes::String(buffer))
              .set("type", static_cast<Attributes::Int>(info.dataType()))
              .set("shape", info.shape())
              .set("tileSet", static_cast<Attributes::Int>(tiles)),
          settings)
      .outputs[0];
}

void RemoteTransfers::store(const TensorId &buffer, const TensorId &tensor,
                            TileSet tiles) {
  const Op &producer = *graph_.getTensor(tensor).producer;
  Op::Settings settings = producer.settings;
  settings.name = buffer;
  editor_.insertBefore(editor_.next(producer), {"aspen", "RemoteStore"},
                       {tensor}, {},
                       Attributes()
                           .set("buffer", Attributes::String(buffer))
                           .set("tileSet", static_cast<Attributes::Int>(tiles)),
                       settings);
}

std::vector<Op *> RemoteTransfers::readersOf(const TensorId &id) const {
  const std::vector<Op *> &consumers = graph_.getTensor(id).consumers;
  std::vector<Op *> readers;
  std::set<Op *> seen;
  for (Op *op : consumers) {
    if (places_.count(op) > 0 && seen.insert(op).second) {
      readers.push_back(op);
    }
  }
  std::sort(readers.begin(), readers.end(), [&](const Op *a, const Op *b) {
    return places_.at(a) < places_.at(b);
  });
  return readers;
}

} // namespace popart
