// Operators with parameters of their own, as classes.
#include <popart/op/clip.hpp>
#include <popart/op/dropout.hpp>
#include <popart/op/gather.hpp>
#include <popart/op/matmul.hpp>
#include <popart/op/softmax.hpp>

#include <ops/Common.hpp>
#include <popart/graph.hpp>

#include <limits>

namespace popart {
namespace {

constexpr const char *memoryName = "__available_memory";
constexpr const char *partialsName = "__partials_type";
constexpr const char *modeName = "__serialize_matmul_mode";
constexpr const char *factorName = "__serialize_matmul_factor";
constexpr const char *precisionName = "__serialize_matmul_precision";

// In the order of MatMulBaseOp::SerialiseSettings::Mode.
constexpr const char *modes[] = {"none", "input_channels", "reducing_dim",
                                 "output_channels"};

void setMemory(Attributes &attributes, const optional<float> &proportion) {
  attributes.erase(memoryName);
  if (proportion) {
    attributes.set(memoryName, *proportion);
  }
}

optional<float> memoryOf(const Attributes &attributes) {
  return attributes.hasAttribute(memoryName)
             ? optional<float>(attributes.getFloat(memoryName, 0))
             : optional<float>();
}

float limitOf(const Op &op, InIndex input, const char *name, float none) {
  return op.hasInput(input) ? static_cast<float>(constantScalar(op, input))
                            : op.attributes.getFloat(name, none);
}

const std::map<int, int> &firstToFirst() {
  static const std::map<int, int> outputs = {{0, 0}};
  return outputs;
}

// Vectors as matrices, and batches as one dimension.
Shape asGroups(Shape shape, bool isLeft) {
  if (shape.size() == 1) {
    shape.insert(isLeft ? shape.begin() : shape.end(), 1);
  }
  std::int64_t groups = 1;
  while (shape.size() > 2) {
    groups *= shape.front();
    shape.erase(shape.begin());
  }
  shape.insert(shape.begin(), groups);
  return shape;
}

} // namespace

DropoutBaseOp::DropoutBaseOp(const OperatorIdentifier &opid, float ratio,
                             const Op::Settings &settings)
    : RandomBaseOp(opid, settings) {
  setRatio(ratio);
}

DropoutBaseOp::DropoutBaseOp(const OperatorIdentifier &opid,
                             const OperatorIdentifier &meaning, float ratio,
                             const Op::Settings &settings)
    : RandomBaseOp(opid, meaning, settings) {
  setRatio(ratio);
}

DropoutGradOp::DropoutGradOp(const DropoutOp &forward)
    : DropoutOp(OperatorIdentifier("aspen", "Dropout"),
                OperatorIdentifier("aspen", "Dropout"), forward.getRatio(),
                forward.getSettings()) {
  attributes = forward.attributes;
}

const std::vector<GradInOutMapper> &DropoutGradOp::gradInputInfo() const {
  static const std::vector<GradInOutMapper> inputs = {
      {getGradInIndex(), DropoutOp::getOutIndex(), GradOpInType::GradOut},
      {3, 3, GradOpInType::In}}; // the seed
  return inputs;
}

const std::map<int, int> &DropoutGradOp::gradOutToNonGradIn() const {
  return firstToFirst();
}

float ClipOp::getClipMin() const {
  return limitOf(*this, 1, "min", -std::numeric_limits<float>::infinity());
}

float ClipOp::getClipMax() const {
  return limitOf(*this, 2, "max", std::numeric_limits<float>::infinity());
}

std::int64_t SoftmaxOp::getAxis() const {
  std::int64_t axis = attributes.getInt("axis", opid.version >= 13 ? -1 : 1);
  return axis < 0 && hasInput(getInIndex()) ? axis + inRank(getInIndex())
                                            : axis;
}

SoftmaxGradOp::SoftmaxGradOp(const SoftmaxOp &forward)
    : Op(OperatorIdentifier("aspen", "SoftmaxGrad"),
         OperatorIdentifier("aspen", "SoftmaxGrad"), forward.getSettings(),
         Attributes()
             .set("axis", forward.getAxis())
             .set("isOneAxis", Attributes::Int{forward.opid.version >= 13})) {}

const std::vector<GradInOutMapper> &SoftmaxGradOp::gradInputInfo() const {
  static const std::vector<GradInOutMapper> inputs = {
      {getGradProbsInIndex(), SoftmaxOp::getOutIndex(), GradOpInType::GradOut},
      {getProbsInIndex(), SoftmaxOp::getOutIndex(), GradOpInType::Out}};
  return inputs;
}

const std::map<int, int> &SoftmaxGradOp::gradOutToNonGradIn() const {
  return firstToFirst();
}

GatherOp::GatherOp(const OperatorIdentifier &opid, std::int64_t axis,
                   std::int64_t groupSize, const Op::Settings &settings,
                   const optional<float> &availableMemoryProportion,
                   bool zeroOutOfRangeIndices)
    : Op(opid,
         groupSize > 1 ? OperatorIdentifier("ai.graphcore", "GroupedGather")
                       : OperatorIdentifier("ai.onnx", "Gather"),
         settings,
         Attributes().set("axis", axis).set("group_size", groupSize)) {
  setMemory(attributes, availableMemoryProportion);
  if (zeroOutOfRangeIndices) {
    attributes.set("zeroOutOfRangeIndices", Attributes::Int{1});
  }
}

void GatherOp::setup() {
  Op::setup();
}

std::int64_t GatherOp::getAxis() const {
  std::int64_t axis = attributes.getInt("axis", 0);
  return axis < 0 && hasInput(dataInIndex()) ? axis + inRank(dataInIndex())
                                             : axis;
}

const optional<float> GatherOp::getAvailableMemoryProportion() const {
  return memoryOf(attributes);
}

void GatherOp::setAvailableMemoryProportion(const optional<float> proportion) {
  setMemory(attributes, proportion);
}

GatherGradOp::GatherGradOp(const GatherOp &forward, std::int64_t axis,
                           std::int64_t groupSize)
    : Op(OperatorIdentifier("aspen", "GatherGrad"),
         OperatorIdentifier("aspen", "GatherGrad"), forward.getSettings(),
         Attributes()
             .set("axis", axis)
             .set("group_size", groupSize)
             .set("shape", forward.inShape(GatherOp::dataInIndex()))) {}

const std::vector<GradInOutMapper> &GatherGradOp::gradInputInfo() const {
  static const std::vector<GradInOutMapper> inputs = {
      {gradInIndex(), GatherOp::outIndex(), GradOpInType::GradOut},
      {indicesInIndex(), GatherOp::indicesInIndex(), GradOpInType::In}};
  return inputs;
}

const std::map<int, int> &GatherGradOp::gradOutToNonGradIn() const {
  return firstToFirst();
}

std::string toString(const MatMulPartialsType &type) {
  return type == MatMulPartialsType::HALF ? "MatMulPartialsType::HALF"
                                          : "MatMulPartialsType::FLOAT";
}

std::ostream &operator<<(std::ostream &out, const MatMulPartialsType &type) {
  return out << toString(type);
}

const optional<float> MatMulBaseOp::getAvailableMemoryProportion() const {
  return memoryOf(attributes);
}

void MatMulBaseOp::setAvailableMemoryProportion(
    const optional<float> proportion) {
  setMemory(attributes, proportion);
}

MatMulPartialsType MatMulBaseOp::getPartialsType() const {
  return attributes.getString(partialsName, "float") == "half"
             ? MatMulPartialsType::HALF
             : MatMulPartialsType::FLOAT;
}

void MatMulBaseOp::setPartialsType(const MatMulPartialsType &type) {
  attributes.set(
      partialsName,
      std::string(type == MatMulPartialsType::HALF ? "half" : "float"));
}

MatMulBaseOp::SerialiseSettings MatMulBaseOp::getSerialiseSettings() const {
  SerialiseSettings settings;
  std::string mode = attributes.getString(modeName, modes[0]);
  for (std::size_t i = 0; i < std::size(modes); ++i) {
    if (mode == modes[i]) {
      settings.mode = static_cast<SerialiseSettings::Mode>(i);
    }
  }
  settings.factor =
      static_cast<std::uint32_t>(attributes.getInt(factorName, 0));
  settings.keep_precision = attributes.getInt(precisionName, 0) != 0;
  return settings;
}

void MatMulBaseOp::setSerialiseSettings(const SerialiseSettings &settings) {
  if (settings.mode == SerialiseSettings::Mode::None) {
    for (const char *name : {modeName, factorName, precisionName}) {
      attributes.erase(name);
    }
    return;
  }
  attributes
      .set(modeName,
           std::string(modes[static_cast<std::size_t>(settings.mode)]))
      .set(factorName, Attributes::Int{settings.factor})
      .set(precisionName, Attributes::Int{settings.keep_precision});
}

OptionalDataType MatMulBaseOp::getOutputType() const {
  return attributes.hasAttribute("outputType")
             ? OptionalDataType(
                   TensorInfo(attributes.getString("outputType", ""), Shape())
                       .dataType())
             : OptionalDataType();
}

MatMulOp::MatMulOp(const OperatorIdentifier &opid, const Op::Settings &settings,
                   const optional<float> &availableMemoryProportion,
                   const SerialiseSettings &serialization,
                   const OptionalDataType &outputType,
                   const MatMulPartialsType &partialsType)
    : MatMulBaseOp(opid, OperatorIdentifier("ai.onnx", "MatMul"), settings) {
  setAvailableMemoryProportion(availableMemoryProportion);
  setSerialiseSettings(serialization);
  if (partialsType != MatMulPartialsType::FLOAT) {
    setPartialsType(partialsType);
  }
  if (outputType) {
    attributes.set("outputType", TensorInfo(*outputType, Shape()).data_type());
  }
}

Shape MatMulOp::getExpandedLhsShape() const {
  return asGroups(inShape(getLhsInIndex()), true);
}

Shape MatMulOp::getExpandedRhsShape() const {
  return asGroups(inShape(getRhsInIndex()), false);
}

Shape MatMulOp::getExpandedOutShape() const {
  Shape lhs = getExpandedLhsShape();
  Shape rhs = getExpandedRhsShape();
  return {std::max(lhs[0], rhs[0]), lhs[1], rhs[2]};
}

} // namespace popart
