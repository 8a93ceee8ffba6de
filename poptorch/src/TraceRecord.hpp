// INTERFACE: the trace record. What the Python tracer saw while it ran the
// user's forward() once, call by call, with no meaning attached; TraceToIr.cpp
// gives it one.
#pragma once

#include <popart/attributes.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace poptorch {

// Tensors are numbered in the order in which the tracer met them.
using TensorNumber = std::int64_t;
struct TensorReference {
  TensorNumber number;
};

// An argument as torch passed it. Lists of tensors may hold -1 for None.
using TraceArgument =
    std::variant<std::monostate, TensorReference, bool, std::int64_t, double,
                 std::string, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<TensorReference>, popart::DataType>;

struct TracedTensor {
  popart::TensorInfo info;
  bool requiresGrad = false; // in the user's grad mode when it was made
};

// Where the call was made: the active poptorch.Block.
struct Placement {
  std::int64_t ipu = 0;
  std::int64_t stage = 0;
  std::int64_t phase = 0;
  std::string block = {}; // its name; empty outside of all
};

// One call of a torch operator, for example "aten::convolution".
struct TracedCall {
  std::string op;
  std::vector<TraceArgument> arguments; // by the operator's schema, defaults in
  std::vector<TensorNumber> results;    // -1 for a result that is None
  Placement placement;
  std::string scope;  // module path, e.g. "model/fc1"
  std::string source; // the line of the model, e.g. "model.py:12"
  // Operations with others are not called as one function with it.
  std::map<std::string, std::string> outline;
};

// " (called in model.py:12)", for the end of an error; empty if not known.
inline std::string calledIn(const TracedCall &call) {
  return call.source.empty() ? "" : " (called in " + call.source + ")";
}

// The tensors among a call's arguments.
std::vector<TensorNumber> tensorArguments(const TracedCall &call);

// What a loop or a condition runs. The caller passes the inputs, and tensors
// that the calls read besides under the numbers they have outside.
struct TracedBody {
  std::vector<TensorNumber> inputs, outputs;
  std::vector<TracedCall> calls;
};

// Replicas that share a value: PopART's CommGroupType, how many they are, and
// its VariableRetrievalMode.
struct TracedGrouping {
  int type = 0;
  unsigned size = 0;
  int retrievalMode = 0;
};

struct TracedState {
  std::string name; // as in named_parameters() or named_buffers()
  TensorNumber number = -1;
  bool isParameter = true;
  const void *data =
      nullptr; // the host tensor, contiguous, alive during compile
  // The host has a row for each group of replicas.
  std::optional<TracedGrouping> grouping = {};
  std::int64_t rows = 0; // of a grouped one
};

struct TraceRecord {
  std::vector<TracedTensor> tensors; // by number
  std::vector<TracedState> state;
  std::vector<std::pair<std::string, TensorNumber>> inputs; // in call order
  std::vector<TensorNumber> outputs;
  std::vector<TracedCall> calls;
  std::vector<std::pair<TensorNumber, TensorNumber>>
      writtenBack; // state, value
  // Constants captured by value while tracing: number and host data.
  std::vector<std::pair<TensorNumber, std::vector<char>>> constants;
  // Of custom operators, by the name that their calls pass.
  std::map<std::string, popart::Attributes> attributes;
  std::vector<TracedBody> bodies; // by the number that calls pass
};

} // namespace poptorch
