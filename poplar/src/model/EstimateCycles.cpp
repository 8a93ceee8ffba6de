// What the model says that one run of a program takes.
#include "model/EstimateCycles.hpp"

#include "model/StepTable.hpp"
#include "model/Timeline.hpp"

namespace poplar::model {

std::uint64_t estimateCycles(const internal::GraphData &graph,
                             const internal::ProgramPtr &program) {
  StepTable steps(graph);
  return Timeline(steps).run(program).total;
}

} // namespace poplar::model
