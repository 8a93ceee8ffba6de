// Every pass, in the order of Pipeline.cpp; each is in a file of its name.
#pragma once

#include <transforms/Pass.hpp>

namespace popart {

// Throws popart::error for options that contradict each other or the device.
void checkOptions(PassContext &context);
// The same for options that the model and the device do not matter for.
void checkSettings(PassContext &context);
// Puts the operations of called graphs in the place of their calls.
void inlineCalls(PassContext &context);
// Rewrites that shared objects registered (popart/patterns/patterncreator.hpp).
void applyUserPatterns(PassContext &context);
// Recurrent layers with activations that their kinds do not have, step by step.
void writeOutRecurrent(PassContext &context);
// Max pooling over large windows, in several steps.
void splitLargePools(PassContext &context);
// Computes what depends on constants alone (lowering/FoldConstants.cpp).
void foldConstants(PassContext &context);
// Operations that give back their input go; their readers read the input.
void removeIdentities(PassContext &context);
// Of operations that compute the same from the same, the first stays.
void mergeDuplicates(PassContext &context);
// Gives every operation a phase, and the IPU of it, or no phase when the mode
// is not ExecutionPhases.
void assignExecutionPhases(PassContext &context);
// Gives every operation an IPU, or none when the mode is Off.
void assignVirtualGraphs(PassContext &context);
// Gives every operation a pipeline stage, or none without pipelining.
void assignPipelineStages(PassContext &context);
// Gives a seed to every operation that draws random numbers.
void insertSeeds(PassContext &context);
// Training: the loss is there, and a scalar.
void checkLoss(PassContext &context);
// Training: the backward pass (autodiff/Autodiff.hpp).
void differentiateLoss(PassContext &context);
// Training: gradients of a softmax and of the loss behind it, in one operation.
void fuseLossGradients(PassContext &context);
// Training: accumulators, the optimiser's state and its steps.
void insertUpdates(PassContext &context);
// Training with automaticLossScalingSettings: the scale follows from how many
// gradients are near the end of FLOAT16's range.
void scaleLossAutomatically(PassContext &context);
// Training with replicas: what they combine before each update.
void reduceOverReplicas(PassContext &context);
// Variables that the model itself overwrites change last, when nothing reads
// their old value any more.
void delayVariableCopies(PassContext &context);
// Operations of subgraphs get the place of those that run them.
void placeSubgraphs(PassContext &context);
// Removes operations that neither an anchor nor an update needs.
void prune(PassContext &context);
// The stages are complete, each on one IPU, and the step is long enough.
void checkPipeline(PassContext &context);
void checkAnchors(PassContext &context);

// Constants and optimiser scalars that several IPUs read: one copy on each.
void duplicateSharedScalars(PassContext &context);
// Marks forward operations by autoRecomputation and repeats them in the
// backward pass, so that their results need not be kept.
void recomputeForward(PassContext &context);
// Variables that the model overwrites: copies of the old value for the stages
// that read it later.
void placeVariableCopies(PassContext &context);
// Runs matrix products in the pieces that the model wants.
void serializeMatMuls(PassContext &context);
// Runs operations for a part of the batch at a time.
void serializeBatch(PassContext &context);
// Variables that the options want shared out among replicas.
void shardVariables(PassContext &context);
// Variables that the options want off the chip: loads and stores of them.
void moveVariablesOffChip(PassContext &context);
// The same for activations that the backward pass or a far phase reads.
void moveActivationsOffChip(PassContext &context);
// Pipelining: stashes for tensors that a later stage on the same IPU reads,
// chains of copies for those that other IPUs read; operations by stage.
void moveTensorsAlongPipeline(PassContext &context);
// Without pipelining: a copy where producer and consumer are on two IPUs.
void insertIpuCopies(PassContext &context);
// And copies between the same two IPUs together.
void mergeIpuCopies(PassContext &context);
// Sequences of operations that occur several times: one graph and calls of it.
void outlineSubgraphs(PassContext &context);

// Value program only: one replica in the place of all.
void foldReplicas(PassContext &context);
// Whether replicas have the same variables all the time, so that they can be
// folded into one.
bool canFoldReplicas(const Graph &graph, unsigned replicas);

// The variable that a tensor, which updates in place made, is a version of.
TensorId variableOf(const Graph &graph, TensorId id);

// Somebody asks for the tensor, or for its gradient, by name.
bool isAskedFor(const Ir &ir, const TensorId &id);
// The IPU that holds a tensor: where it is made, or first read, be it in a
// graph that is called.
VGraphId homeOf(const Tensor &tensor);

} // namespace popart
