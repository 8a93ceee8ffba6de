// Reductions for the conformance tests.
#include "Libraries.hpp"

#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>

namespace conformance {
namespace {

popops::Operation operation(const std::string &name) {
  using enum popops::Operation;
  static const std::map<std::string, popops::Operation> operations = {
      {"ADD", ADD},
      {"MUL", MUL},
      {"MIN", MIN},
      {"MAX", MAX},
      {"LOGICAL_AND", LOGICAL_AND},
      {"LOGICAL_OR", LOGICAL_OR},
      {"SQUARE_ADD", SQUARE_ADD},
      {"LOG_ADD", LOG_ADD},
  };
  return operations.at(name);
}

popops::ReduceParams params(Call &call) {
  const auto op = operation(call.get<std::string>("op"));
  const bool update = call.get<bool>("update", false);
  return call.hasTensor("scale")
             ? popops::ReduceParams(op, update, call.tensor("scale"))
             : popops::ReduceParams(op, update);
}

// Calls reduce() in the form that takes a program, or in the older one.
template <typename Reduce> void inForm(Call &call, const Reduce &reduce) {
  if (!call.get<bool>("computeSets", false)) {
    reduce(call.program());
    return;
  }
  std::vector<poplar::ComputeSet> sets;
  reduce(sets);
  for (const auto &set : sets) {
    call.program().add(poplar::program::Execute(set));
  }
}

void reduce(Call &call) {
  popops::addCodelets(call.graph());
  const auto &in = call.tensor("in");
  inForm(call, [&](auto &steps) {
    call.output("out",
                popops::reduce(call.graph(), in,
                               call.get<poplar::Type>("type", in.elementType()),
                               call.get<std::vector<std::size_t>>("dims"),
                               params(call), steps, "reduce", call.options()));
  });
}

void reduceWithOutput(Call &call) {
  popops::addCodelets(call.graph());
  inForm(call, [&](auto &steps) {
    popops::reduceWithOutput(call.graph(), call.tensor("in"),
                             call.tensor("out"),
                             call.get<std::vector<std::size_t>>("dims"),
                             params(call), steps, "reduce", call.options());
  });
  call.output("out", call.tensor("out"));
}

// The mean and the power of one tensor, the latter as FLOAT, and a sum into an
// output that is there.
void reduceMany(Call &call) {
  popops::addCodelets(call.graph());
  const auto &in = call.tensor("in");
  const auto dims = call.get<std::vector<std::size_t>>("dims");
  std::vector<poplar::Tensor> outs(3);
  outs[2] = call.tensor("out");
  using popops::Operation;
  using popops::ReduceParams;
  popops::reduceMany(
      call.graph(),
      {popops::SingleReduceOp(
           in, dims, ReduceParams(Operation::ADD, false, call.tensor("scale")),
           "mean"),
       popops::SingleReduceOp(in, dims, Operation::SQUARE_ADD, poplar::FLOAT,
                              "power"),
       popops::SingleReduceOp(in, dims, ReduceParams(Operation::ADD, true))},
      outs, call.program());
  call.output("mean", outs[0]);
  call.output("power", outs[1]);
  call.output("out", outs[2]);
}

} // namespace

void addPopopsReduce(Operations &operations) {
  operations["popops.reduce"] = reduce;
  operations["popops.reduceWithOutput"] = reduceWithOutput;
  operations["popops.reduceMany"] = reduceMany;
}

} // namespace conformance
