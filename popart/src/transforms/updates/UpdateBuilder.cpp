// State, hyper-parameters and operations of one weight's update.
#include <transforms/updates/UpdateBuilder.hpp>

#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <support/Half.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace popart {
namespace {

// Groups of replicas that have a value of their own.
std::size_t groupsOf(const Tensor &weight) {
  auto size = static_cast<std::size_t>(weight.info.nbytes());
  return size == 0 ? 1 : std::max<std::size_t>(1, weight.data.size() / size);
}

template <typename T> std::vector<char> bytesOf(const std::vector<T> &values) {
  const auto *begin = reinterpret_cast<const char *>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

std::vector<char> scaledBytes(const Tensor &tensor, float factor,
                              const TensorInfo &info) {
  auto count = static_cast<std::size_t>(info.nelms()) * groupsOf(tensor);
  std::vector<char> result(
      static_cast<std::size_t>(info.nbytes()) * groupsOf(tensor), 0);
  if (factor == 0.0f) {
    return result;
  }
  bool isFromHalf = tensor.info.dataType() == DataType::FLOAT16;
  bool isToHalf = info.dataType() == DataType::FLOAT16;
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    if (isFromHalf) {
      support::Half half;
      std::memcpy(&half, tensor.data.data() + i * sizeof(half), sizeof(half));
      value = static_cast<float>(half);
    } else {
      std::memcpy(&value, tensor.data.data() + i * sizeof(value),
                  sizeof(value));
    }
    value *= factor;
    if (isToHalf) {
      support::Half half(value);
      std::memcpy(result.data() + i * sizeof(half), &half, sizeof(half));
    } else {
      std::memcpy(result.data() + i * sizeof(value), &value, sizeof(value));
    }
  }
  return result;
}

} // namespace

GradientReduction::GradientReduction(const SessionOptions &options)
    : accumulates(options.enableGradientAccumulation),
      isMean(options.accumulationAndReplicationReductionType ==
             ReductionType::Mean),
      isRunningMean(isMean &&
                    options.meanAccumulationAndReplicationReductionStrategy ==
                        MeanReductionStrategy::Running),
      accumulationFactor(static_cast<double>(options.getAccumulationFactor())),
      replicas(static_cast<double>(options.getGlobalReplicationFactor())) {}

double GradientReduction::divisor() const {
  return isMean && !isRunningMean ? accumulationFactor * replicas : 1.0;
}

UpdateBuilder::UpdateBuilder(UpdateContext &context, TensorId weight,
                             Op::Settings settings)
    : context_(context), weight_(std::move(weight)),
      settings_(std::move(settings)) {
  settings_.name = weight_;
}

void UpdateBuilder::setGradient(TensorId gradient, Term clip) {
  gradient_ = std::move(gradient);
  clip_ = std::move(clip);
}

void UpdateBuilder::setContext(ExecutionContext context) {
  settings_.executionContext = context;
}

const Shape &UpdateBuilder::shape() const {
  return context_.graph.getTensor(weight_).info.shape();
}

TensorId UpdateBuilder::updated(const TensorId &id) {
  return reservedUpdatedVarPrefix() + id;
}

Term UpdateBuilder::lossScaling() const {
  const OptimizerValue &value = optimizer().lossScaling();
  Term scaling =
      value.isConst()
          ? Term(double{value.val()})
          : Term("lossScaling", reservedLossScalingPrefix() +
                                    context_.graph.getTensor(context_.ir.loss)
                                        .info.data_type());
  return context_.ir.sessionOptions.automaticLossScalingSettings.enabled
             ? scaling * Term("lossScaleFactor",
                              reservedLossScaleUpdateFactorPrefix())
             : scaling;
}

bool UpdateBuilder::isScaleFar() const {
  const SessionOptions &options = context_.ir.sessionOptions;
  return options.automaticLossScalingSettings.enabled &&
         options.enablePipelining;
}

Term UpdateBuilder::rawGradient() const {
  return Term("g", gradient_) * clip_;
}

Term UpdateBuilder::gradientTerm() const {
  return rawGradient() / (lossScaling() * reduction().divisor());
}

Term UpdateBuilder::value(const std::string &key) {
  OptimizerValue value = optimizer().hyperparameter(key).get(weight_);
  return value.isConst() ? Term(double{value.val()}) : Term(key, scalar(key));
}

