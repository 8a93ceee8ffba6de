// Lowering one operation at a time.
#include <lowering/LoweringContext.hpp>

#include <lowering/HostTensors.hpp>
#include <lowering/Types.hpp>
#include <ops/OpRule.hpp>
#include <popart/error.hpp>
#include <popart/sessionoptions.hpp>
#include <support/Error.hpp>

#include <poplar/CSRFunctions.hpp>
#include <poplar/internal/Access.hpp>
#include <popnn/internal/Kinds.hpp>
#include <popops/internal/Kinds.hpp>
#include <poputil/Util.hpp>
#include <poputil/internal/Tiles.hpp>

#include <algorithm>

namespace popart {
namespace {

// An expression takes floating-point operands of one type. Where FLOAT and HALF
// meet, it is computed in FLOAT and the result gets the type of `result`, if
// the expression does not say it.
kernels::Expression inOneType(const kernels::Expression &expression,
                              const std::vector<poplar::Tensor> &inputs,
                              const poplar::Tensor &result) {
  using kernels::Expression;
  auto has = [&](const poplar::Type &type) {
    return std::any_of(inputs.begin(), inputs.end(), [&](auto &input) {
      return input.elementType() == type;
    });
  };
  if (!has(poplar::FLOAT) || !has(poplar::HALF)) {
    return expression;
  }
  std::vector<Expression> operands;
  for (unsigned i = 0; i < inputs.size(); ++i) {
    Expression input = Expression::input(i);
    operands.push_back(inputs[i].elementType() == poplar::HALF
                           ? Expression::cast(support::DataType::Float, input)
                           : input);
  }
  if (expression.steps().back().kind == kernels::ExpressionStep::Kind::Cast) {
    return expression.substitute(operands);
  }
  auto type = poputil::internal::tensorType(result).type;
  return Expression::cast(type, expression.substitute(operands));
}

// The variables of the Poplar graph that a tensor is made of.
void addVariables(const poplar::Tensor &tensor, std::set<std::size_t> &to) {
  for (const auto &piece : poplar::internal::tensorView(tensor).pieces) {
    to.insert(piece.variable.index());
  }
}

bool isViewOf(const std::set<std::size_t> &variables,
              const poplar::Tensor &tensor) {
  const auto &pieces = poplar::internal::tensorView(tensor).pieces;
  return std::any_of(pieces.begin(), pieces.end(), [&](const auto &piece) {
    return variables.count(piece.variable.index()) > 0;
  });
}

bool changesVariable(const Op &op) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (op.modifiedInput(static_cast<OutIndex>(i)) >= 0) {
      return true;
    }
  }
  return false;
}

// What replicas compute alike so that their weights stay the same: their random
// numbers differ, so it is rounded to the nearest.
bool mustAgree(const Op &op, const SessionOptions &options) {
  bool isUpdate = op.settings.executionContext != ExecutionContext::Normal ||
                  (!options.enableGradientAccumulation && changesVariable(op));
  return op.opid.domain == "aspen" &&
         (isUpdate || op.opid.type == "ReplicaReduce");
}

} // namespace

void LoweringContext::lower(const Op &op, poplar::program::Sequence &program) {
  support::requireInternal(op.rule().lower != nullptr, "{} cannot be lowered",
                           op.str());
  op_ = &op;
  program_ = &program;
  debugPath_ = op.settings.name.empty() ? op.opid.type
                                        : op.settings.name + "/" + op.opid.type;
  bool isExact = options_.enableStochasticRounding &&
                 graph_.getReplicationFactor() > 1 && mustAgree(op, options_);
  auto roundStochastically = [&](bool enable) {
    poplar::setStochasticRounding(graph_, program, enable,
                                  debugPath_ + "/rounding");
  };
  if (isExact) {
    roundStochastically(false);
  }
  op.rule().lower(*this, op);
  if (isExact) {
    roundStochastically(true);
  }
  for (OutIndex i = 0; i < static_cast<OutIndex>(op.outputs.size()); ++i) {
    const TensorId &id = op.outputs[static_cast<std::size_t>(i)];
    support::requireInternal(hasTensor(id), "{} was lowered without '{}'",
                             op.str(), id);
    if (op.modifiedInput(i) < 0 && isFleeting(id)) {
      setTensor(id, duplicate(tensor(id), debugPath_ + "/kept"));
    }
  }
}

void LoweringContext::addStored(const poplar::Tensor &variable) {
  addVariables(variable, stored_);
}

void LoweringContext::addOverwritten(const poplar::Tensor &variable) {
  addVariables(variable, overwritten_);
}

bool LoweringContext::isFleeting(const TensorId &id) const {
  return (returned_.count(id) > 0 && isViewOf(stored_, tensor(id))) ||
         (readLate_.count(id) > 0 && isViewOf(overwritten_, tensor(id)));
}

std::vector<poplar::Tensor>
LoweringContext::lowerGraph(const Graph &body,
                            const std::vector<poplar::Tensor> &inputs,
                            poplar::program::Sequence &program) {
  LoweringContext inner(graph_, options_);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inner.setTensor(body.getInputIds().at(i), inputs[i]);
  }
  addConstants(inner, body, op_->settings.vgraphId);
  for (const auto &op : body.getOps()) {
    inner.lower(*op, program);
  }
  std::vector<poplar::Tensor> outputs;
  for (const TensorId &id : body.getOutputIds()) {
    outputs.push_back(inner.tensor(id));
  }
  return outputs;
}

