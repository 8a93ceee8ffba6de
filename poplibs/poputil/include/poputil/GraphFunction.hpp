// Functions of tensors whose code is on the device once, however often they are
// called: arguments are copied to and from tensors of the function's own.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <functional>
#include <string>
#include <vector>

namespace poputil {
namespace graphfn {

enum class ArgType { InputArg, OutputArg, InOutArg, CreatedArg };

struct ArgSig {
  ArgSig(ArgType type, poplar::Tensor similarTensor, std::string debugName)
      : type(type), similarTensor(similarTensor), debugName(debugName) {}

  ArgType type;
  // The function's own tensor is a clone of it; none for CreatedArg.
  poplar::Tensor similarTensor;
  std::string debugName;
};
using Signature = std::vector<ArgSig>;

inline ArgSig input(poplar::Tensor similar, std::string debugName = "") {
  return ArgSig(ArgType::InputArg, similar, debugName);
}
inline ArgSig inout(poplar::Tensor similar, std::string debugName = "") {
  return ArgSig(ArgType::InOutArg, similar, debugName);
}
inline ArgSig output(poplar::Tensor similar, std::string debugName = "") {
  return ArgSig(ArgType::OutputArg, similar, debugName);
}
// Made by the function: each call puts a new tensor in its place.
inline ArgSig created(std::string debugName = "") {
  return ArgSig(ArgType::CreatedArg, poplar::Tensor(), debugName);
}

// `f` is called once, with the function's own tensors, when the object is made;
// if `inlined`, on every call, with the arguments themselves.
class ProgramFunction {
public:
  ProgramFunction(
      poplar::Graph &graph, Signature signature,
      std::function<poplar::program::Program(std::vector<poplar::Tensor> &)> f,
      bool inlined = false, const poplar::DebugContext &debugContext = {});
  ProgramFunction(
      poplar::Graph &graph, Signature signature,
      std::function<poplar::program::Program(std::vector<poplar::Tensor> &,
                                             const poplar::DebugNameAndId &)>
          f,
      bool inlined = false, const poplar::DebugContext &debugContext = {});

  poplar::program::Program
  operator()(std::vector<poplar::Tensor> &args,
             const poplar::DebugContext &debugContext = {});

private:
  poplar::Graph &graph_;
  Signature signature_;
  std::function<poplar::program::Program(std::vector<poplar::Tensor> &,
                                         const poplar::DebugNameAndId &)>
      f_;
  bool inlined_;
  std::vector<poplar::Tensor> parameters_;
  poplar::Function function_;
};

class VoidFunction {
public:
  using Body = std::function<void(std::vector<poplar::Tensor> &,
                                  poplar::program::Sequence &)>;
  using NamedBody = std::function<void(std::vector<poplar::Tensor> &,
                                       poplar::program::Sequence &,
                                       const poplar::DebugNameAndId &)>;

  VoidFunction(poplar::Graph &graph, Signature signature, Body f,
               bool inlined = false,
               const poplar::DebugContext &debugContext = {});
  VoidFunction(poplar::Graph &graph, Signature signature, NamedBody f,
               bool inlined = false,
               const poplar::DebugContext &debugContext = {});

  void operator()(std::vector<poplar::Tensor> &args,
                  poplar::program::Sequence &prog,
                  const poplar::DebugContext &debugContext = {});

private:
  ProgramFunction function_;
};

// Returns a tensor, a new one for each call.
class TensorFunction {
public:
  using Body = std::function<poplar::Tensor(std::vector<poplar::Tensor> &,
                                            poplar::program::Sequence &)>;
  using NamedBody = std::function<poplar::Tensor(
      std::vector<poplar::Tensor> &, poplar::program::Sequence &,
      const poplar::DebugNameAndId &)>;

  TensorFunction(poplar::Graph &graph, Signature signature, Body f,
                 bool inlined = false,
                 const poplar::DebugContext &debugContext = {});
  TensorFunction(poplar::Graph &graph, Signature signature, NamedBody f,
                 bool inlined = false,
                 const poplar::DebugContext &debugContext = {});

  poplar::Tensor operator()(std::vector<poplar::Tensor> &args,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext = {});

private:
  VoidFunction function_; // its last argument is the result
};

} // namespace graphfn
} // namespace poputil
