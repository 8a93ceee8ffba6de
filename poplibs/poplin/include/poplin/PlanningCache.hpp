// Plans that programs share between graphs and calls.
#pragma once

#include <cstddef>
#include <memory>

namespace poplin {

// Equal operations of a graph are planned once with or without a cache; plans
// of a graph that was given one go there.
class PlanningCache {
public:
  PlanningCache();
  virtual ~PlanningCache();
  PlanningCache(const PlanningCache &) = delete;
  PlanningCache &operator=(const PlanningCache &) = delete;

  // How many plans it holds.
  std::size_t size() const;

  struct Plans;
  const std::shared_ptr<Plans> &plans() const { return plans_; }

private:
  std::shared_ptr<Plans> plans_;
};

namespace matmul {

class PlanningCache : public poplin::PlanningCache {};

} // namespace matmul
} // namespace poplin
