#include "engine/ReferenceExecutor.hpp"

#include "codelets/Codelets.hpp"
#include "engine/HostActions.hpp"

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

ReferenceExecutor::ReferenceExecutor(const internal::GraphData &graph,
                                     std::vector<internal::ProgramPtr> programs,
                                     HostServices &host, FloatTraps traps)
    : graph_(graph), programs_(std::move(programs)), host_(host), traps_(traps),
      store_(graph, std::vector<bool>(graph.variables.size(), true)),
      vertices_(graph, [this](internal::VariableId variable) {
        return store_.data(variable);
      }) {}

void ReferenceExecutor::load() {
  store_.reset();
  vertices_.restore();
}

void ReferenceExecutor::run(std::size_t program) {
  execute(programs_[program]);
}

void ReferenceExecutor::execute(const internal::ProgramPtr &program) {
  if (program != nullptr) {
    const auto *outer = std::exchange(running_, program.get());
    std::visit([this](const auto &node) { execute(node); }, program->op);
    running_ = outer;
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
    traps_.begin();
    call(group);
    traps_.end(group.debugPath);
  }
  traps_.begin();
  const bool isSuccess = runVertices(node.computeSet);
  traps_.end(graph_.computeSets[node.computeSet.index()].debugPath);
  if (internal::isPresent(node.exitStatus)) {
    const auto status = static_cast<std::byte>(isSuccess);
    store_.unpack(&status, node.exitStatus);
  }
}

bool ReferenceExecutor::runVertices(internal::ComputeSetId computeSet) {
  if (graph_.computeSets[computeSet.index()].vertices.empty()) {
    return true;
  }
  const VertexSet &vertices = vertices_.of(computeSet);
  const codelets::PrintScope printing(*host_.printStream);
  bool isSuccess = true;
  for (std::size_t shard = 0; shard < vertices.shards(); ++shard) {
    isSuccess = vertices.run(shard) && isSuccess;
  }
  return isSuccess;
}

void ReferenceExecutor::execute(const internal::CopyNode &node) {
  Bytes packed(byteSize(node.source));
  store_.pack(node.source, packed.data());
  store_.unpack(packed.data(), node.destination);
}

void ReferenceExecutor::execute(const internal::StreamInNode &node) {
  Bytes packed(host_.streams.transferBytes(node.stream));
  host_.streams.receive(node.stream, node.replica, packed.data());
  store_.unpack(packed.data(), node.destination);
}

void ReferenceExecutor::execute(const internal::StreamOutNode &node) {
  Bytes packed(byteSize(node.source));
  store_.pack(node.source, packed.data());
  host_.streams.send(node.stream, node.replica, packed.data());
}

void ReferenceExecutor::execute(const internal::RepeatNode &node) {
  if (node.count == internal::RepeatNode::forever) {
    std::uint64_t &iterations = countRun(1).parts[0];
    do {
      execute(node.body);
      ++iterations;
    } while (!host_.isStopping);
    return;
  }
  for (std::uint64_t i = 0; i < node.count; ++i) {
    execute(node.body);
  }
}

model::PartCounts &ReferenceExecutor::countRun(std::size_t parts) {
  model::PartCounts &counts = counts_[running_];
  ++counts.runs;
  counts.parts.resize(parts);
  return counts;
}

std::int64_t ReferenceExecutor::readDecision(const TensorView &view) const {
  std::int32_t value = 0; // a BOOL fills the lowest of its bytes
  store_.pack(view, reinterpret_cast<std::byte *>(&value));
  return value;
}

void ReferenceExecutor::execute(const internal::WhileNode &node) {
  std::uint64_t &iterations = countRun(1).parts[0];
  for (;;) {
    execute(node.condition);
    if ((readDecision(node.predicate) != 0) != node.continuesOn) {
      break;
    }
    ++iterations;
    execute(node.body);
  }
}

void ReferenceExecutor::execute(const internal::IfNode &node) {
  const bool isTrue = readDecision(node.predicate) != 0;
  ++countRun(2).parts[isTrue ? 0 : 1];
  execute(isTrue ? node.thenBody : node.elseBody);
}

void ReferenceExecutor::execute(const internal::SwitchNode &node) {
  const std::int64_t value = readDecision(node.control);
  const auto found =
      std::find_if(node.cases.begin(), node.cases.end(),
                   [&](const auto &entry) { return entry.first == value; });
  const auto part = static_cast<std::size_t>(found - node.cases.begin());
  ++countRun(node.cases.size() + 1).parts[part];
  execute(found == node.cases.end() ? node.defaultBody : found->second);
}

void ReferenceExecutor::execute(const internal::CallNode &node) {
  execute(graph_.functions[node.function.index()]);
}

void ReferenceExecutor::execute(const internal::BlockNode &node) {
  execute(node.body);
}

void ReferenceExecutor::execute(const internal::CycleCountNode &node) {
  execute(node.body);
  serve({}, &node.result);
}

void ReferenceExecutor::execute(const internal::RemoteReadNode &node) {
  serve({&node.offsets}, &node.destination);
}

void ReferenceExecutor::execute(const internal::RemoteWriteNode &node) {
  serve({&node.offsets, &node.source}, nullptr);
}

void ReferenceExecutor::execute(const internal::PrintTensorNode &node) {
  serve({&node.view}, nullptr);
}

void ReferenceExecutor::execute(const internal::AbortNode &node) {
  serve({&node.condition}, nullptr);
}

void ReferenceExecutor::execute(const internal::ErrorNode &node) {
  serve({&node.view}, nullptr);
}

void ReferenceExecutor::execute(const internal::CrossReplicaCopyNode &) {
  support::requireInternal(false, "replicas were not expanded");
}

void ReferenceExecutor::execute(const internal::CollectiveNode &) {
  support::requireInternal(false, "replicas were not expanded");
}

void ReferenceExecutor::serve(std::vector<const TensorView *> reads,
                              const TensorView *write) {
  std::deque<Bytes> packed;
  std::vector<std::byte *> operands;
  const auto add = [&](const TensorView &view) {
    operands.push_back(packed.emplace_back(byteSize(view)).data());
  };
  for (const TensorView *view : reads) {
    if (internal::isPresent(*view)) {
      add(*view);
      store_.pack(*view, operands.back());
    }
  }
  if (write != nullptr) {
    add(*write);
  }
  runHostAction(host_, *running_, operands.data());
  if (write != nullptr) {
    store_.unpack(operands.back(), *write);
  }
}

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
