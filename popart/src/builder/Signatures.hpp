// The Builder's methods for operators: names, arguments in order, defaults. The
// C++ classes are generated from this table and the Python ones made from it.
#pragma once

#include <onnx/Schemas.hpp>

#include <string>
#include <vector>

namespace popart {

struct Signature {
  enum class Outputs {
    One,     // the method returns an id
    Listed,  // it returns `outputCount` ids
    Counted, // it takes the number as its first argument after the inputs
  };
  enum class Special {
    None,
    Cast,     // "to" is the name of a type, not ONNX's number
    Constant, // "value" is an array
  };

  std::string method; // "logical_and"
  std::string domain;
  std::string type; // "And"
  int version = 1;  // since which opset it has this form
  BuilderInputs inputs = BuilderInputs::List;
  Outputs outputs = Outputs::One;
  int outputCount = 1;
  Special special = Special::None;
  std::vector<OnnxAttribute> arguments; // in positional order
  int argumentsBeforeContext = -1;      // of the debug context; -1: all
};

// Every operator of the opset, by method.
std::vector<Signature> aiOnnxSignatures(int opset);
// Every operator of ai.onnx.ml's opset 1. No session takes them.
std::vector<Signature> aiOnnxMlSignatures();
// Every ai.graphcore operator whose rule is to be found in models.
std::vector<Signature> aiGraphcoreSignatures();

} // namespace popart
