// What a session does beyond running the model: placement, pipelining,
// accumulation, recomputation, and the options handed to the layers below.
#pragma once

#include <popart/names.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace popart {

enum class VirtualGraphMode { Off = 0, Manual, Auto, ExecutionPhases };
enum class RecomputationType {
  None = 0,
  Standard,
  NormOnly,
  Pipeline,
  RecomputeAll
};
enum class ReductionType { Sum = 0, Mean, NoReduction };
enum class MeanReductionStrategy { Running = 0, Post };

struct SessionOptions {
  VirtualGraphMode virtualGraphMode = VirtualGraphMode::Off;
  bool enablePipelining = false;
  RecomputationType autoRecomputation = RecomputationType::None;

  bool enableGradientAccumulation = false;
  std::int64_t accumulationFactor = 1;
  ReductionType accumulationAndReplicationReductionType = ReductionType::Sum;
  // Only with Mean: scale the sum afterwards, or keep a running mean.
  MeanReductionStrategy meanAccumulationAndReplicationReductionStrategy =
      MeanReductionStrategy::Post;

  bool enableReplicatedGraphs = false;
  std::int64_t replicatedGraphCount = 1;

  // Inference: weights are part of the program and cannot change.
  bool constantWeights = true;

  std::map<std::string, std::string> engineOptions;
  std::map<std::string, std::string> convolutionOptions;
  std::map<std::string, std::string> matmulOptions;
  std::map<std::string, std::string> reportOptions;

  std::string partialsTypeMatMuls;

  // Micro-batches per weight update, over all replicas' own share.
  std::int64_t getAccumulationFactor() const {
    return enableGradientAccumulation ? accumulationFactor : 1;
  }
};

} // namespace popart
