// "topK" as a whole kind: the steps of a bitonic network over the tiles.
#include <popops/internal/IndexingKinds.hpp>

#include <kernels/cost/Random.hpp>
#include <poputil/internal/Emit.hpp>
#include <poputil/internal/Phases.hpp>

#include <algorithm>
#include <bit>

namespace popops::internal {

using kernels::Attributes;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poputil::internal::PhaseBuilder;
using poputil::internal::TileRange;

namespace {

// Elements are compared in pairs `distance` apart; pairs on two tiles need an
// exchange first.
class Network {
public:
  Network(const poplar::Graph &graph, support::DataType type,
          std::size_t valueBytes, TileRange tiles)
      : tile_(poputil::internal::tileSpec(graph)), type_(type),
        valueBytes_(valueBytes), tiles_(tiles) {}

  void step(std::uint64_t elements, std::uint64_t distance) {
    const auto share = poputil::internal::spread(
        static_cast<std::int64_t>(elements),
        static_cast<std::int64_t>(vectorWidth(tile_, type_)), tiles_);
    const auto here = static_cast<std::uint64_t>(share.elements);
    PhaseBuilder phase("Step_" + std::to_string(phases_.size()));
    if (distance >= here && share.tiles.count > 1) {
      const auto bytes =
          (here + 1) / 2 * (support::sizeOf(type_) + valueBytes_);
      phase.receive(share.tiles, bytes);
      phase.send(share.tiles, bytes);
    }
    const bool hasValues = valueBytes_ != 0;
    phase.addVertex(share.tiles,
                    poputil::internal::supervisorVertex(
                        poputil::internal::vertexName(
                            hasValues ? "popops::CompareAndSwapAtDistanceKeyVal"
                                      : "popops::CompareAndSwapAtDistance",
                            {type_}),
                        kernels::cost::compareAndSwap(
                            tile_, type_, (here + 1) / 2, hasValues),
                        hasValues ? 4 : 2));
    phases_.push_back(phase.build());
  }

  std::vector<GroupPhase> take() { return std::move(phases_); }

private:
  kernels::cost::TileSpec tile_;
  support::DataType type_;
  std::size_t valueBytes_;
  TileRange tiles_;
  std::vector<GroupPhase> phases_;
};

// Blocks of at least k are sorted; then the better halves of pairs of blocks
// are kept, and sorted again, until one block is left.
std::vector<GroupPhase> bitonicPhases(Network network, std::uint64_t rows,
                                      std::uint64_t length, std::uint64_t k) {
  const auto levelsOf = [](std::uint64_t n) {
    return static_cast<unsigned>(std::bit_width(n - 1));
  };
  if (length <= 1 || rows == 0 || k == 0) {
    return {};
  }
  const unsigned all = levelsOf(length);
  const unsigned kept = levelsOf(k);
  std::uint64_t elements = rows * length;
  for (unsigned level = 1; level <= kept; ++level) {
    for (unsigned d = level; d-- > 0;) {
      network.step(elements, std::uint64_t{1} << d);
    }
  }
  for (unsigned level = kept; level < all; ++level) {
    network.step(elements, std::uint64_t{1} << kept);
    elements = (elements + 1) / 2;
    for (unsigned d = kept; d-- > 0;) {
      network.step(elements, std::uint64_t{1} << d);
    }
  }
  return network.take();
}

} // namespace

std::vector<Tensor> topK(poplar::Graph &graph, const Attributes &attributes,
                         const std::vector<Tensor> &inputs,
                         poplar::program::Sequence &program,
                         const poplar::DebugContext &debugContext,
                         const poplar::OptionFlags &) {
  const auto &keys = inputs.front();
  const auto tiles = poputil::internal::tilesOf(graph, keys);
  const auto outputs = poputil::internal::addOutputs(
      graph, "topK", attributes, inputs, tiles, debugContext);
  const auto type = poputil::internal::tensorType(keys).type;
  const std::size_t valueBytes =
      outputs.size() < 2
          ? 0
          : support::sizeOf(poputil::internal::tensorType(outputs[1]).type);
  const std::uint64_t length = keys.dim(keys.rank() - 1);
  poputil::internal::emit(
      graph, program,
      {"topK", attributes, inputs, outputs,
       bitonicPhases(Network(graph, type, valueBytes, tiles),
                     length == 0 ? 0 : keys.numElements() / length, length,
                     static_cast<std::uint64_t>(attributes.getInt("k")))},
      debugContext);
  return outputs;
}

} // namespace popops::internal
