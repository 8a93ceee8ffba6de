// A place for plans that programs share between calls.
#pragma once

namespace poplin {

// Plans are kept with the graph that they are for, so equal operations are
// planned once with or without a cache; the class is here for programs that
// pass one.
class PlanningCache {
public:
  PlanningCache() = default;
  virtual ~PlanningCache() = default;
  PlanningCache(const PlanningCache &) = delete;
  PlanningCache &operator=(const PlanningCache &) = delete;
};

namespace matmul {

class PlanningCache : public poplin::PlanningCache {};

} // namespace matmul
} // namespace poplin
