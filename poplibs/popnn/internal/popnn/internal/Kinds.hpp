// Whole kinds of popnn, and the list of the kinds of all libraries.
#pragma once

#include <poputil/internal/KindFunction.hpp>

#include <string_view>

namespace popnn::internal {

poputil::internal::KindFunction maxPool;       // y, indices
poputil::internal::KindFunction maxPoolGrad;   // dx
poputil::internal::KindFunction pool;          // y
poputil::internal::KindFunction poolGrad;      // dx
poputil::internal::KindFunction groupNorm;     // y, mean, invStdDev
poputil::internal::KindFunction groupNormGrad; // dx, dgamma, dbeta
poputil::internal::KindFunction softmax;
poputil::internal::KindFunction softmaxGrad;
poputil::internal::KindFunction logSoftmax;
poputil::internal::KindFunction logSoftmaxGrad;
poputil::internal::KindFunction nllLoss;
poputil::internal::KindFunction nllLossGrad;
// Loss and deltas may be given behind the inputs, to be written there.
poputil::internal::KindFunction labelLoss;     // loss, deltas
poputil::internal::KindFunction ctcLoss;       // loss, gradient?
poputil::internal::KindFunction ctcBeamSearch; // probabilities, lengths, labels
poputil::internal::KindFunction lstm;          // y, h, c, saved?
poputil::internal::KindFunction lstmGrad;      // dGates, dh, dc, dx?
poputil::internal::KindFunction lstmWeightGrad; // input, output weights, biases
poputil::internal::KindFunction gru;            // y, h, saved?
poputil::internal::KindFunction gruGrad;        // dGates, dh, dattention?, dx?
poputil::internal::KindFunction gruWeightGrad;  // input, output weights, biases

// The function that emits a kind, of whichever library has it; null when no
// library function stands for the kind.
poputil::internal::KindFunction *findKindFunction(std::string_view kind);

} // namespace popnn::internal
