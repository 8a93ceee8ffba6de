// Operators as users write them, from the documented interface alone: compiled
// as C++14 into a shared object that the tests load.
#include <popart/op.hpp>
#include <popart/op/l1.hpp>
#include <popart/opmanager.hpp>
#include <popart/opserialiser.hpp>
#include <popart/patterns/patterncreator.hpp>
#include <popart/popx/devicex.hpp>
#include <popart/popx/opx.hpp>
#include <popart/popx/opxmanager.hpp>
#include <popart/shapeinference.hpp>

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poprand/RandomGen.hpp>

#include <sstream>

namespace pe = popops::expr;

using popart::Attributes;
using popart::DataType;
using popart::GradInOutMapper;
using popart::GradOpInType;
using popart::Graph;
using popart::Op;
using popart::OpCreatorInfo;
using popart::OpDefinition;
using popart::OpDefinitions;
using popart::OperatorIdentifier;

namespace {

const OperatorIdentifier cubeId = {"custom.ops", "Cube", 1};
const OperatorIdentifier cubeGradId = {"custom.ops", "CubeGrad", 1};
const OperatorIdentifier leakyReluId = {"custom.ops", "LeakyRelu", 1};
const OperatorIdentifier leakyReluGradId = {"custom.ops", "LeakyReluGrad", 1};
const OperatorIdentifier tripleId = {"custom.ops", "Triple", 1};
const OperatorIdentifier rangeId = {"custom.ops", "Range", 2, {1, 1}, 2};
const OperatorIdentifier ninthPowerId = {"custom.ops", "NinthPower", 1};
const OperatorIdentifier softReluId = {"custom.ops", "SoftRelu", 1};
const OperatorIdentifier noiseId = {"custom.ops", "Noise", 1};
const OperatorIdentifier wrongId = {"custom.ops", "Wrong", 1};

OpDefinition::DataTypes T = {DataType::FLOAT16, DataType::FLOAT};

OpDefinition unary({OpDefinition::Inputs({{"input", T}}),
                    OpDefinition::Outputs({{"output", T}}),
                    OpDefinition::Attributes({{"alpha", {"*"}}})});

// x^3, and its gradient 3 x^2 dy from the input and the output's gradient.
class CubeGradOp : public Op {
public:
  explicit CubeGradOp(const Op &cube)
      : Op(cubeGradId, cube.getSettings()),
        inputs_({{0, 0, GradOpInType::GradOut}, {1, 0, GradOpInType::In}}),
        outputs_({{0, 0}}) {}

  std::unique_ptr<Op> clone() const final {
    return std::make_unique<CubeGradOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(1); }
  float getSubgraphValue() const final { return getLowSubgraphValue(); }
  const std::vector<GradInOutMapper> &gradInputInfo() const final {
    return inputs_;
  }
  const std::map<int, int> &gradOutToNonGradIn() const final {
    return outputs_;
  }

private:
  std::vector<GradInOutMapper> inputs_;
  std::map<int, int> outputs_;
};

class CubeOp : public Op {
public:
  CubeOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : Op(opid, settings) {}

