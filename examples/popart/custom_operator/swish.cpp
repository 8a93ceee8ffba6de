// An operator of one's own, y = x * sigmoid(beta * x), with its gradient:
//   g++ -std=c++14 -fPIC -shared swish.cpp -lpopart -lpopops -lpoplar -o
//       libswish.so
// swish.py loads the shared object and trains with the operator.
#include <popart/op.hpp>
#include <popart/opmanager.hpp>
#include <popart/opserialiser.hpp>
#include <popart/popx/devicex.hpp>
#include <popart/popx/opx.hpp>
#include <popart/popx/opxmanager.hpp>
#include <popart/shapeinference.hpp>

#include <popops/ElementWise.hpp>

namespace pe = popops::expr;

namespace {

const popart::OperatorIdentifier swishId = {"examples", "Swish", 1};
const popart::OperatorIdentifier swishGradId = {"examples", "SwishGrad", 1};

// Takes the gradient of the output and the input of the operator it belongs to.
class SwishGradOp : public popart::Op {
public:
  SwishGradOp(const popart::Op &swish, float factor)
      : popart::Op(swishGradId, swish.getSettings()), beta(factor) {}

  std::unique_ptr<popart::Op> clone() const final {
    return std::make_unique<SwishGradOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(1); }
  const std::vector<popart::GradInOutMapper> &gradInputInfo() const final {
    static const std::vector<popart::GradInOutMapper> inputs = {
        {0, 0, popart::GradOpInType::GradOut},
        {1, 0, popart::GradOpInType::In}};
    return inputs;
  }
  const std::map<int, int> &gradOutToNonGradIn() const final {
    static const std::map<int, int> outputs = {{0, 0}};
    return outputs;
  }
  void appendAttributes(popart::OpSerialiserBase &serialiser) const final {
    popart::Op::appendAttributes(serialiser);
    serialiser.appendAttribute("beta", beta);
  }

  const float beta;
};

class SwishOp : public popart::Op {
public:
  SwishOp(const popart::OperatorIdentifier &opid, float factor,
          const popart::Op::Settings &settings)
      : popart::Op(opid, settings), beta(factor) {}

  std::unique_ptr<popart::Op> clone() const final {
    return std::make_unique<SwishOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
  std::vector<std::unique_ptr<popart::Op>> getGradOps() final {
    std::vector<std::unique_ptr<popart::Op>> grads;
    grads.emplace_back(new SwishGradOp(*this, beta));
    return grads;
  }
  void appendAttributes(popart::OpSerialiserBase &serialiser) const final {
    popart::Op::appendAttributes(serialiser);
    serialiser.appendAttribute("beta", beta);
  }

  const float beta;
};

class SwishOpx : public popart::popx::Opx {
public:
  SwishOpx(popart::Op *op, popart::popx::Devicex *devicex)
      : popart::popx::Opx(op, devicex) {
    verifyOp<SwishOp>(op, swishId);
  }
  void grow(poplar::program::Sequence &program) const final {
    float beta = getOp<SwishOp>().beta;
    setOutTensor(
        0, popops::map(graph(), pe::_1 * pe::Sigmoid(pe::Const(beta) * pe::_1),
                       {getInTensor(0)}, program, debugContext("swish")));
  }
};

class SwishGradOpx : public popart::popx::Opx {
public:
  SwishGradOpx(popart::Op *op, popart::popx::Devicex *devicex)
      : popart::popx::Opx(op, devicex) {
    verifyOp<SwishGradOp>(op, swishGradId);
  }
  void grow(poplar::program::Sequence &program) const final {
    auto scaled = pe::Const(getOp<SwishGradOp>().beta) * pe::_2;
    auto sigmoid = pe::Sigmoid(scaled);
    // dy (s + beta x s (1 - s))
    setOutTensor(
        0, popops::map(graph(),
                       pe::_1 * (sigmoid + scaled * sigmoid *
                                               (pe::Const(1.0f) - sigmoid)),
                       {getInTensor(0), getInTensor(1)}, program,
                       debugContext("swishGrad")));
  }
};

// Everything that PopART must know is said when the shared object is loaded.
popart::OpDefinition::DataTypes T = {popart::DataType::FLOAT16,
                                     popart::DataType::FLOAT};
popart::OpCreator<SwishOp> creator(
    popart::OpDefinitions(
        {{swishId,
          {popart::OpDefinition::Inputs({{"input", T}}),
           popart::OpDefinition::Outputs({{"output", T}}),
           popart::OpDefinition::Attributes({{"beta", {"*"}}})}}}),
    [](const popart::OpCreatorInfo &info) -> std::unique_ptr<popart::Op> {
      float beta =
          info.attributes.getAttribute<popart::Attributes::Float>("beta", 1.0f);
      return std::make_unique<SwishOp>(info.opid, beta, info.settings);
    },
    true);
popart::popx::OpxCreator<SwishOpx> opxCreator(swishId);
popart::popx::OpxCreator<SwishGradOpx> gradOpxCreator(swishGradId);
popart::RegisterShapeInferenceFunction
    shapes(swishId, [](popart::ShapeInferenceContext &context) {
      context.outInfo(0) = context.inInfo(0);
    });

} // namespace
