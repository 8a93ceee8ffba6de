#include <lowering/CopyTogether.hpp>

#include <cstddef>
#include <map>

namespace popart {

void copyTogether(const poplar::Graph &graph,
                  const std::vector<poplar::Tensor> &from,
                  const std::vector<poplar::Tensor> &to,
                  poplar::program::Sequence &program, const std::string &path) {
  struct Ends {
    std::vector<poplar::Tensor> from, to;
  };
  std::map<std::string, Ends> byType;
  for (std::size_t i = 0; i < from.size(); ++i) {
    Ends &ends = byType[from[i].elementType().toString()];
    ends.from.push_back(from[i].flatten());
    ends.to.push_back(to[i].flatten());
    // In the order that they have in memory, which is that of both where one
    // was laid out as the other.
    graph.reorderToSimplify(&ends.to.back(), {&ends.from.back()});
  }
  for (const auto &[type, ends] : byType) {
    program.add(poplar::program::Copy(poplar::concat(ends.from),
                                      poplar::concat(ends.to), false, path));
  }
}

} // namespace popart
