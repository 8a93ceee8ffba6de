// Division of lists of intervals into equal parts (poputil/Util.hpp).
#include <poputil/Util.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace poputil {

using poplar::Interval;

namespace {

using Sequence = std::vector<Interval>;

struct Limits {
  unsigned grainSize;
  unsigned maxPartitions;
  unsigned minElements; // of a part
  unsigned maxElements; // of a part
  unsigned maxPerRegion;
};

std::size_t ceilDiv(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

// The first element of each part, counted over all regions, and the end: the
// rule of the linear mapping, limited by maxElements.
std::vector<std::size_t> partBounds(std::size_t elements,
                                    const Limits &limits) {
  support::requireUser<poplibs_error>(
      limits.grainSize > 0 && limits.maxPartitions > 0,
      "[poputil::splitRegions] grain size {}, at most {} parts; both must be "
      "at least 1",
      limits.grainSize, limits.maxPartitions);
  const std::size_t grains = ceilDiv(elements, limits.grainSize);
  std::size_t perPart = ceilDiv(grains, limits.maxPartitions);
  if (limits.minElements != 0) {
    const auto minGrains = ceilDiv(limits.minElements, limits.grainSize);
    const auto maxParts = std::max<std::size_t>(1, grains / minGrains);
    perPart = std::max(perPart, ceilDiv(grains, maxParts));
  }
  perPart = std::min<std::size_t>(
      perPart, std::max(1U, limits.maxElements / limits.grainSize));
  const auto parts = ceilDiv(grains, perPart);
  std::vector<std::size_t> bounds;
  for (std::size_t part = 0; part <= parts; ++part) {
    bounds.push_back(
        std::min(elements, part * grains / parts * limits.grainSize));
  }
  return bounds;
}

// Hands out the elements of sequences, which have no empty intervals.
class SequenceReader {
public:
  explicit SequenceReader(const std::vector<Sequence> &sequences)
      : sequences_(sequences) {}

  // Pieces of sequences of at most `longest` elements each.
  std::vector<Sequence> take(std::size_t count, std::size_t longest) {
    std::vector<Sequence> result;
    std::size_t room = 0; // in the last piece of the result
    while (count > 0) {
      const Interval &interval = sequences_[sequence_][interval_];
      if (room == 0 || startsSequence()) {
        result.emplace_back();
        room = longest;
      }
      const auto size = std::min({interval.size() - done_, count, room});
      const auto begin = interval.begin() + done_;
      result.back().emplace_back(begin, begin + size);
      count -= size;
      room -= size;
      advance(size);
    }
    return result;
  }

private:
  bool startsSequence() const { return interval_ == 0 && done_ == 0; }

  void advance(std::size_t size) {
    done_ += size;
    if (done_ < sequences_[sequence_][interval_].size()) {
      return;
    }
    done_ = 0;
    ++interval_;
    while (sequence_ < sequences_.size() &&
           interval_ == sequences_[sequence_].size()) {
      ++sequence_;
      interval_ = 0;
    }
  }

  const std::vector<Sequence> &sequences_;
  std::size_t sequence_ = 0;
  std::size_t interval_ = 0;
  std::size_t done_ = 0; // elements of the interval
};

std::vector<std::vector<Sequence>> split(std::vector<Sequence> sequences,
                                         const Limits &limits) {
  for (auto &sequence : sequences) {
    std::erase_if(sequence, [](const Interval &i) { return i.size() == 0; });
  }
  std::erase_if(sequences, [](const auto &s) { return s.empty(); });
  std::vector<std::vector<Sequence>> parts;
  const auto elements = intervalSequenceNumElements(sequences);
  if (elements == 0) {
    return parts;
  }
  const auto bounds = partBounds(elements, limits);
  SequenceReader reader(sequences);
  for (std::size_t part = 0; part + 1 < bounds.size(); ++part) {
    parts.push_back(
        reader.take(bounds[part + 1] - bounds[part], limits.maxPerRegion));
  }
  return parts;
}

} // namespace

std::vector<std::vector<Interval>>
splitRegions(const std::vector<Interval> &regions, unsigned grainSize,
             unsigned maxPartitions, unsigned minElementsPerPartition,
             unsigned maxElementsPerPartition, unsigned maxElementsPerRegion) {
  std::vector<Sequence> sequences;
  for (const auto &region : regions) {
    sequences.push_back({region});
  }
  std::vector<std::vector<Interval>> result;
  for (const auto &part :
       split(std::move(sequences),
             {grainSize, maxPartitions, minElementsPerPartition,
              maxElementsPerPartition, maxElementsPerRegion})) {
    result.push_back(flattenIntervals(part));
  }
  return result;
}

std::vector<std::vector<std::vector<Interval>>>
splitRegions(const std::vector<std::vector<Interval>> &regions,
             unsigned grainSize, unsigned maxPartitions,
             unsigned minElementsPerPartition, unsigned maxElementsPerPartition,
             unsigned maxElementsPerRegion) {
  return split(regions, {grainSize, maxPartitions, minElementsPerPartition,
                         maxElementsPerPartition, maxElementsPerRegion});
}

std::vector<std::vector<Interval>> splitRegionsBetweenWorkers(
    const poplar::Target &target, const std::vector<Interval> &regions,
    unsigned grainSize, unsigned minElementsPerPartition,
    unsigned maxElementsPerPartition, unsigned maxElementsPerRegion) {
  return splitRegions(regions, grainSize, target.getNumWorkerContexts(),
                      minElementsPerPartition, maxElementsPerPartition,
                      maxElementsPerRegion);
}

std::vector<std::vector<std::vector<Interval>>>
splitRegionsBetweenWorkers(const poplar::Target &target,
                           const std::vector<std::vector<Interval>> &regions,
                           unsigned grainSize, unsigned minElementsPerPartition,
                           unsigned maxElementsPerPartition,
                           unsigned maxElementsPerRegion) {
  return splitRegions(regions, grainSize, target.getNumWorkerContexts(),
                      minElementsPerPartition, maxElementsPerPartition,
                      maxElementsPerRegion);
}

} // namespace poputil
