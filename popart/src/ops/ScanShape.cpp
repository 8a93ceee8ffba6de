// Reading and checking Scan's attributes.
#include <ops/ScanShape.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

namespace popart {
namespace {

Attributes::Ints listOf(const Attributes &attributes, const std::string &name,
                        std::size_t count) {
  Attributes::Ints list = attributes.getInts(name, Attributes::Ints(count, 0));
  support::requireUser<error>(list.size() == count,
                              "{} has {} entries, not one for each of {}", name,
                              list.size(), count);
  return list;
}

void countFromFront(std::int64_t &axis, std::int64_t rank) {
  support::requireUser<error>(-rank <= axis && axis < rank,
                              "axis {} is outside a tensor of rank {}", axis,
                              rank);
  axis = axis < 0 ? axis + rank : axis;
}

} // namespace

ScanShape::ScanShape(const Graph &graph, const Graph &body,
                     const Attributes &attributes,
                     const std::vector<TensorId> &inputs) {
  std::int64_t scanned = attributes.getInt("num_scan_inputs", 0);
  states = static_cast<std::int64_t>(inputs.size()) - scanned;
  auto outputs = static_cast<std::int64_t>(body.getOutputIds().size()) - states;
  support::requireUser<error>(
      states >= 0 && scanned > 0 && outputs >= 0,
      "num_scan_inputs is {}, with {} inputs and {} results of the subgraph",
      scanned, inputs.size(), body.getOutputIds().size());
  auto inputCount = static_cast<std::size_t>(scanned);
  auto outputCount = static_cast<std::size_t>(outputs);
  inputAxes = listOf(attributes, "scan_input_axes", inputCount);
  inputDirections = listOf(attributes, "scan_input_directions", inputCount);
  outputAxes = listOf(attributes, "scan_output_axes", outputCount);
  outputDirections = listOf(attributes, "scan_output_directions", outputCount);
  auto first = static_cast<std::size_t>(states);
  for (std::size_t i = 0; i < inputCount; ++i) {
    const TensorInfo &info = graph.getTensor(inputs[first + i]).info;
    countFromFront(inputAxes[i], info.rank());
    std::int64_t length = info.shape()[static_cast<std::size_t>(inputAxes[i])];
    turns = i == 0 ? length : turns;
    support::requireUser<error>(turns == length,
                                "Number of iterations required by the inputs "
                                "do not match: {} and {}",
                                turns, length);
  }
  for (std::size_t i = 0; i < outputCount; ++i) {
    const TensorId &id = body.getOutputIds()[first + i];
    countFromFront(outputAxes[i], body.getTensor(id).info.rank() + 1);
  }
}

} // namespace popart
