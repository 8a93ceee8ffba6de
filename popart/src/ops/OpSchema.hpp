// What a model file or the Builder may say of an operator. Inputs, outputs and
// attributes of ai.onnx operators are in ONNX's own schemas (onnx/Schemas.hpp);
// what is ours to say is here, beside the operator's rule.
#pragma once

#include <popart/attributes.hpp>
#include <popart/tensorinfo.hpp>

#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace popart {

// Element types, by the groups that PopART documents operators with.
namespace types {
std::span<const DataType> floats();        // FLOAT16, FLOAT
std::span<const DataType> numbers();       // floats, 32- and 64-bit integers
std::span<const DataType> allNumbers();    // numbers, 8- and 16-bit integers
std::span<const DataType> all();           // allNumbers, BOOL
std::span<const DataType> booleans();      // BOOL
std::span<const DataType> signedNumbers(); // floats and signed integers
} // namespace types

// An attribute of an ai.graphcore operator. No fallback: it must be given;
// std::monostate: it may be left out and then has no value.
struct AttributeSpec {
  using Fallback =
      std::variant<std::monostate, Attributes::Int, Attributes::Float,
                   Attributes::String, Attributes::Ints, Attributes::Floats>;

  std::string name;
  Fallback fallback;
  bool isRequired = false;
  bool isGraph = false; // a Builder of a subgraph
};

enum class BuilderInputs {
  None,
  One,          // an id
  List,         // of ids
  OptionalList, // empty where it is left out
};

struct OpSchema {
  // ai.onnx: ONNX's since-versions that the rule implements, newer ones with an
  // unchanged meaning included. An operator of a model is the greatest
  // since-version at the model's opset. Empty: not to be found in a model file
  // (ai.onnx), or version 1 (other domains).
  std::vector<int> versions = {};
  // Of the first input; empty: all that a device has.
  std::span<const DataType> types = {};
  // ai.graphcore: in the order of the Builder's arguments.
  std::vector<AttributeSpec> attributes = {};
  // ai.graphcore: how many the Builder names; 0: as many as it is told.
  int outputs = 1;
  // ai.graphcore: what the Builder's method takes first.
  BuilderInputs inputs = BuilderInputs::List;
  // ai.graphcore: how many arguments of the Builder's method come before the
  // debug context; -1: all.
  int argumentsBeforeContext = -1;
  // ai.onnx: how many a model may name, where those after are the rule's own
  // and not ONNX's.
  int mostOutputs = std::numeric_limits<int>::max();
};

} // namespace popart
