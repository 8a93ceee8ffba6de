// What the lowerings of custom operators inherit.
#include <popart/popx/opx.hpp>

#include <lowering/LoweringContext.hpp>
#include <lowering/Types.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <algorithm>

namespace popart::popx {
namespace {

std::string described(const poplar::Tensor &tensor) {
  return fmt::format("{}{}", tensor.elementType().toString().cloneAsString(),
                     tensor.shapeToString());
}

std::vector<std::size_t> withoutLeadingOnes(std::vector<std::size_t> shape) {
  auto first = std::find_if(shape.begin(), shape.end(),
                            [](std::size_t dim) { return dim != 1; });
  return {first, shape.end()};
}

bool liesOn(const poplar::Graph &ipu, const poplar::Graph &all,
            const poplar::Tensor &tensor) {
  if (&ipu == &all) {
    return true;
  }
  std::size_t count = 0; // of elements that have a place there
  for (const auto &intervals : ipu.getTileMapping(
           tensor, /*requireComplete=*/false, /*allowExternal=*/true)) {
    for (const auto &interval : intervals) {
      count += interval.size();
    }
  }
  return count == tensor.numElements();
}

} // namespace

poplar::Type popType(DataType type) {
  return poplarType(type);
}

poplar::Type popType(const TensorInfo &info) {
  return poplarType(info.dataType());
}

void Opx::throwWrongIdentifier(const Op &op) {
  throw error("Cannot create opx for {}: the identifier is {}", op.str(),
              op.opid);
}

poplar::Graph &IrLowering::graph() const {
  return context_->graph();
}

Opx::~Opx() = default;

void Opx::grow(poplar::program::Sequence &) const {
  throw error("[{}] the operator's Opx does not define grow()", op_p->str());
}

void Opx::grow(std::vector<poplar::program::Sequence> &programs) const {
  if (programs.empty()) {
    programs.resize(1);
  }
  grow(programs[0]);
}

InputCreatorType Opx::getInputCreatorType(InIndex) const {
  return InputCreatorType::Deadend;
}

poplar::Tensor Opx::createInput(InIndex, const poplar::DebugNameAndId &) const {
  throw error("[{}] the operator's Opx does not define createInput()",
              op_p->str());
}

poplar::Tensor
Opx::createInputTensor(InIndex index,
                       const poplar::DebugNameAndId &dnai) const {
  return createInput(index, dnai);
}

std::set<TensorId> Opx::mustExistBeforeCreate(InIndex) const {
  throw error("[{}] the operator's Opx does not define "
              "mustExistBeforeCreate()",
              op_p->str());
}

poplar::Tensor Opx::unwindTensorLayout(poplar::Tensor, InIndex,
                                       OutIndex) const {
  throw error("[{}] the operator's Opx does not define unwindTensorLayout()",
              op_p->str());
}

view::RegMap Opx::unwindRegion(InIndex, OutIndex) const {
  throw error("[{}] the operator's Opx does not define unwindRegion()",
              op_p->str());
}

bool Opx::createsEquiv(int, const Opx *, int) const {
  throw error("[{}] the operator's Opx does not define createsEquiv()",
              op_p->str());
}

bool Opx::canUnwind(InIndex in, OutIndex) const {
  InputCreatorType type = getInputCreatorType(in);
  return type == InputCreatorType::CanUnwind ||
         type == InputCreatorType::CanCreateOrUnwind;
}

bool Opx::outputCreatedExternally(OutIndex) const {
  return false;
}

poplar::Graph &Opx::graph() const {
  return context().graphOf(op_p->settings.vgraphId);
}

poplar::Graph &Opx::topLevelGraph() const {
  return context().graph();
}

const poplar::Tensor &Opx::get(TensorId id) const {
  support::requireUser<error>(context().hasTensor(id),
                              "[{}] there is no tensor '{}' yet", op_p->str(),
                              id);
  if (op_p->input->contains(id)) {
    return getInTensor(op_p->input->indicesOf(id).front());
  }
  return context().tensor(id);
}

void Opx::insert(TensorId id, const poplar::Tensor &tensor) const {
  support::requireUser<error>(op_p->output->contains(id),
                              "[{}] '{}' is none of its outputs", op_p->str(),
                              id);
  setOutTensor(op_p->output->indicesOf(id).front(), tensor);
}

const poplar::Tensor &Opx::getInTensor(InIndex index) const {
  support::requireUser<error>(hasInput(index), "[{}] has no input {}",
                              op_p->str(), index);
  auto found = copies_.find(index);
  if (found != copies_.end()) {
    return found->second;
  }
  const poplar::Tensor &tensor = context().tensor(inId(index));
  if (liesOn(graph(), topLevelGraph(), tensor)) {
    return tensor;
  }
  // The value program has no copies between IPUs.
  poplar::Tensor copy = context().addVariable(
      inInfo(index), op_p->settings.vgraphId, inId(index) + "/copy");
  context().program().add(poplar::program::Copy(tensor, copy));
  return copies_.emplace(index, copy).first->second;
}

const poplar::Tensor &Opx::getOutTensor(OutIndex index) const {
  return context().tensor(outId(index));
}

void Opx::setOutTensor(OutIndex index, const poplar::Tensor &tensor) const {
  support::requireUser<error>(hasOutput(index), "[{}] has no output {}",
                              op_p->str(), index);
  const TensorInfo &info = outInfo(index);
  std::vector<std::size_t> shape = poplarShape(info.shape());
  support::requireUser<error>(
      withoutLeadingOnes(tensor.shape()) == withoutLeadingOnes(shape) &&
          tensor.elementType() == poplarType(info.dataType()),
      "[{}] output {} is {}{}, but was given a tensor {}", op_p->str(), index,
      info.data_type(), support::toString(info.shape()), described(tensor));
  if (context().hasTensor(outId(index))) {
    throw internal_error("[{}] output {} ('{}') is already in the map of "
                         "tensors",
                         op_p->str(), index, outId(index));
  }
  context().setTensor(outId(index), tensor.reshape(shape));
}

poplar::Tensor Opx::cloneNcopy(poplar::program::Sequence &program,
                               const poplar::Tensor &tensor,
                               const std::string &name) const {
  poplar::Tensor copy = graph().clone(tensor, debugContext(name));
  program.add(poplar::program::Copy(tensor, copy));
  return copy;
}

poplar::Tensor Opx::cloneNcopy(poplar::program::Sequence &program,
                               const TensorId &id) const {
  return cloneNcopy(program, context().tensor(id), id);
}

poplar::Tensor Opx::getConst(const poplar::Type &type,
                             const std::vector<std::size_t> &shape,
                             double value, const std::string &name) const {
  bool isReal = type == poplar::FLOAT || type == poplar::HALF;
  poplar::Tensor constant =
      isReal ? graph().addConstant(type, shape, static_cast<float>(value),
                                   debugContext(name))
             : graph().addConstant(type, shape, static_cast<int>(value),
                                   debugContext(name));
  graph().setTileMapping(constant, 0);
  return constant;
}

poplar::Tensor Opx::getScalarVariable(const poplar::Type &type,
                                      const std::string &name) const {
  poplar::Tensor variable = graph().addVariable(type, {}, debugContext(name));
  graph().setTileMapping(variable, 0);
  return variable;
}

poplar::Tensor Opx::getZerosTensor(std::vector<std::size_t> shape,
                                   poplar::Type type, std::string name) const {
  return getConst(type, shape, 0.0, name);
}

poplar::Tensor Opx::broadcast(const std::vector<std::int64_t> &shape,
                              const poplar::Tensor &tensor) const {
  return broadcastTo(tensor, shape);
}

poplar::DebugContext Opx::debugContext(const std::string &name,
                                       poplar::SourceLocation location) const {
  return poplar::DebugContext(getDebugNameAndId(name), "", location);
}

poplar::DebugNameAndId Opx::getDebugNameAndId(const std::string &name,
                                              poplar::SourceLocation) const {
  const std::string &path = context().debugPath();
  return poplar::DebugNameAndId(name.empty() ? path : path + "/" + name);
}

const TensorInfo &Opx::outInfo(OutIndex index) const {
  const Op &op = *op_p;
  return op.outInfo(index);
}

VGraphId Opx::getVirtualGraphId() const {
  return op_p->settings.vgraphId == unusedVGraphId ? 0
                                                   : op_p->settings.vgraphId;
}

} // namespace popart::popx
