// Where an operation is between the inputs and the loss.
#pragma once

namespace popart {

// Whether the loss depends on it, and whether it depends on the loss.
enum class PathToLoss { Yes, No, Undefined };
enum class PathFromLoss { Yes, No, Undefined };
enum class ScheduledPreLoss { Yes, No, Undefined };

// Known when patterns are applied (transforms/ApplyUserPatterns.cpp).
class Vertex {
public:
  PathToLoss toLoss = PathToLoss::Undefined;
  PathFromLoss fromLoss = PathFromLoss::Undefined;
  ScheduledPreLoss scheduledPreLoss = ScheduledPreLoss::Undefined;
};

} // namespace popart