  std::unique_ptr<Op> clone() const final {
    return std::make_unique<CubeOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
  float getSubgraphValue() const final { return getHighSubgraphValue(); }
  std::vector<std::unique_ptr<Op>> getGradOps() final {
    std::vector<std::unique_ptr<Op>> grads;
    grads.emplace_back(new CubeGradOp(*this));
    return grads;
  }
};

class CubeOpx : public popart::popx::Opx {
public:
  CubeOpx(Op *op, popart::popx::Devicex *devicex) : Opx(op, devicex) {
    verifyOp<CubeOp>(op, cubeId);
  }
  void grow(poplar::program::Sequence &program) const final {
    setOutTensor(0,
                 popops::map(graph(), pe::_1 * pe::_1 * pe::_1,
                             {getInTensor(0)}, program, debugContext("cube")));
  }
};

class CubeGradOpx : public popart::popx::Opx {
public:
  CubeGradOpx(Op *op, popart::popx::Devicex *devicex) : Opx(op, devicex) {
    verifyOp<CubeGradOp>(op, cubeGradId);
  }
  void grow(poplar::program::Sequence &program) const final {
    setOutTensor(0, popops::map(graph(),
                                pe::Const(3.0f) * pe::_1 * pe::_2 * pe::_2,
                                {getInTensor(0), getInTensor(1)}, program,
                                debugContext("cubeGrad")));
  }
};

popart::OpCreator<CubeOp> cubeCreator(OpDefinitions({{cubeId, unary}}));
popart::popx::OpxCreator<CubeOpx> cubeOpxCreator({cubeId});
popart::popx::OpxCreator<CubeGradOpx> cubeGradOpxCreator(cubeGradId);

// x or alpha x; the gradient is one operator for both signs.
class LeakyReluGradOp : public Op {
public:
  LeakyReluGradOp(const Op &forward, float slope)
      : Op(leakyReluGradId, forward.getSettings()), alpha(slope) {}

  std::unique_ptr<Op> clone() const final {
    return std::make_unique<LeakyReluGradOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
  const std::vector<GradInOutMapper> &gradInputInfo() const final {
    static const std::vector<GradInOutMapper> inputs = {
        {0, 0, GradOpInType::GradOut}, {1, 0, GradOpInType::Out}};
    return inputs;
  }
  const std::map<int, int> &gradOutToNonGradIn() const final {
    static const std::map<int, int> outputs = {{0, 0}};
    return outputs;
  }
  void appendAttributes(popart::OpSerialiserBase &serialiser) const final {
    Op::appendAttributes(serialiser);
    serialiser.appendAttribute("slope", alpha);
  }

  const float alpha;
};

class LeakyReluOp : public Op {
public:
  LeakyReluOp(const OperatorIdentifier &opid, float slope,
              const Op::Settings &settings)
      : Op(opid, settings), alpha(slope) {}

