#include "compiler/PriceCycleCounts.hpp"

#include "model/EstimateCycles.hpp"

#include <unordered_map>

namespace poplar::compiler {
namespace {

using internal::CycleCountNode;
using internal::GraphData;
using internal::ProgramNode;
using internal::ProgramPtr;

class Pricer {
public:
  explicit Pricer(const GraphData &graph) : graph_(graph) {}

  ProgramPtr price(const ProgramPtr &program) {
    if (program == nullptr) {
      return program;
    }
    const auto [known, isNew] = priced_.try_emplace(program.get());
    if (!isNew) {
      return known->second;
    }
    ProgramNode copy = *program;
    bool isChanged = false;
    const auto replace = [&](ProgramPtr &child) {
      const ProgramPtr priced = price(child);
      isChanged = isChanged || priced != child;
      child = priced;
    };
    std::visit([&](auto &op) { forEachBody(op, replace); }, copy.op);
    if (auto *count = std::get_if<CycleCountNode>(&copy.op)) {
      count->cycles = model::estimateCycles(graph_, count->body);
      isChanged = true;
    }
    const ProgramPtr result =
        isChanged ? std::make_shared<const ProgramNode>(std::move(copy))
                  : program;
    priced_[program.get()] = result;
    return result;
  }

private:
  template <typename F>
  static void forEachBody(internal::SequenceNode &op, F &f) {
    for (ProgramPtr &child : op.children) {
      f(child);
    }
  }
  template <typename F> static void forEachBody(internal::WhileNode &op, F &f) {
    f(op.condition);
    f(op.body);
  }
  template <typename F> static void forEachBody(internal::IfNode &op, F &f) {
    f(op.thenBody);
    f(op.elseBody);
  }
  template <typename F>
  static void forEachBody(internal::SwitchNode &op, F &f) {
    for (auto &[key, body] : op.cases) {
      f(body);
    }
    f(op.defaultBody);
  }
  template <typename Op, typename F> static void forEachBody(Op &op, F &f) {
    if constexpr (requires { f(op.body); }) {
      f(op.body);
    }
  }

  const GraphData &graph_;
  std::unordered_map<const ProgramNode *, ProgramPtr> priced_;
};

} // namespace

void priceCycleCounts(GraphData &graph, std::vector<ProgramPtr> &programs) {
  Pricer pricer(graph);
  std::vector<ProgramPtr> functions;
  for (const ProgramPtr &function : graph.functions) {
    functions.push_back(pricer.price(function));
  }
  for (ProgramPtr &program : programs) {
    program = pricer.price(program);
  }
  graph.functions = std::move(functions);
}

} // namespace poplar::compiler
