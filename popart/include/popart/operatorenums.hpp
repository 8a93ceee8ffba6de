// Choices that operators are made with.
#pragma once

namespace popart {

// What a tensor is before anything is written to it.
enum class InitType { NoInit = 0, Zero };

// Where a tensor is spread over the tiles anew.
enum class TensorRemapType { FwdBwdReverse = 0, FwdBwd, Fwd };

// What elements that go to the same place make there.
enum class ScatterReduction { Sum = 0, Max, Min, Mul, None };

// What replicas combine their elements by.
enum class CollectiveOperator {
  Add = 0,
  Mean,
  Mul,
  Min,
  Max,
  LogicalAnd,
  LogicalOr,
  SquareAdd,
  Local
};

} // namespace popart
