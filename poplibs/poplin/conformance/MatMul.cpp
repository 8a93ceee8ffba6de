// Matrix products for the conformance tests.
#include "Libraries.hpp"

#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>

namespace conformance {
namespace {

using poplar::Tensor;

poplar::Type outputType(const Call &call) {
  return call.get<poplar::Type>("outputType", call.tensor("a").elementType());
}

void matMul(Call &call) {
  poplin::addCodelets(call.graph());
  call.output("out", poplin::matMul(call.graph(), call.tensor("a"),
                                    call.tensor("b"), call.program(),
                                    outputType(call), {}, call.options()));
}

// The result has a's type.
void matMulOfOneType(Call &call) {
  poplin::addCodelets(call.graph());
  call.output("out",
              poplin::matMul(call.graph(), call.tensor("a"), call.tensor("b"),
                             call.program(), {}, call.options()));
}

void matMulGrouped(Call &call) {
  poplin::addCodelets(call.graph());
  call.output("out", poplin::matMulGrouped(
                         call.graph(), call.tensor("a"), call.tensor("b"),
                         call.program(), outputType(call), {}, call.options()));
}

// Into a tensor with the options that the creators take too.
void matMulWithOutput(Call &call) {
  auto &graph = call.graph();
  poplin::addCodelets(graph);
  const auto &a = call.tensor("a");
  const auto &b = call.tensor("b");
  Tensor out = call.hasTensor("out")
                   ? call.tensor("out")
                   : poplin::createMatMulOutput(
                         graph, a.elementType(), outputType(call), a.shape(),
                         b.shape(), "out", call.options());
  poplin::matMulWithOutput(graph, a, b, out, call.program(), {},
                           call.options());
  call.output("out", out);
}

void matMulGroupedWithOutput(Call &call) {
  auto &graph = call.graph();
  poplin::addCodelets(graph);
  const auto &a = call.tensor("a");
  const auto &b = call.tensor("b");
  Tensor out = poplin::createMatMulGroupedOutput(
      graph, a.elementType(), outputType(call), a.shape(), b.shape(), "out");
  poplin::matMulGroupedWithOutput(graph, a, b, out, call.program());
  call.output("out", out);
}

// matMulAcc and matMulGroupedAcc, by a number and by a tensor k.
void matMulAcc(Call &call) {
  auto &graph = call.graph();
  poplin::addCodelets(graph);
  const auto &a = call.tensor("a");
  const auto &b = call.tensor("b");
  const auto &c = call.tensor("c");
  auto &prog = call.program();
  const bool isGrouped = a.rank() == 3;
  if (call.hasTensor("k")) {
    const auto &k = call.tensor("k");
    isGrouped ? poplin::matMulGroupedAcc(graph, c, k, a, b, prog)
              : poplin::matMulAcc(graph, c, k, a, b, prog);
  } else {
    const auto k = call.get<float>("k");
    isGrouped ? poplin::matMulGroupedAcc(graph, c, k, a, b, prog)
              : poplin::matMulAcc(graph, c, k, a, b, prog);
  }
  call.output("out", c);
}

// A product with a right operand that was arranged before.
void preArrange(Call &call) {
  auto &graph = call.graph();
  poplin::addCodelets(graph);
  const auto &a = call.tensor("a");
  auto options = call.options();
  options.set("inputRHSIsPreArranged", "true");
  if (a.rank() == 3) {
    const auto b = poplin::preArrangeMatMulGroupedInputRHS(
        graph, a.shape(), call.tensor("b"), call.program(), a.elementType());
    call.output("out", poplin::matMulGrouped(graph, a, b, call.program(),
                                             a.elementType(), {}, options));
  } else {
    const auto b = poplin::preArrangeMatMulInputRHS(
        graph, a.shape(), call.tensor("b"), call.program());
    call.output("out",
                poplin::matMul(graph, a, b, call.program(), {}, options));
  }
}

void transposeGroupedMatrix(Call &call) {
  call.output("out", poplin::transposeGroupedMatrix(call.tensor("a")));
}

} // namespace

void addPoplinMatMul(Operations &operations) {
  operations["poplin.matMul"] = matMul;
  operations["poplin.matMulOfOneType"] = matMulOfOneType;
  operations["poplin.matMulGrouped"] = matMulGrouped;
  operations["poplin.matMulWithOutput"] = matMulWithOutput;
  operations["poplin.matMulGroupedWithOutput"] = matMulGroupedWithOutput;
  operations["poplin.matMulAcc"] = matMulAcc;
  operations["poplin.preArrange"] = preArrange;
  operations["poplin.transposeGroupedMatrix"] = transposeGroupedMatrix;
}

} // namespace conformance
