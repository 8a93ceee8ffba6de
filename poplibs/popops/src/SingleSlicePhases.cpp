// The supersteps of one slice, or of its update, at an offset that only the run
// knows.
#include <popops/internal/SlicePlan.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/internal/Phases.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace popops::internal {

using kernels::cost::ceilDiv;
using poplar::Tensor;
using poplar::internal::GroupPhase;
using poputil::internal::PhaseBuilder;
using poputil::internal::supervisorVertex;
using poputil::internal::TileRange;
using poputil::internal::TileShare;
using poputil::internal::vertexName;

namespace {

constexpr std::uint64_t indexBytes = 4;
// What an exchange takes beside its payload, and the slots of a fragment that
// arrives (section 4.4).
constexpr std::uint64_t exchangeCycles = 126 + 84;
constexpr std::uint64_t slotsPerFragment = 3;
constexpr std::uint64_t exchangeBytesPerCycle = 4;

// A dimension that is sliced, and the elements that there are before.
struct Step {
  unsigned dim = 0; // of the tensor
  std::uint64_t extent = 1;
  std::uint64_t size = 1;
  std::uint64_t elements = 1;

  std::uint64_t kept() const { return elements / extent * size; }
};

// Those that shrink the tensor most come first.
std::vector<Step> stepsOf(const Tensor &t, const std::vector<std::size_t> &dims,
                          const std::vector<std::size_t> &sizes) {
  std::vector<Step> steps;
  for (std::size_t j = 0; j < dims.size(); ++j) {
    const auto dim = static_cast<unsigned>(dims[j]);
    steps.push_back({dim, std::max<std::uint64_t>(t.dim(dim), 1), sizes[j], 1});
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step &a, const Step &b) {
                     return a.size * b.extent < b.size * a.extent;
                   });
  std::uint64_t elements = t.numElements();
  for (Step &step : steps) {
    step.elements = elements;
    elements = step.kept();
  }
  return steps;
}

// Whether each tile holds all that its part of the slice can come from: the
// tensor was made to be sliced.
bool isSpreadAlike(const std::vector<TileShare> &tensor,
                   const std::vector<TileShare> &slice) {
  return std::equal(tensor.begin(), tensor.end(), slice.begin(), slice.end(),
                    [](const TileShare &a, const TileShare &b) {
                      return a.tiles == b.tiles;
                    });
}

// What a slice takes at most of `elements` that lie side by side on a tile:
// along the dimension, entries are a stride apart.
std::uint64_t candidatesOf(const Tensor &t, const Step &step,
                           std::uint64_t elements) {
  auto candidates = std::min(elements, step.kept());
  poplar::internal::AffineView view;
  if (!toAffine(poplar::internal::tensorView(t), view)) {
    return candidates;
  }
  const auto stride = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(std::abs(view.strides[step.dim])), 1);
  const auto blocks = ceilDiv(elements, stride * step.extent);
  return std::min(candidates, blocks * std::min(stride, elements) * step.size);
}

class SliceEmitter {
public:
  SliceEmitter(const poplar::Graph &graph, const Tensor &t, const Tensor &slice,
               std::vector<Step> steps, std::string vertexName)
      : t_(t), steps_(std::move(steps)), vertexName_(std::move(vertexName)),
        tile_(poputil::internal::tileSpec(graph)),
        type_(poputil::internal::tensorType(t).type),
        size_(support::sizeOf(type_)),
        tiles_(poputil::internal::tilesOf(graph, slice)),
        from_(poputil::internal::distinctSharesOf(graph, t)),
        to_(poputil::internal::sharesOf(graph, slice)) {}

  std::vector<GroupPhase> slice() {
    const bool isAtHome = isSpreadAlike(from_, to_);
    if (!isAtHome && isCutFasterWhereItLies()) {
      cutWhereItLies();
      cutFrom(1, false);
    } else {
      cutFrom(0, !isAtHome);
    }
    return std::move(phases_);
  }

  std::vector<GroupPhase> update() {
    if (isSpreadAlike(from_, to_)) {
      cutFrom(0, false);
    } else {
      updateWhereItLies();
    }
    return std::move(phases_);
  }

private:
  poplar::internal::VertexUse vertex(std::uint64_t region,
                                     std::uint64_t slices) const {
    return supervisorVertex(
        vertexName_,
        kernels::cost::dynamicSlice1D(tile_, type_, region, slices), 3);
  }
  // Of a step, for what a tile has in the end.
  std::uint64_t regionOf(const Step &step, const TileShare &share) const {
    const auto all = std::max<std::uint64_t>(steps_.back().kept(), 1);
    const auto kept =
        static_cast<std::uint64_t>(share.elements) * step.kept() / all;
    return ceilDiv(kept, std::max<std::uint64_t>(step.size, 1));
  }
  // All that the parts of the slice can come from, on the fullest of its tiles.
  std::uint64_t regionBytes() const {
    std::uint64_t most = 0;
    for (const auto &share : to_) {
      most = std::max(most, regionOf(steps_[0], share));
    }
    return most * steps_[0].extent * size_;
  }
  // Where the candidates of the tiles meet: as many tiles as there are words.
  TileShare meeting() const {
    const auto grain = std::max<std::uint64_t>(1, 4 / size_);
    return poputil::internal::spread(
        static_cast<std::int64_t>(steps_[0].kept()),
        static_cast<std::int64_t>(grain), tiles_);
  }
  std::uint64_t candidateBytes() const {
    std::uint64_t all = 0;
    for (const auto &share : from_) {
      all += share.tiles.count *
             candidatesOf(t_, steps_[0],
                          static_cast<std::uint64_t>(share.elements));
    }
    const auto kept = std::max<std::uint64_t>(steps_[0].kept(), 1);
    return ceilDiv(all * static_cast<std::uint64_t>(meeting().elements), kept) *
           size_;
  }

