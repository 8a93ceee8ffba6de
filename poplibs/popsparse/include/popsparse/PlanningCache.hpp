// Plans of the products inside sparse operations, shared between calls.
#pragma once

#include <poplin/PlanningCache.hpp>

namespace popsparse {
namespace dynamic {

class PlanningCache : public poplin::PlanningCache {};

} // namespace dynamic

namespace static_ {

class PlanningCache : public poplin::PlanningCache {};

} // namespace static_
} // namespace popsparse
