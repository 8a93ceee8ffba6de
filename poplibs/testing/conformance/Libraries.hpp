// The operations that the libraries offer to the conformance tests. Each list
// is in the library's conformance/ folder; whoever adds one adds it here.
#pragma once

#include "Call.hpp"

namespace conformance {

void addPopopsCastFillPad(Operations &operations);
void addPopopsElementwise(Operations &operations);
void addPopopsReduce(Operations &operations);
void addPopopsSlices(Operations &operations);
void addPopopsOrdering(Operations &operations);
void addPopopsRearranging(Operations &operations);
void addPoplinAlgebra(Operations &operations);
void addPoplinConvolution(Operations &operations);
void addPoplinMatMul(Operations &operations);
void addPopnnNonLinearity(Operations &operations);
void addPopnnPooling(Operations &operations);
void addPopnnCtc(Operations &operations);
void addPopnnLoss(Operations &operations);
void addPopnnRecurrent(Operations &operations);
void addPopnnVanillaRnn(Operations &operations);
void addPopnnNorms(Operations &operations);
void addPoprand(Operations &operations);
void addGcl(Operations &operations);
void addPopsparse(Operations &operations);
void addPopsparseBlocks(Operations &operations);

inline Operations allOperations() {
  Operations operations;
  addPopopsCastFillPad(operations);
  addPopopsElementwise(operations);
  addPopopsReduce(operations);
  addPopopsSlices(operations);
  addPopopsRearranging(operations);
  addPopopsOrdering(operations);
  addPoplinAlgebra(operations);
  addPoplinConvolution(operations);
  addPoplinMatMul(operations);
  addPopnnNonLinearity(operations);
  addPopnnPooling(operations);
  addPopnnCtc(operations);
  addPopnnLoss(operations);
  addPopnnRecurrent(operations);
  addPopnnVanillaRnn(operations);
  addPopnnNorms(operations);
  addPoprand(operations);
  addGcl(operations);
  addPopsparse(operations);
  addPopsparseBlocks(operations);
  return operations;
}

} // namespace conformance