  // Each tile of the meeting hears from all that may have its elements.
  std::uint64_t candidateFragments() const {
    std::uint64_t senders = 0;
    for (const auto &share : from_) {
      senders += share.tiles.count;
    }
    const auto row = static_cast<std::uint64_t>(meeting().elements) * size_;
    return std::min(senders, ceilDiv(candidateBytes(), row));
  }
  // It takes up to two exchanges more.
  bool isCutFasterWhereItLies() const {
    const auto payload = std::max(candidateBytes() / exchangeBytesPerCycle,
                                  slotsPerFragment * candidateFragments());
    return 2 * exchangeCycles + payload < regionBytes() / exchangeBytesPerCycle;
  }

  PhaseBuilder newPhase(const char *name) const {
    return PhaseBuilder(name + std::to_string(phases_.size()));
  }
  void add(const PhaseBuilder &phase) { phases_.push_back(phase.build()); }

  // On the tiles of the slice, one dimension after another. They may have to
  // fetch all that their parts can come from.
  void cutFrom(std::size_t first, bool isFetched) {
    for (std::size_t j = first; j < steps_.size(); ++j) {
      auto phase = newPhase("Slice_");
      for (const auto &share : to_) {
        const auto region = regionOf(steps_[j], share);
        phase.receive(share.tiles, indexBytes, 1, true);
        if (isFetched && j == 0) {
          phase.receive(share.tiles, region * steps_[j].extent * size_);
        }
        phase.addVertex(share.tiles, vertex(region, steps_[j].size));
      }
      if (isFetched && j == 0) {
        sendAll(phase, from_);
      }
      add(phase);
    }
  }

  void sendAll(PhaseBuilder &phase,
               const std::vector<TileShare> &shares) const {
    for (const auto &share : shares) {
      phase.send(share.tiles,
                 static_cast<std::uint64_t>(share.elements) * size_);
    }
  }

  // Every tile takes what it can out of what it holds; what the tiles took is
  // looked through again where the slice goes.
  void cutWhereItLies() {
    auto cut = newPhase("Slice_");
    auto candidates = from_;
    for (auto &share : candidates) {
      const auto here = candidatesOf(
          t_, steps_[0], static_cast<std::uint64_t>(share.elements));
      cut.receive(share.tiles, indexBytes, 1, true);
      cut.addTemporary(share.tiles, here * size_);
      cut.addVertex(share.tiles,
                    vertex(ceilDiv(here, steps_[0].size), steps_[0].size));
      share.elements = static_cast<std::int64_t>(here);
    }
    add(cut);

    const auto met = meeting();
    auto choose = newPhase("Choose_");
    choose.exchange(candidates, size_, met.tiles, candidateBytes(),
                    candidateFragments());
    choose.receive(met.tiles, indexBytes, 1, true);
    choose.addVertex(met.tiles,
                     vertex(static_cast<std::uint64_t>(met.elements), 1));
    add(choose);
    if (to_ == std::vector<TileShare>{met}) {
      return;
    }
    auto place = newPhase("Place_");
    for (const auto &share : to_) {
      place.receive(share.tiles,
                    regionOf(steps_[0], share) * steps_[0].size * size_);
    }
    sendAll(place, {met});
    add(place);
  }

  // Every tile that may have a part of the window gets what belongs there.
  void updateWhereItLies() {
    auto phase = newPhase("Slice_");
    const auto kept = steps_.back().kept();
    for (const auto &share : from_) {
      const auto here =
          std::min(static_cast<std::uint64_t>(share.elements), kept);
      phase.receive(share.tiles, indexBytes, 1, true);
      phase.receive(share.tiles, here * size_);
      phase.addVertex(share.tiles, vertex(here, 1));
    }
    sendAll(phase, to_);
    add(phase);
  }

  Tensor t_;
  std::vector<Step> steps_;
  std::string vertexName_;
  kernels::cost::TileSpec tile_;
  support::DataType type_;
  std::uint64_t size_; // of an element, in bytes
  TileRange tiles_;
  std::vector<TileShare> from_;
  std::vector<TileShare> to_;
  std::vector<GroupPhase> phases_;
};

} // namespace

std::vector<GroupPhase> slicePhases(const poplar::Graph &graph, const Tensor &t,
                                    const Tensor &slice,
                                    const std::vector<std::size_t> &dims,
                                    const std::vector<std::size_t> &sizes,
                                    bool isUpdate) {
  const auto type = poputil::internal::tensorType(t).type;
  SliceEmitter emitter(graph, t, slice, stepsOf(t, dims, sizes),
                       vertexName(isUpdate ? "popops::DynamicUpdateSlice1D"
                                           : "popops::DynamicSlice1D",
                                  {type}));
  return isUpdate ? emitter.update() : emitter.slice();
}

} // namespace popops::internal
