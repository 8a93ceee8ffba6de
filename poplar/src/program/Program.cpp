// Programs that move data and run vertices.
#include <poplar/Program.hpp>

#include "MakeNode.hpp"

namespace poplar::program {

using internal::ProgramPtr;
using internal::SequenceNode;
using internal::TensorView;
using support::requireUser;

namespace {

constexpr const char *copyName = "poplar::program::Copy";

const TensorView noOffsets{support::DataType::UnsignedInt, {0}, {}};

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
  std::get<SequenceNode>(makeMutable(node_).op)
      .children.push_back(std::move(child));
}

Execute::Execute(ComputeSet computeSet, const DebugContext &debugContext)
    : Program(
          makeNode(internal::ExecuteNode{internal::computeSetId(computeSet)},
                   debugContext, computeSet)) {}

Execute::Execute(ComputeSet computeSet, const Tensor &exitStatus,
                 const DebugContext &debugContext)
    : Program(makeNode(
          internal::ExecuteNode{
              internal::computeSetId(computeSet),
              someViewOf(exitStatus, "poplar::program::Execute")},
          debugContext, computeSet, exitStatus)) {}

Copy::Copy(const Tensor &source, const Tensor &destination, bool,
           const DebugContext &debugContext)
    : Program(makeNode(internal::CopyNode{viewOf(source, copyName),
                                          viewOf(destination, copyName)},
                       debugContext, source, destination)) {}

Copy::Copy(const DataStream &stream, const Tensor &destination, bool,
           const DebugContext &debugContext)
    : Program(makeNode(internal::StreamInNode{internal::streamId(stream),
                                              viewOf(destination, copyName)},
                       debugContext, stream, destination)) {
  requireUser<control_program_error>(
      stream.type() == DataStreamType::HostToDeviceFIFO,
      "[poplar::program::Copy] stream '{}' goes from device to host; it cannot "
      "be the source",
      stream.handle());
}

Copy::Copy(const Tensor &source, const DataStream &stream, bool,
           const DebugContext &debugContext)
    : Program(makeNode(internal::StreamOutNode{viewOf(source, copyName),
                                               internal::streamId(stream)},
                       debugContext, source, stream)) {
  requireUser<control_program_error>(
      stream.type() == DataStreamType::DeviceToHostFIFO,
      "[poplar::program::Copy] stream '{}' goes from host to device; it cannot "
      "be the destination",
      stream.handle());
}

Copy::Copy(const RemoteBuffer &buffer, const Tensor &destination,
           const DebugContext &debugContext)
    : Program(makeNode(
          internal::RemoteReadNode{internal::remoteBufferId(buffer),
                                   viewOf(destination, copyName), noOffsets},
          debugContext, buffer, destination)) {}

Copy::Copy(const RemoteBuffer &buffer, const Tensor &destination,
           const Tensor &offsets, const DebugContext &debugContext)
    : Program(
          makeNode(internal::RemoteReadNode{internal::remoteBufferId(buffer),
                                            viewOf(destination, copyName),
                                            someViewOf(offsets, copyName)},
                   debugContext, buffer, destination, offsets)) {}

Copy::Copy(const Tensor &source, const RemoteBuffer &buffer,
           const DebugContext &debugContext)
    : Program(
          makeNode(internal::RemoteWriteNode{viewOf(source, copyName),
                                             internal::remoteBufferId(buffer),
                                             noOffsets},
                   debugContext, source, buffer)) {}

Copy::Copy(const Tensor &source, const RemoteBuffer &buffer,
           const Tensor &offsets, const DebugContext &debugContext)
    : Program(
          makeNode(internal::RemoteWriteNode{viewOf(source, copyName),
                                             internal::remoteBufferId(buffer),
                                             someViewOf(offsets, copyName)},
                   debugContext, source, buffer, offsets)) {}

CrossReplicaCopy::CrossReplicaCopy(
    const Tensor &source, const Tensor &destination,
    const std::map<unsigned, unsigned> &replicaMap,
    const DebugContext &debugContext)
    : Program(makeNode(
          internal::CrossReplicaCopyNode{
              viewOf(source, "poplar::program::CrossReplicaCopy"),
              viewOf(destination, "poplar::program::CrossReplicaCopy"),
              replicaMap},
          debugContext, source, destination)) {}

AssumeEqualAcrossReplicas::AssumeEqualAcrossReplicas(
    const Tensor &tensor, const DebugContext &debugContext)
    : Program(makeNode(SequenceNode{}, debugContext)) {
  viewOf(tensor, "poplar::program::AssumeEqualAcrossReplicas");
}

WriteUndef::WriteUndef(const Tensor &tensor, const DebugContext &debugContext)
    : Program(makeNode(internal::WriteUndefNode{viewOf(
                           tensor, "poplar::program::WriteUndef")},
                       debugContext, tensor)) {}

} // namespace poplar::program
