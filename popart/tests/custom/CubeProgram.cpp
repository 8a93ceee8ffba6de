// A program as the tutorial about custom operators has it: the operator, the
// model and its gradient in one file, and no weight.
#include <popart/builder.hpp>
#include <popart/dataflow.hpp>
#include <popart/devicemanager.hpp>
#include <popart/logging.hpp>
#include <popart/names.hpp>
#include <popart/ndarraywrapper.hpp>
#include <popart/op.hpp>
#include <popart/op/l1.hpp>
#include <popart/opmanager.hpp>
#include <popart/opserialiser.hpp>
#include <popart/optimizer.hpp>
#include <popart/popx/opx.hpp>
#include <popart/popx/opxmanager.hpp>
#include <popart/session.hpp>
#include <popart/sgd.hpp>
#include <popart/stepio.hpp>
#include <popart/tensordata.hpp>
#include <popart/tensorinfo.hpp>
#include <popart/tensornames.hpp>

#include <popops/ElementWise.hpp>

#include <iostream>
#include <memory>
#include <vector>

namespace pe = popops::expr;

namespace Onnx {
namespace CustomOperators {
const popart::OperatorIdentifier Cube = {"com.acme", "Cube", 1};
} // namespace CustomOperators
namespace CustomGradOperators {
const popart::OperatorIdentifier CubeGrad = {"com.acme", "CubeGrad", 1};
} // namespace CustomGradOperators
} // namespace Onnx

class CubeOp;

class CubeGradOp : public popart::Op {
public:
  CubeGradOp(const popart::Op &fwdOp)
      : popart::Op(Onnx::CustomGradOperators::CubeGrad, fwdOp.getSettings()) {}
  std::unique_ptr<popart::Op> clone() const final {
    return std::make_unique<CubeGradOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
  const std::vector<popart::GradInOutMapper> &gradInputInfo() const final {
    static const std::vector<popart::GradInOutMapper> inInfo = {
        {0, 0, popart::GradOpInType::GradOut},
        {1, 0, popart::GradOpInType::Out}};
    return inInfo;
  }
  const std::map<int, int> &gradOutToNonGradIn() const final {
    static const std::map<int, int> outInfo = {{0, 0}};
    return outInfo;
  }
  float getSubgraphValue() const final { return getHighSubgraphValue(); }
};

class CubeOp : public popart::Op {
public:
  CubeOp(const popart::OperatorIdentifier &_opid,
         const popart::Op::Settings &settings_)
      : popart::Op(_opid, settings_) {}
  std::unique_ptr<popart::Op> clone() const final {
    return std::make_unique<CubeOp>(*this);
  }
  std::vector<std::unique_ptr<popart::Op>> getGradOps() final {
    std::vector<std::unique_ptr<popart::Op>> upops;
    upops.emplace_back(new CubeGradOp(*this));
    return upops;
  }
  void setup() final { outInfo(0) = inInfo(0); }
  float getSubgraphValue() const final { return getHighSubgraphValue(); }
};

class CubeOpx : public popart::popx::Opx {
public:
  CubeOpx(popart::Op *op, popart::popx::Devicex *devicex)
      : popart::popx::Opx(op, devicex) {
    verifyOp<CubeOp>(op, Onnx::CustomOperators::Cube);
  }
  void grow(poplar::program::Sequence &prog) const final {
    insert(outId(0),
           popops::map(graph(), pe::Mul(pe::Mul(pe::_1, pe::_1), pe::_1),
                       {get(inId(0))}, prog, debugContext()));
  }
};

// 3 g g y of the incoming gradient g and the output y.
class CubeGradOpx : public popart::popx::Opx {
public:
  CubeGradOpx(popart::Op *op, popart::popx::Devicex *devicex)
      : popart::popx::Opx(op, devicex) {
    verifyOp<CubeGradOp>(op, Onnx::CustomGradOperators::CubeGrad);
  }
  void grow(poplar::program::Sequence &prog) const final {
    insert(outId(0),
           popops::map(
               graph(),
               pe::Mul(pe::Mul(pe::Mul(pe::Const(3), pe::_1), pe::_1), pe::_2),
               {get(inId(0)), get(inId(1))}, prog, debugContext()));
  }
};

static popart::OpDefinition::DataTypes T = {popart::DataType::FLOAT16,
                                            popart::DataType::FLOAT};
static popart::OpDefinition
    cubeOpDef({popart::OpDefinition::Inputs({{"input", T}}),
               popart::OpDefinition::Outputs({{"output", T}}),
               popart::OpDefinition::Attributes()});
static popart::OpCreator<CubeOp> cubeOpCreator(
    popart::OpDefinitions({{Onnx::CustomOperators::Cube, cubeOpDef}}));
static popart::popx::OpxCreator<CubeOpx>
    cubeOpxCreator(Onnx::CustomOperators::Cube);
static popart::popx::OpxCreator<CubeGradOpx>
    cubeGradOpxCreator(Onnx::CustomGradOperators::CubeGrad);

int main() {
  auto builder = popart::Builder::create();
  popart::TensorInfo inputInfo{"FLOAT", std::vector<int64_t>{4}};
  auto input = builder->addInputTensor(inputInfo);
  auto outs = builder->customOp(Onnx::CustomOperators::Cube, 1, {input}, 1, {});
  auto l1 = builder->aiGraphcoreOpset1().l1loss(
      {outs[0]}, 0.1f, popart::ReductionType::Sum, "l1LossVal");
  builder->addOutputTensor(outs[0]);
  auto inputGrad = popart::reservedGradientPrefix() + input;
  auto dataFlow =
      popart::DataFlow(1, {{outs[0], popart::AnchorReturnType("All")},
                           {inputGrad, popart::AnchorReturnType("All")}});
  auto device =
      popart::DeviceManager::createDeviceManager().acquireAvailableDevice(1);
  auto optimizer = popart::ConstSGD(0.01f);
  auto session = popart::TrainingSession::createFromOnnxModel(
      builder->getModelProto(), dataFlow, l1, optimizer, device,
      popart::InputShapeInfo(), {},
      popart::Patterns(popart::PatternsLevel::Default));
  float rawInputData[] = {0.3f, 2.7f, 1.2f, 5.0f};
  popart::NDArrayWrapper<float> inData(rawInputData, {4});
  std::map<popart::TensorId, popart::IArray &> inputs = {{input, inData}};
  float rawOutputData[4] = {};
  popart::NDArrayWrapper<float> outData(rawOutputData, {4});
  float rawGradData[4] = {};
  popart::NDArrayWrapper<float> gradData(rawGradData, {4});
  std::map<popart::TensorId, popart::IArray &> anchors = {
      {outs[0], outData}, {inputGrad, gradData}};
  session->prepareDevice();
  popart::StepIO stepio(inputs, anchors);
  session->weightsFromHost();
  session->run(stepio);
  std::cout << "Output Data: " << outData << "\n";
  std::cout << "Input Grad:  " << gradData << std::endl;
}
