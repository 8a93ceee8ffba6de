#include "engine/ReferenceExecutor.hpp"

#include <kernels/Kind.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <deque>
#include <utility>

namespace poplar::engine {
namespace {

using internal::TensorView;

using Bytes = std::vector<std::byte>;

std::size_t byteSize(const TensorView &view) {
  return static_cast<std::size_t>(view.elements()) * support::sizeOf(view.type);
}

bool shareVariable(const TensorView &a, const TensorView &b) {
  return std::any_of(a.pieces.begin(), a.pieces.end(), [&](const auto &piece) {
    return std::any_of(
        b.pieces.begin(), b.pieces.end(),
        [&](const auto &other) { return other.variable == piece.variable; });
  });
}

} // namespace

template <typename Op> void ReferenceExecutor::execute(const Op &) {
  support::requireInternal(false, "a program that cannot be run");
}

ReferenceExecutor::ReferenceExecutor(const internal::GraphData &graph,
                                     std::vector<internal::ProgramPtr> programs,
                                     HostStreams &streams)
    : graph_(graph), programs_(std::move(programs)), streams_(streams),
      store_(graph, std::vector<bool>(graph.variables.size(), true)) {
  store_.reset();
}

void ReferenceExecutor::run(std::size_t program) {
  execute(programs_[program]);
}

void ReferenceExecutor::execute(const internal::ProgramPtr &program) {
  if (program != nullptr) {
    std::visit([this](const auto &node) { execute(node); }, program->op);
  }
}

void ReferenceExecutor::execute(const internal::SequenceNode &node) {
  for (const internal::ProgramPtr &child : node.children) {
    execute(child);
  }
}

void ReferenceExecutor::execute(const internal::ExecuteNode &node) {
  for (const internal::VertexGroup &group :
       graph_.computeSets[node.computeSet.index()].groups) {
    call(group);
  }
}

void ReferenceExecutor::execute(const internal::CopyNode &node) {
  Bytes packed(byteSize(node.source));
  store_.pack(node.source, packed.data());
  store_.unpack(packed.data(), node.destination);
}

void ReferenceExecutor::execute(const internal::StreamInNode &node) {
  Bytes packed(streams_.transferBytes(node.stream));
  streams_.receive(node.stream, packed.data());
  store_.unpack(packed.data(), node.destination);
}

void ReferenceExecutor::execute(const internal::StreamOutNode &node) {
  Bytes packed(byteSize(node.source));
  store_.pack(node.source, packed.data());
  streams_.send(node.stream, packed.data());
}

void ReferenceExecutor::execute(const internal::RepeatNode &node) {
  for (std::uint64_t i = 0; i < node.count; ++i) {
    execute(node.body);
  }
}

void ReferenceExecutor::execute(const internal::WriteUndefNode &) {}

// Inputs that share a variable with an output, and views that are not one
// affine window, are packed first; such outputs are unpacked afterwards.
void ReferenceExecutor::call(const internal::VertexGroup &group) {
  std::deque<Bytes> packed;
  std::vector<kernels::OperandSpec> inputs, outputs;
  std::vector<std::byte *> data;

  const auto addPacked = [&](const TensorView &view,
                             std::vector<kernels::OperandSpec> &specs) {
    packed.emplace_back(byteSize(view));
    specs.push_back(kernels::OperandSpec::rowMajor({view.type, view.shape}));
    data.push_back(packed.back().data());
  };
  const auto addInPlace = [&](const TensorView &view,
                              std::vector<kernels::OperandSpec> &specs) {
    internal::AffineView affine;
    if (!toAffine(view, affine)) {
      return false;
    }
    specs.push_back({view.type, affine.shape, affine.strides});
    data.push_back(store_.data(affine.variable) +
                   affine.offset *
                       static_cast<std::int64_t>(support::sizeOf(view.type)));
    return true;
  };

  for (const TensorView &input : group.inputs) {
    const bool isOverwritten = std::any_of(
        group.outputs.begin(), group.outputs.end(),
        [&](const TensorView &output) { return shareVariable(input, output); });
    if (isOverwritten || !addInPlace(input, inputs)) {
      addPacked(input, inputs);
      store_.pack(input, data.back());
    }
  }
  std::vector<std::pair<const TensorView *, std::byte *>> unpackLater;
  for (const TensorView &output : group.outputs) {
    if (!addInPlace(output, outputs)) {
      addPacked(output, outputs);
      unpackLater.emplace_back(&output, data.back());
    }
  }
  group.kind->reference({{group.attributes, inputs, outputs}, data});
  for (const auto &[view, bytes] : unpackLater) {
    store_.unpack(bytes, *view);
  }
}

} // namespace poplar::engine