poplar::Graph &LoweringContext::graphOf(VGraphId ipu) {
  if (ipu == unusedVGraphId || graph_.getTarget().getNumIPUs() == 1) {
    return graph_;
  }
  auto found = ipuGraphs_.find(ipu);
  if (found == ipuGraphs_.end()) {
    unsigned first = firstTile(ipu);
    unsigned end = first + graph_.getTarget().getTilesPerIPU();
    found =
        ipuGraphs_.emplace(ipu, graph_.createVirtualGraph(first, end)).first;
  }
  return found->second;
}

poplar::Tensor LoweringContext::in(InIndex i) const {
  return tensor(op_->inputs.at(static_cast<std::size_t>(i)));
}

void LoweringContext::setOut(OutIndex i, const poplar::Tensor &tensor) {
  const TensorId &id = op_->outputs.at(static_cast<std::size_t>(i));
  support::requireInternal(tensor.shape() == poplarShape(op_->outShape(i)),
                           "{} made '{}' with shape {} instead of {}",
                           op_->str(), id, tensor.shapeToString(),
                           support::toString(op_->outShape(i)));
  setTensor(id, tensor);
}

std::vector<poplar::Tensor>
LoweringContext::emit(const std::string &kind,
                      const kernels::Attributes &attributes,
                      const std::vector<poplar::Tensor> &inputs,
                      const poplar::OptionFlags &options) {
  auto *function = popnn::internal::findKindFunction(kind);
  support::requireInternal(function != nullptr, "no library has kind {}", kind);
  return function(graph_, attributes, inputs, *program_, debugPath_, options);
}

poplar::Tensor
LoweringContext::emit(const kernels::Expression &expression,
                      const std::vector<poplar::Tensor> &inputs) {
  return popops::internal::elementwise(
      graph_, inOneType(expression, inputs, inputs.front()), inputs, *program_,
      debugPath_);
}

void LoweringContext::emitTo(const kernels::Expression &expression,
                             const std::vector<poplar::Tensor> &inputs,
                             const poplar::Tensor &output) {
  popops::internal::elementwiseWithOutput(
      graph_, inOneType(expression, inputs, output), inputs, output, *program_,
      debugPath_);
}

poplar::Tensor LoweringContext::addVariable(const TensorInfo &info,
                                            VGraphId ipu,
                                            const std::string &name,
                                            TileSet tiles) {
  using poputil::internal::addLinearVariable;
  kernels::TensorType type{deviceType(info.dataType()), info.shape()};
  if (tiles == TileSet::Compute) {
    unsigned count = graph_.getTarget().getTilesPerIPU();
    return addLinearVariable(graph_, type, {firstTile(ipu), count}, name);
  }
  poplar::Graph all = graph_.getTopLevelGraph();
  auto count = static_cast<unsigned>(options_.numIOTiles);
  unsigned end = (static_cast<unsigned>(std::max<VGraphId>(0, ipu)) + 1) *
                 all.getTarget().getTilesPerIPU();
  return addLinearVariable(all, type, {end - count, count}, name);
}

poplar::Tensor LoweringContext::duplicate(const poplar::Tensor &tensor,
                                          const std::string &name) {
  if (!tensor.containsAliases()) {
    return poputil::duplicate(graph_, tensor, *program_, name);
  }
  poplar::Tensor copy = poputil::internal::addLinearVariable(
      graph_, poputil::internal::tensorType(tensor),
      poputil::internal::tilesOf(graph_, tensor), name);
  program_->add(poplar::program::Copy(tensor, copy, false, name));
  return copy;
}

poplar::Tensor LoweringContext::addConstant(const TensorInfo &info,
                                            double value) {
  poplar::Type type = poplarType(info.dataType());
  poplar::Tensor constant =
      type == poplar::FLOAT || type == poplar::HALF
          ? graph_.addConstant(type, {}, static_cast<float>(value))
          : graph_.addConstant(type, {}, static_cast<long long>(value));
  graph_.setTileMapping(constant, firstTile(op_->settings.vgraphId));
  return broadcastTo(constant, info.shape());
}

poplar::Tensor LoweringContext::addConstant(const std::vector<int> &values) {
  poplar::Tensor constant = graph_.addConstant(poplar::INT, {values.size()},
                                               poplar::ArrayRef<int>(values));
  graph_.setTileMapping(constant, firstTile(op_->settings.vgraphId));
  return constant;
}

poplar::Tensor LoweringContext::addConstant(const poplar::Type &type,
                                            const std::vector<float> &values) {
  poplar::Tensor constant = graph_.addConstant(type, {values.size()},
                                               poplar::ArrayRef<float>(values));
  graph_.setTileMapping(constant, firstTile(op_->settings.vgraphId));
  return constant;
}

const poplar::RemoteBuffer &
LoweringContext::remoteBuffer(const std::string &name, const TensorInfo &info) {
  auto found = remoteBuffers_.find(name);
  if (found == remoteBuffers_.end()) {
    found = remoteBuffers_
                .emplace(name, graph_.addRemoteBuffer(
                                   name, poplarType(info.dataType()),
                                   static_cast<std::size_t>(info.nelms())))
                .first;
  }
  return found->second;
}

unsigned LoweringContext::firstTile(VGraphId ipu) const {
  return static_cast<unsigned>(std::max<VGraphId>(0, ipu)) *
         graph_.getTarget().getTilesPerIPU();
}

const poplar::Tensor &LoweringContext::tensor(const TensorId &id) const {
  auto found = tensors_.find(id);
  support::requireInternal(found != tensors_.end(),
                           "'{}' is used before it is lowered", id);
  return found->second;
}

void LoweringContext::setTensor(const TensorId &id,
                                const poplar::Tensor &tensor) {
  tensors_[id] = tensor;
}

} // namespace popart
