// From the trace record to a graph of PopART's IR: drops what nothing needs,
// finds the loss, places operations on IPUs, stops gradients.
#pragma once

#include "TraceRecord.hpp"

#include <popart/dataflow.hpp>
#include <popart/graph.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace poptorch {

struct TranslationOptions {
  bool isTraining = false;
  bool isPipelined = true; // false: sharded or phased
  unsigned replicas = 1;
  // Phased: what a phase is, in execution phases of PopART.
  std::optional<std::int64_t> phaseStride = {};
  std::map<std::int64_t, double> availableMemory = {}; // by IPU
};

struct Translation {
  popart::TensorId loss;                // a scalar; empty for inference
  std::vector<popart::TensorId> inputs; // in call order; empty when unused
  std::vector<popart::TensorId> outputs;
  // Of outputs that leave through I/O tiles, beside compute.
  std::map<popart::TensorId, popart::ExchangeStrategy> overlappedOutputs;
  // State that the model uses, by name; the rest stays on the host.
  std::vector<std::string> state;
  // Of that, what groups of replicas have values of their own of.
  std::set<std::string> grouped;
  // Inputs that forward() changed: position, and the tensor to write back.
  std::vector<std::pair<std::size_t, popart::TensorId>> writtenInputs;
  std::int64_t ipuCount = 1;
  std::int64_t forwardStages = 1; // of the pipeline
  std::int64_t phases = 1;        // PopART's, of the forward pass
};

// Fills `graph`. Throws poptorch::Error with PopTorch's documented messages.
Translation translate(const TraceRecord &record,
                      const TranslationOptions &options, popart::Graph &graph);

} // namespace poptorch
