// What the calls of a trace record depend on, and the loss among them.
#pragma once

#include "TraceRecord.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace poptorch {

// Calls of `record.calls` by position.
using CallIndex = std::size_t;

class Dependences {
public:
  explicit Dependences(const TraceRecord &record);

  // Marks the tensors and calls that `number` is computed from.
  void collect(TensorNumber number, std::set<TensorNumber> &tensors,
               std::set<CallIndex> &calls) const;

private:
  static constexpr CallIndex noCall = static_cast<CallIndex>(-1);
  const TraceRecord &record_;
  std::vector<CallIndex> producer_; // by tensor number
};

// The one loss: losses that feed another are plain computations. Throws
// poptorch::Error where there is none, or more than one.
CallIndex findLoss(const TraceRecord &record, const Dependences &dependences);

} // namespace poptorch