  std::unique_ptr<Op> clone() const final {
    return std::make_unique<LeakyReluOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
  std::vector<std::unique_ptr<Op>> getGradOps() final {
    std::vector<std::unique_ptr<Op>> grads;
    grads.emplace_back(new LeakyReluGradOp(*this, alpha));
    return grads;
  }
  void
  appendOutlineAttributes(popart::OpSerialiserBase &serialiser) const final {
    Op::appendOutlineAttributes(serialiser);
    serialiser.appendAttribute("alpha", alpha);
  }

  const float alpha;
};

class LeakyReluOpx : public popart::popx::Opx {
public:
  LeakyReluOpx(Op *op, popart::popx::Devicex *devicex) : Opx(op, devicex) {
    verifyOp<LeakyReluOp>(op, {leakyReluId});
  }
  void grow(poplar::program::Sequence &program) const final {
    float alpha = getOp<LeakyReluOp>().alpha;
    poplar::Tensor x = cloneNcopy(program, getInTensor(0), "x");
    popops::mapInPlace(graph(),
                       pe::Select(pe::Const(alpha) * pe::_1, pe::_1,
                                  pe::Lt(pe::_1, pe::Const(0.0f))),
                       {x}, program, debugContext("leakyRelu"));
    setOutTensor(0, x);
  }
};

class LeakyReluGradOpx : public popart::popx::Opx {
public:
  LeakyReluGradOpx(Op *op, popart::popx::Devicex *devicex) : Opx(op, devicex) {
    verifyOp<LeakyReluGradOp>(op);
  }
  void grow(poplar::program::Sequence &program) const final {
    float alpha = getOp<LeakyReluGradOp>().alpha;
    setOutTensor(0, popops::map(graph(),
                                pe::Select(pe::Const(alpha) * pe::_1, pe::_1,
                                           pe::Lt(pe::_2, pe::Const(0.0f))),
                                {getInTensor(0), getInTensor(1)}, program,
                                debugContext("leakyReluGrad")));
  }
};

popart::OpCreator<LeakyReluOp> leakyReluCreator(
    OpDefinitions({{leakyReluId, unary}}),
    [](const OpCreatorInfo &info) -> std::unique_ptr<Op> {
      float alpha =
          info.attributes.getAttribute<Attributes::Float>("alpha", 1e-2f);
      return std::make_unique<LeakyReluOp>(info.opid, alpha, info.settings);
    },
    true);
popart::popx::OpxCreator<LeakyReluOpx> leakyReluOpxCreator({leakyReluId});
popart::popx::OpxCreator<LeakyReluGradOpx>
    leakyReluGradOpxCreator({leakyReluGradId});

// 3 x, by a vertex on each tile.
class TripleOp : public Op {
public:
  using Op::Op;
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<TripleOp>(*this);
  }
  void setup() final { outInfo(0) = {inInfo(0).dataType(), inShape(0)}; }
};

const char *tripleCodelet = R"codelet(
#include <poplar/Vertex.hpp>
class TripleVertex : public poplar::Vertex {
public:
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<poplar::Vector<float>> out;
  bool compute() {
    for (unsigned i = 0; i < in.size(); ++i) {
      out[i] = 3.0f * in[i];
    }
    return true;
  }
};
)codelet";

class TripleOpx : public popart::popx::Opx {
public:
  TripleOpx(Op *op, popart::popx::Devicex *devicex) : Opx(op, devicex) {
    verifyOp<TripleOp>(op, tripleId);
  }
  void grow(poplar::program::Sequence &program) const final {
    std::stringstream source(tripleCodelet);
    graph().addCodelets(source);
    poplar::Tensor in = getInTensor(0);
    poplar::Tensor out = graph().clone(in, debugContext("out"));
    poplar::ComputeSet triple = graph().addComputeSet(debugContext("triple"));
    auto tiles = graph().getTileMapping(in);
    for (unsigned tile = 0; tile < tiles.size(); ++tile) {
      for (const auto &interval : tiles[tile]) {
        poplar::VertexRef vertex =
            graph().addVertex(triple, "TripleVertex",
                              {{"in", in.flatten().slice(interval)},
                               {"out", out.flatten().slice(interval)}});
        graph().setTileMapping(vertex, tile);
        graph().setPerfEstimate(vertex, 10);
      }
    }
    program.add(poplar::program::Execute(triple));
    setOutTensor(0, out);
  }
};

popart::OpCreator<TripleOp> tripleCreator(OpDefinitions({{tripleId, unary}}),
                                          true);
popart::popx::OpxCreator<TripleOpx> tripleOpxCreator(tripleId);

// Least and greatest of each row.
class RangeOp : public Op {
public:
  using Op::Op;
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<RangeOp>(*this);
  }
  void setup() final {
    if (inRank(0) != 2) {
      throw popart::error("[{}] takes a matrix, not rank {}", debugName(),
                          inRank(0));
    }
    outInfo(0) = {inInfo(0).dataType(), {inShape(0)[0]}};
    outInfo(1) = outInfo(0);
  }
};

class RangeOpx : public popart::popx::Opx {
public:
  RangeOpx(Op *op, popart::popx::Devicex *devicex) : Opx(op, devicex) {
    verifyOp<RangeOp>(op, rangeId);
  }
  void grow(poplar::program::Sequence &program) const final {
    setOutTensor(0, popops::reduce(graph(), getInTensor(0), {1},
                                   popops::Operation::MIN, program,
                                   debugContext("least")));
    setOutTensor(1, popops::reduce(graph(), getInTensor(0), {1},
                                   popops::Operation::MAX, program,
                                   debugContext("greatest")));
  }
};

popart::OpCreator<RangeOp> rangeCreator(OpDefinitions({{rangeId, unary}}));
popart::popx::OpxCreator<RangeOpx> rangeOpxCreator(rangeId);
popart::RegisterShapeInferenceFunction
    rangeShapes(rangeId, [](popart::ShapeInferenceContext &context) {
      for (int i = 0; i < context.getNumOutputs(); ++i) {
        context.outInfo(i) = {context.inType(0), {context.inShape(0)[0]}};
      }
    });

// x plus numbers from 0 to 1, from a seed that PopART passes.
class NoiseOp : public Op {
public:
  using Op::Op;
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<NoiseOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
  bool requiresRandomSeed() const final { return true; }
  popart::InIndex getSeedInIndex() const final { return 1; }
};

class NoiseOpx : public popart::popx::Opx {
public:
  NoiseOpx(Op *op, popart::popx::Devicex *devicex) : Opx(op, devicex) {
    verifyOp<NoiseOp>(op, noiseId);
  }
  void grow(poplar::program::Sequence &program) const final {
    poplar::Tensor x = getInTensor(0);
    poplar::Tensor seed = getInTensor(getOp<NoiseOp>().getSeedInIndex());
    poplar::Tensor noise =
        poprand::uniform(graph(), &seed, 0, x, x.elementType(), 0.0, 1.0,
                         program, debugContext("noise"));
    setOutTensor(0,
                 popops::add(graph(), x, noise, program, debugContext("sum")));
  }
};

popart::OpCreator<NoiseOp> noiseCreator(OpDefinitions({{noiseId, unary}}));
popart::popx::OpxCreator<NoiseOpx> noiseOpxCreator(noiseId);

// An operator that is made of others: a factory that adds them itself.
popart::OpCreator<CubeOp> ninthPower(
    OpDefinitions({{ninthPowerId, unary}}),
    [](const OpCreatorInfo &info, Graph &graph) -> Op * {
      popart::TensorId middle = info.getOutputIds()[0] + "/cube";
      graph.createConnectedOp<CubeOp>({{0, info.getInputIds()[0]}},
                                      {{0, middle}}, cubeId, info.settings);
      return graph.createConnectedOp<CubeOp>(
          {{0, middle}}, {{0, info.getOutputIds()[0]}}, cubeId, info.settings);
    });

// An operator that a pattern turns into another before it is lowered.
class SoftReluOp : public Op {
public:
  using Op::Op;
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<SoftReluOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
};

class SoftReluPattern : public popart::PreAliasPattern {
public:
  bool matches(Op *op) const final { return op->opid == softReluId; }
  std::vector<const popart::Tensor *> touches(Op *) const final { return {}; }
  bool apply(Op *op) const final {
    popart::Tensor *in = op->inTensor(0);
    popart::Tensor *out = op->outTensor(0);
    Op *softplus = makeReplacementOpInIr({"ai.onnx", "Softplus", 1}, op);
    op->disconnectAllInputs();
    op->disconnectAllOutputs();
    softplus->connectInTensor(0, in->id);
    softplus->connectOutTensor(0, out->id);
    softplus->setup();
    op->getGraph().eraseOp(op->id);
    return true;
  }
};

popart::OpCreator<SoftReluOp>
    softReluCreator(OpDefinitions({{softReluId, unary}}));
popart::popx::OpxCreator<CubeOpx>
    softReluOpxCreator(softReluId, "SoftRelu must become Softplus");
popart::PatternCreator<SoftReluPattern> softReluPattern("SoftRelu", true);

// One whose lowering contradicts its shapes.
class WrongOp : public Op {
public:
  using Op::Op;
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<WrongOp>(*this);
  }
  void setup() final { outInfo(0) = {"FLOAT", {1}}; }
};

class WrongOpx : public popart::popx::Opx {
public:
  using Opx::Opx;
  void grow(poplar::program::Sequence &) const final {
    setOutTensor(0, getInTensor(0));
  }
};

popart::OpCreator<WrongOp> wrongCreator(OpDefinitions({{wrongId, unary}}));
popart::popx::OpxCreator<WrongOpx> wrongOpxCreator(wrongId);

} // namespace
