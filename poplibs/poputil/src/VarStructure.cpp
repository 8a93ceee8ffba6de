#include <poputil/VarStructure.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstdint>

namespace poputil {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using Shape = std::vector<std::size_t>;

namespace {

// Where an element is: its variable and its place there.
using Place = std::pair<std::size_t, std::size_t>;

std::vector<Place> placesOf(const Tensor &t) {
  std::vector<Place> places;
  places.reserve(t.numElements());
  for (const auto &region : t.getVarRegions()) {
    for (std::size_t i = region.interval.begin(); i < region.interval.end();
         ++i) {
      places.emplace_back(region.var.getId(), i);
    }
  }
  return places;
}

// A tensor's places in row-major order. Groups that have been found are taken
// out: of each, the first element stays.
struct Array {
  Shape shape;
  std::vector<Place> places;

  std::size_t strideOf(std::size_t dim) const {
    std::size_t stride = 1;
    for (std::size_t d = dim + 1; d < shape.size(); ++d) {
      stride *= shape[d];
    }
    return stride;
  }
};

// Whether runs of `size` along the dimension lie `step` apart, everywhere.
bool liesInGroups(const Array &array, std::size_t dim, std::size_t size,
                  std::size_t step) {
  std::size_t stride = array.strideOf(dim);
  for (std::size_t i = 0; i < array.places.size(); ++i) {
    std::size_t index = i / stride % array.shape[dim];
    if (index % size == 0) {
      continue;
    }
    const Place &before = array.places[i - stride];
    if (array.places[i] != Place(before.first, before.second + step)) {
      return false;
    }
  }
  return true;
}

// The largest groups along the dimension that divide it; 1 where there are
// none.
std::size_t groupAlong(const Array &array, std::size_t dim, std::size_t step) {
  for (std::size_t parts = 1; parts < array.shape[dim]; ++parts) {
    if (array.shape[dim] % parts == 0 &&
        liesInGroups(array, dim, array.shape[dim] / parts, step)) {
      return array.shape[dim] / parts;
    }
  }
  return 1;
}

Array withoutGroup(const Array &array, std::size_t dim, std::size_t size) {
  Array rest{array.shape, {}};
  rest.shape[dim] /= size;
  std::size_t stride = array.strideOf(dim);
  for (std::size_t i = 0; i < array.places.size(); ++i) {
    if (i / stride % array.shape[dim] % size == 0) {
      rest.places.push_back(array.places[i]);
    }
  }
  return rest;
}

// Of a large tensor, what its first elements say: the last dimensions whole, as
// far as they are few, and two entries of those before.
Tensor representative(Tensor t) {
  constexpr std::size_t most = std::size_t{1} << 20;
  for (unsigned d = 0; d < t.rank() && t.numElements() > most; ++d) {
    std::size_t kept = t.dim(d) % 2 == 0 ? 2 : 1;
    t = t.slice(0, std::min(kept, t.dim(d)), d);
  }
  return t;
}

// Of part `index` of `parts` of a dimension: where it starts.
std::size_t startOfPart(std::size_t size, std::size_t parts,
                        std::size_t index) {
  return index * (size / parts) + std::min(index, size % parts);
}

void checkPartitions(const Shape &shape, const Shape &parts) {
  bool isGood = shape.size() == parts.size();
  for (std::size_t d = 0; d < shape.size() && isGood; ++d) {
    isGood = 0 < parts[d] && parts[d] <= std::max<std::size_t>(1, shape[d]);
  }
  support::requireUser<poplibs_error>(
      isGood,
      "[poputil] a number of parts, from 1 to its size, is needed for each of "
      "{} dimensions",
      shape.size());
}

template <typename F> void forEachPart(const Shape &parts, F &&f) {
  Shape index(parts.size(), 0);
  for (;;) {
    f(index);
    std::size_t d = parts.size();
    while (d > 0 && ++index[d - 1] == parts[d - 1]) {
      index[--d] = 0;
    }
    if (d == 0) {
      return;
    }
  }
}

} // namespace

unsigned detectInnermostGrouping(const Graph &, const Tensor &t) {
  support::requireUser<poplibs_error>(
      t.rank() > 0, "[poputil::detectInnermostGrouping] a tensor of no "
                    "dimensions has no groups");
  Tensor first = representative(t);
  Array array{first.shape(), placesOf(first.flatten())};
  std::size_t group = groupAlong(array, array.shape.size() - 1, 1);
  return group > 1 ? static_cast<unsigned>(group) : 0;
}

std::vector<GroupingInfo> detectDimGroupings(const Graph &, const Tensor &t) {
  support::requireUser<poplibs_error>(
      t.rank() > 0,
      "[poputil::detectDimGroupings] a tensor of no dimensions has no groups");
  Tensor first = representative(t);
  Array array{first.shape(), placesOf(first.flatten())};
  std::vector<GroupingInfo> groupings;
  for (std::size_t step = 1;;) {
    std::size_t best = 1;
    std::size_t dim = 0;
    for (std::size_t d = array.shape.size(); d-- > 0;) {
      std::size_t group = groupAlong(array, d, step);
      if (group > best) {
        best = group;
        dim = d;
      }
    }
    if (best == 1) {
      return groupings;
    }
    groupings.emplace_back(static_cast<unsigned>(dim),
                           static_cast<unsigned>(best));
    array = withoutGroup(array, dim, best);
    step *= best;
  }
}

Tensor createPartitionableTensor(Graph &graph, const poplar::Type &type,
                                 const Shape &shape, const Shape &nPartitions,
                                 const DebugContext &debugContext) {
  checkPartitions(shape, nPartitions);
  // The parts of dimension d, of parts of all dimensions behind it.
  std::function<Tensor(Shape, std::size_t)> make = [&](Shape part,
                                                       std::size_t d) {
    if (d == shape.size()) {
      return graph.addVariable(type, part, debugContext);
    }
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < nPartitions[d]; ++i) {
      part[d] = startOfPart(shape[d], nPartitions[d], i + 1) -
                startOfPart(shape[d], nPartitions[d], i);
      parts.push_back(make(part, d + 1));
    }
    return poplar::concat(parts, static_cast<unsigned>(d));
  };
  return make(shape, 0);
}

void iterateTensorPartitions(
    const Tensor &t, const Shape &nPartitions,
    const std::function<void(const Shape &, const Tensor &)> &f) {
  checkPartitions(t.shape(), nPartitions);
  forEachPart(nPartitions, [&](const Shape &index) {
    Tensor part = t;
    for (unsigned d = 0; d < t.rank(); ++d) {
      part = part.slice(startOfPart(t.dim(d), nPartitions[d], index[d]),
                        startOfPart(t.dim(d), nPartitions[d], index[d] + 1), d);
    }
    f(index, part);
  });
}

} // namespace poputil
