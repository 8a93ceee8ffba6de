// Graphs that several operations call, as functions of the Poplar program.
#pragma once

#include <lowering/LoweringContext.hpp>

#include <map>
#include <vector>

namespace popart {

class Functions {
public:
  // Appends what `op` computes to `program`: a call of a function, or what the
  // operation's rule emits.
  void lower(LoweringContext &context, const Op &op,
             poplar::program::Sequence &program);

private:
  // A function has one place for each of its inputs and outputs.
  struct Function {
    poplar::Function handle;
    std::vector<poplar::Tensor> inputs;
    std::vector<poplar::Tensor> outputs;
  };

  const Function &of(const Op &call, LoweringContext &context);

  std::map<const Graph *, Function> functions_;
};

} // namespace popart
