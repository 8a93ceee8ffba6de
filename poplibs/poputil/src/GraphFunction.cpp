#include <poputil/GraphFunction.hpp>

#include <poputil/Util.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace poputil {
namespace graphfn {

using poplar::DebugContext;
using poplar::DebugNameAndId;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Program;
using poplar::program::Sequence;

namespace {

using Tensors = std::vector<Tensor>;

DebugNameAndId nameOf(const DebugContext &debugContext) {
  return DebugNameAndId(debugContext.getPathName());
}

Signature withResult(Signature signature) {
  signature.push_back(created("result"));
  return signature;
}

// A body that leaves its result in the last argument.
VoidFunction::NamedBody storeResult(TensorFunction::NamedBody body) {
  return [body = std::move(body)](Tensors &args, Sequence &prog,
                                  const DebugNameAndId &name) {
    args.pop_back();
    const auto result = body(args, prog, name);
    args.push_back(result);
  };
}

} // namespace

ProgramFunction::ProgramFunction(
    Graph &graph, Signature signature,
    std::function<Program(Tensors &, const DebugNameAndId &)> f, bool inlined,
    const DebugContext &debugContext)
    : graph_(graph), signature_(std::move(signature)), f_(std::move(f)),
      inlined_(inlined) {
  if (inlined_) {
    return;
  }
  for (const auto &arg : signature_) {
    parameters_.push_back(
        arg.type == ArgType::CreatedArg
            ? Tensor()
            : graph_.clone(arg.similarTensor, {debugContext, arg.debugName}));
  }
  function_ = graph_.addFunction(f_(parameters_, nameOf(debugContext)));
}

ProgramFunction::ProgramFunction(Graph &graph, Signature signature,
                                 std::function<Program(Tensors &)> f,
                                 bool inlined, const DebugContext &debugContext)
    : ProgramFunction(
          graph, std::move(signature),
          [f = std::move(f)](Tensors &args, const DebugNameAndId &) {
            return f(args);
          },
          inlined, debugContext) {}

Program ProgramFunction::operator()(Tensors &args,
                                    const DebugContext &debugContext) {
  support::requireUser<poplibs_error>(
      args.size() == signature_.size(),
      "[poputil::graphfn] the function takes {} arguments, given {}",
      signature_.size(), args.size());
  if (inlined_) {
    return f_(args, nameOf(debugContext));
  }
  Sequence prog(debugContext);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto type = signature_[i].type;
    if (type == ArgType::InputArg || type == ArgType::InOutArg) {
      prog.add(Copy(args[i], parameters_[i], false, debugContext));
    }
  }
  prog.add(poplar::program::Call(function_, debugContext));
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto type = signature_[i].type;
    if (type == ArgType::CreatedArg) {
      args[i] = duplicate(graph_, parameters_[i], prog,
                          {debugContext, signature_[i].debugName});
    } else if (type != ArgType::InputArg) {
      prog.add(Copy(parameters_[i], args[i], false, debugContext));
    }
  }
  return prog;
}

VoidFunction::VoidFunction(Graph &graph, Signature signature, NamedBody f,
                           bool inlined, const DebugContext &debugContext)
    : function_(
          graph, std::move(signature),
          [f = std::move(f)](Tensors &args,
                             const DebugNameAndId &name) -> Program {
            Sequence prog(name);
            f(args, prog, name);
            return prog;
          },
          inlined, debugContext) {}

VoidFunction::VoidFunction(Graph &graph, Signature signature, Body f,
                           bool inlined, const DebugContext &debugContext)
    : VoidFunction(
          graph, std::move(signature),
          [f = std::move(f)](Tensors &args, Sequence &prog,
                             const DebugNameAndId &) { f(args, prog); },
          inlined, debugContext) {}

void VoidFunction::operator()(Tensors &args, Sequence &prog,
                              const DebugContext &debugContext) {
  prog.add(function_(args, debugContext));
}

TensorFunction::TensorFunction(Graph &graph, Signature signature, NamedBody f,
                               bool inlined, const DebugContext &debugContext)
    : function_(graph, withResult(std::move(signature)),
                storeResult(std::move(f)), inlined, debugContext) {}

TensorFunction::TensorFunction(Graph &graph, Signature signature, Body f,
                               bool inlined, const DebugContext &debugContext)
    : TensorFunction(
          graph, std::move(signature),
          [f = std::move(f)](Tensors &args, Sequence &prog,
                             const DebugNameAndId &) { return f(args, prog); },
          inlined, debugContext) {}

Tensor TensorFunction::operator()(Tensors &args, Sequence &prog,
                                  const DebugContext &debugContext) {
  args.emplace_back();
  function_(args, prog, debugContext);
  const auto result = args.back();
  args.pop_back();
  return result;
}

} // namespace graphfn
} // namespace poputil
