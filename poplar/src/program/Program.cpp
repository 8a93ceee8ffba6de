#include <poplar/Program.hpp>

#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <support/Error.hpp>

namespace poplar::program {

using internal::ProgramNode;
using internal::ProgramPtr;
using internal::SequenceNode;

namespace {

template <typename Op>
ProgramPtr makeNode(Op op, const DebugContext &debugContext) {
  return std::make_shared<ProgramNode>(
      ProgramNode{std::move(op), debugContext.getPathName()});
}

} // namespace

Program::Program() : Program(makeNode(SequenceNode{}, {})) {}

bool Program::isEmpty() const {
  const auto *sequence = std::get_if<SequenceNode>(&node_->op);
  return sequence != nullptr && sequence->children.empty();
}

Sequence::Sequence(const DebugContext &debugContext)
    : Program(makeNode(SequenceNode{}, debugContext)) {}

Sequence::Sequence(std::initializer_list<Program> programs,
                   const DebugContext &debugContext)
    : Sequence(debugContext) {
  for (const Program &program : programs) {
    add(program);
  }
}

void Sequence::add(const Program &program) {
  ProgramPtr child = internal::programNode(program);
  if (node_.use_count() > 1) {
    // Others hold this node: they keep it as it is.
    node_ = std::make_shared<ProgramNode>(*node_);
  }
  // Nobody else can see the node, which makeNode() made mutable.
  auto &node = const_cast<ProgramNode &>(*node_);
  std::get<SequenceNode>(node.op).children.push_back(std::move(child));
}

Execute::Execute(ComputeSet computeSet, const DebugContext &debugContext)
    : Program(
          makeNode(internal::ExecuteNode{internal::computeSetId(computeSet)},
                   debugContext)) {}

Copy::Copy(const Tensor &source, const Tensor &destination, bool,
           const DebugContext &debugContext)
    : Program(makeNode(internal::CopyNode{internal::tensorView(source),
                                          internal::tensorView(destination)},
                       debugContext)) {}

Copy::Copy(const DataStream &stream, const Tensor &destination, bool,
           const DebugContext &debugContext)
    : Program(
          makeNode(internal::StreamInNode{internal::streamId(stream),
                                          internal::tensorView(destination)},
                   debugContext)) {
  support::requireUser<control_program_error>(
      stream.type() == DataStreamType::HostToDeviceFIFO,
      "[poplar::program::Copy] stream '{}' goes from device to host; it cannot "
      "be the source",
      stream.handle());
}

Copy::Copy(const Tensor &source, const DataStream &stream, bool,
           const DebugContext &debugContext)
    : Program(makeNode(internal::StreamOutNode{internal::tensorView(source),
                                               internal::streamId(stream)},
                       debugContext)) {
  support::requireUser<control_program_error>(
      stream.type() == DataStreamType::DeviceToHostFIFO,
      "[poplar::program::Copy] stream '{}' goes from host to device; it cannot "
      "be the destination",
      stream.handle());
}

Repeat::Repeat(unsigned count, const Program &body,
               const DebugContext &debugContext)
    : Program(makeNode(internal::RepeatNode{count, internal::programNode(body)},
                       debugContext)) {}

WriteUndef::WriteUndef(const Tensor &tensor, const DebugContext &debugContext)
    : Program(makeNode(internal::WriteUndefNode{internal::tensorView(tensor)},
                       debugContext)) {}

} // namespace poplar::program