TensorId UpdateBuilder::scalar(const std::string &key) {
  Graph &graph = context_.graph;
  for (const auto &row : optimizer().hyperparameters()) {
    if (row.key != key) {
      continue;
    }
    TensorId id = row.values.hasSpecific(weight_)
                      ? row.scalar + reservedSpecificInfix() + weight_
                      : row.scalar + reservedDefaultInfix() + "FLOAT";
    if (!graph.hasTensor(id)) {
      OptimizerValue value = row.values.get(weight_);
      float number = value.val();
      TensorInfo info(DataType::FLOAT, {});
      if (value.isConst()) {
        graph.addConstant(id, info, &number);
      } else {
        graph.addVariable(id, info, &number);
        graph.getTensor(id).variableUpdateType = VariableUpdateType::None;
      }
    }
    return id;
  }
  throw internal_error("no hyper-parameter " + key);
}

DataType UpdateBuilder::typeOr(DataType type) const {
  return type == DataType::UNDEFINED
             ? context_.graph.getTensor(weight_).info.dataType()
             : type;
}

TensorId UpdateBuilder::addState(const TensorId &id, const TensorInfo &info,
                                 const std::vector<char> &data) {
  Graph &graph = context_.graph;
  if (!graph.hasTensor(id)) {
    graph.addVariable(id, info, data.data());
    if (data.size() > static_cast<std::size_t>(info.nbytes())) {
      Tensor &state = graph.getTensor(id);
      state.data = data;
      state.variableSettings = graph.getTensor(weight_).variableSettings;
    }
  }
  const TensorInfo &found = graph.getTensor(id).info;
  support::requireUser<error>(
      found == info,
      "[{}] the model's state '{}' is {} with {} elements; the optimiser keeps "
      "{} with {}",
      optimizer().type_s(), id, found.data_type(), found.nelms(),
      info.data_type(), info.nelms());
  graph.getTensor(id).variableUpdateType = VariableUpdateType::None;
  return id;
}

TensorId UpdateBuilder::state(const std::string &prefix, DataType type,
                              float value) {
  TensorInfo info(typeOr(type), shape());
  auto count = static_cast<std::size_t>(info.nelms()) *
               groupsOf(context_.graph.getTensor(weight_));
  return addState(prefix + weight_, info,
                  info.dataType() == DataType::FLOAT16
                      ? bytesOf(std::vector(count, support::Half(value)))
                      : bytesOf(std::vector(count, value)));
}

TensorId UpdateBuilder::scalarState(const std::string &prefix) {
  return addState(prefix + weight_, TensorInfo(DataType::FLOAT, {}),
                  std::vector<char>(sizeof(float), 0));
}

TensorId UpdateBuilder::scaledState(const std::string &prefix, DataType type,
                                    float factor) {
  TensorInfo info(typeOr(type), shape());
  return addState(prefix + weight_, info,
                  scaledBytes(context_.graph.getTensor(weight_), factor, info));
}

Op &UpdateBuilder::addOp(const std::string &type,
                         const std::vector<TensorId> &inputs,
                         const std::vector<TensorId> &outputs,
                         const Attributes &attributes) {
  return context_.editor.insertBefore(position_, {"aspen", type}, inputs,
                                      outputs, attributes, settings_);
}

Term UpdateBuilder::compute(const std::string &name, const Term &formula,
                            const Shape &shape) {
  std::vector<TensorId> inputs;
  std::string names;
  for (const auto &[operand, id] : formula.operands()) {
    inputs.push_back(id);
    names += (names.empty() ? "" : ",") + operand;
  }
  Op &op = addOp("Formula", inputs, {},
                 Attributes()
                     .set("expression", Attributes::String(formula.text()))
                     .set("operands", names)
                     .set("shape", shape));
  return Term(name, op.outputs[0]);
}

Term UpdateBuilder::update(const std::string &name, const TensorId &variable,
                           const Term &formula, const TensorId &output) {
  std::vector<TensorId> inputs = {variable};
  std::string names = name;
  for (const auto &[operand, id] : formula.operands()) {
    if (operand != name) {
      inputs.push_back(id);
      names += "," + operand;
    }
  }
  Op &op = addOp("FormulaUpdate", inputs, {output},
                 Attributes()
                     .set("expression", Attributes::String(formula.text()))
                     .set("operands", names));
  return Term(name, op.outputs[0]);
}

void UpdateBuilder::updateWeight(const Term &formula) {
  update("w", weight_, formula, updated(weight_));
}

Term UpdateBuilder::squareSum(const std::string &name, const TensorId &id) {
  return Term(name, addOp("SquareSum", {id}, {}).outputs[0]);
}

std::pair<TensorId, float> UpdateBuilder::kindGradient() {
  Term scaling = lossScaling();
  if (scaling.isNumber() && clip_.is(1)) {
    return {gradient_, static_cast<float>(
                           1.0 / (scaling.number() * reduction().divisor()))};
  }
  // What changes at run time is not a kind's attribute.
  Term gradient = compute("s", gradientTerm(), shape());
  return {gradient.operands().at("s"), 1.0f};
}

} // namespace popart
