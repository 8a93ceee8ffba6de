// Block-sparse products and softmax for the conformance tests.
#include "Libraries.hpp"

#include <popsparse/codelets.hpp>
#include <popsparse/experimental/BlockSparseMatMul.hpp>

#include <algorithm>

namespace conformance {
namespace {

namespace experimental = popsparse::experimental;

template <std::size_t N>
std::array<int, N> intsOf(const Call &call, const std::string &name) {
  const auto values = call.get<std::vector<std::int64_t>>(name);
  std::array<int, N> ints;
  for (std::size_t i = 0; i < N; ++i) {
    ints[i] = static_cast<int>(values.at(i));
  }
  return ints;
}

std::vector<unsigned char> sparsityOf(const Call &call) {
  const auto flags = call.get<std::vector<std::int64_t>>("sparsity");
  return {flags.begin(), flags.end()};
}

experimental::SubBlockMask maskOf(const Call &call) {
  using Mask = experimental::SubBlockMask;
  const auto name = call.get<std::string>("mask", std::string("None"));
  return name == "ZeroUpperTriangle"   ? Mask::ZeroUpperTriangle
         : name == "ZeroLowerTriangle" ? Mask::ZeroLowerTriangle
                                       : Mask::None;
}

void multiply(Call &call, const experimental::BSMatMulParams &params) {
  popsparse::addCodelets(call.graph());
  // Operands as a program would make them.
  const auto lhs = experimental::createBSMatMulInputLHS(call.graph(), params,
                                                        {}, call.options());
  const auto rhs = experimental::createBSMatMulInputRHS(call.graph(), params,
                                                        {}, call.options());
  call.program().add(poplar::program::Copy(call.tensor("lhs"), lhs));
  call.program().add(poplar::program::Copy(call.tensor("rhs"), rhs));
  call.output("out",
              experimental::bsMatMul(call.graph(), params, call.program(), lhs,
                                     rhs, call.options()));
}

void denseTimesSparse(Call &call) {
  const auto type = call.tensor("lhs").elementType();
  multiply(call, experimental::BSMatMulParams(
                     intsOf<3>(call, "dim"), intsOf<3>(call, "block"),
                     sparsityOf(call), call.get<bool>("transpose"), type, type,
                     poplar::FLOAT, call.get<unsigned>("groups", 1U)));
}

void sparseOfDense(Call &call) {
  const auto type = call.tensor("lhs").elementType();
  multiply(call, experimental::BSMatMulParams(intsOf<3>(call, "dim"),
                                              intsOf<3>(call, "block"),
                                              sparsityOf(call), type, type,
                                              poplar::FLOAT, maskOf(call)));
}

void softmax(Call &call) {
  popsparse::addCodelets(call.graph());
  const auto dim = intsOf<2>(call, "dim");
  const auto block = intsOf<2>(call, "block");
  const auto &in = call.tensor("in");
  const auto y =
      experimental::bsSoftmax(call.graph(), in, dim, block, sparsityOf(call),
                              maskOf(call), call.program());
  call.output("y", y);
  call.output("dx", experimental::bsSoftmaxGrad(
                        call.graph(), y, call.tensor("dy"), dim, block,
                        sparsityOf(call), call.program()));
  experimental::bsSoftmaxInPlace(call.graph(), in, dim, block, sparsityOf(call),
                                 maskOf(call), call.program());
  call.output("in", in);
}

} // namespace

void addPopsparseBlocks(Operations &operations) {
  operations["popsparse.bsMatMul, dense times sparse"] = denseTimesSparse;
  operations["popsparse.bsMatMul, sparse result"] = sparseOfDense;
  operations["popsparse.bsSoftmax"] = softmax;
}

} // namespace conformance
