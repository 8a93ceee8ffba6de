// What users' operators do besides the plain ones, written as they are: C++14
// and the headers that they include. Tensors by id, operators in place, classes
// derived from built-in ones, and losses.
#include <popart/alias/aliasmodel.hpp>
#include <popart/graphcoreoperators.hpp>
#include <popart/ir.hpp>
#include <popart/logging.hpp>
#include <popart/op.hpp>
#include <popart/op/elementwise.hpp>
#include <popart/op/gather.hpp>
#include <popart/op/identity.hpp>
#include <popart/op/loss.hpp>
#include <popart/opmanager.hpp>
#include <popart/opserialiser.hpp>
#include <popart/popx/devicex.hpp>
#include <popart/popx/op/gatherx.hpp>
#include <popart/popx/op/matmulx.hpp>
#include <popart/popx/opx.hpp>
#include <popart/popx/opxmanager.hpp>
#include <popart/region.hpp>
#include <popart/shapeinference.hpp>
#include <popart/util.hpp>

#include <popops/ElementWise.hpp>
#include <popops/Gather.hpp>
#include <popops/Rearrange.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <poputil/Util.hpp>

#include <limits>

using namespace popart;
using namespace popart::popx;
using namespace popops::expr;

namespace CustomOperators {
const popart::OperatorIdentifier CubeById = {"extensions", "CubeById", 1};
const popart::OperatorIdentifier Remap = {"extensions", "Remap", 1};
const popart::OperatorIdentifier RemapInplace = {"extensions", "RemapInplace",
                                                 1};
const popart::OperatorIdentifier TiedGather = {"extensions", "TiedGather", 1};
const popart::OperatorIdentifier SquareLoss = {"extensions", "SquareLoss", 1};
} // namespace CustomOperators
namespace CustomGradOperators {
const popart::OperatorIdentifier CubeByIdGrad = {"extensions", "CubeByIdGrad",
                                                 1};
const popart::OperatorIdentifier RemapGrad = {"extensions", "RemapGrad", 1};
const popart::OperatorIdentifier SquareLossGrad = {"extensions",
                                                   "SquareLossGrad", 1};
} // namespace CustomGradOperators

namespace {

// y = x^3, and as its "gradient" 3 g g y: what arrives in which order shows.
class CubeByIdGradOp : public Op {
public:
  CubeByIdGradOp(const Op &forward)
      : Op(CustomGradOperators::CubeByIdGrad, forward.getSettings()) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<CubeByIdGradOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(0); }
  const std::vector<GradInOutMapper> &gradInputInfo() const final {
    static const std::vector<GradInOutMapper> inInfo = {
        {0, 0, GradOpInType::GradOut}, {1, 0, GradOpInType::Out}};
    return inInfo;
  }
  const std::map<int, int> &gradOutToNonGradIn() const final {
    static const std::map<int, int> outInfo = {{0, 0}};
    return outInfo;
  }
  bool requiresRandomSeed() const override { return false; }
  float getSubgraphValue() const final { return getLowSubgraphValue(); }
};

class CubeByIdOp : public Op {
public:
  CubeByIdOp(const OperatorIdentifier &opid, const Op::Settings &settings)
      : Op(opid, settings) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<CubeByIdOp>(*this);
  }
  std::vector<std::unique_ptr<Op>> getGradOps() final {
    std::vector<std::unique_ptr<Op>> ops;
    ops.emplace_back(new CubeByIdGradOp(*this));
    return ops;
  }
  void setup() final { outInfo(0) = inInfo(0); }
  float getSubgraphValue() const final { return getHighSubgraphValue(); }
};

class CubeByIdOpx : public Opx {
public:
  CubeByIdOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<CubeByIdOp>(op, CustomOperators::CubeById);
  }
  void grow(poplar::program::Sequence &prog) const final {
    logging::opx::debug("{} of {} grows: {}", debugContext().getPathName(),
                        inShape(0), getDebugNameAndId("cube"));
    insert(outId(0), popops::map(graph(), Mul(Mul(_1, _1), _1), {get(inId(0))},
                                 prog, debugContext()));
  }
};

class CubeByIdGradOpx : public Opx {
public:
  CubeByIdGradOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<CubeByIdGradOp>(op, CustomGradOperators::CubeByIdGrad);
  }
  void grow(poplar::program::Sequence &prog) const final {
    insert(outId(0),
           popops::map(graph(), Const(3) * _1 * _1 * _2,
                       {get(inId(0)), get(inId(1))}, prog, debugContext()));
  }
};

OpDefinition::DataTypes T = {DataType::FLOAT16, DataType::FLOAT};
OpDefinition cubeDef({OpDefinition::Inputs({{"input", T}}),
                      OpDefinition::Outputs({{"output", T}}),
                      OpDefinition::Attributes()});
OpCreator<CubeByIdOp> cubeCreator(
    OpDefinitions({{CustomOperators::CubeById, cubeDef}}),
    [](const OpCreatorInfo &info) {
      return std::make_unique<CubeByIdOp>(info.opid, info.settings);
    },
    true);
OpxCreator<CubeByIdOpx> cubeOpxCreator(CustomOperators::CubeById);
OpxCreator<CubeByIdGradOpx>
    cubeGradOpxCreator(CustomGradOperators::CubeByIdGrad);

// The input, laid out anew.
class RemapBaseOp : public Op {
public:
  RemapBaseOp(const OperatorIdentifier &opid, const Op::Settings &settings,
              int grainSize)
      : Op(opid, settings), grainSize_(grainSize) {}

  std::unique_ptr<Op> clone() const override {
    return std::make_unique<RemapBaseOp>(*this);
  }
  void setup() final { outInfo(0) = {inInfo(0).dataType(), inShape(0)}; }
  float getSubgraphValue() const final { return getLowSubgraphValue(); }
  bool isIdentity() const { return canBeReplacedByIdentity(); }
  bool canShard() const override { return true; }
  ReplicatedTensorShardingIndices
  getReplicatedTensorShardingIndices() const override {
    return {{{0}, {0}}};
  }
  void appendOutlineAttributes(OpSerialiserBase &os) const override {
    Op::appendOutlineAttributes(os);
    os.appendAttribute("grain_size", grainSize_);
  }
  void growAliasModel(AliasModel &m) const override {
    m.insertUnaryModifier0(*this);
  }
  poprithms::memory::inplace::Proposal
  mapInplaceProposal(const AliasModel &aliasModel,
                     OperatorIdentifier id) const override {
    return mapInplaceProposalGate0(aliasModel, id);
  }
  int grainSize() const { return grainSize_; }

private:
  int grainSize_;
};

class RemapInplaceOp : public RemapBaseOp {
public:
  RemapInplaceOp(const RemapBaseOp &op)
      : RemapBaseOp(CustomOperators::RemapInplace, op.getSettings(),
                    op.grainSize()) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<RemapInplaceOp>(*this);
  }
  view::Regions modifies(InIndex index) const override { return uses(index); }
  view::Regions aliases(InIndex in, OutIndex) const override {
    return uses(in);
  }
};

class RemapGradOp : public RemapBaseOp {
public:
  RemapGradOp(const RemapBaseOp &op)
      : RemapBaseOp(CustomGradOperators::RemapGrad, op.getSettings(),
                    op.grainSize()) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<RemapGradOp>(*this);
  }
  const std::vector<GradInOutMapper> &gradInputInfo() const final {
    static const std::vector<GradInOutMapper> inInfo = {
        {0, 0, GradOpInType::GradOut}};
    return inInfo;
  }
  const std::map<int, int> &gradOutToNonGradIn() const final {
    static const std::map<int, int> outInfo = {{0, 0}};
    return outInfo;
  }
};

class RemapOp : public RemapBaseOp {
public:
  using RemapBaseOp::RemapBaseOp;
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<RemapOp>(*this);
  }
  std::vector<std::unique_ptr<Op>> getGradOps() override {
    std::vector<std::unique_ptr<Op>> ops;
    ops.emplace_back(new RemapGradOp(*this));
    return ops;
  }
  std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const final {
    return {{CustomOperators::RemapInplace, 10}};
  }
  std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &id) const override {
    if (id == CustomOperators::RemapInplace) {
      return std::make_unique<RemapInplaceOp>(*this);
    }
    return Op::getInplaceVariant(id);
  }
};

class RemapOpx : public Opx {
public:
  RemapOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<RemapBaseOp>(op, {CustomOperators::Remap,
                               CustomOperators::RemapInplace,
                               CustomGradOperators::RemapGrad});
    inputCreatorPriority = std::numeric_limits<double>::max();
  }
  InputCreatorType getInputCreatorType(int) const final {
    return InputCreatorType::CanUnwind;
  }
  poplar::Tensor unwindTensorLayout(poplar::Tensor tensor, InIndex,
                                    OutIndex) const final {
    return tensor;
  }
  view::RegMap unwindRegion(InIndex, OutIndex) const final {
    return [](const view::Region &r) { return view::Regions(1, r); };
  }
  void grow(poplar::program::Sequence &prog) const final {
    const poplar::Tensor &in = getInTensor(0);
    auto groupings = poputil::detectDimGroupings(graph(), in);
    if (groupings.empty() && in.numElements() > 1) {
      throw poplar::poplar_error("an input without groups");
    }
    auto grain = getOp<RemapBaseOp>().grainSize();
    poplar::Tensor regrouped = popops::rearrange::regroupIfBeneficial(
        graph(), in, static_cast<std::size_t>(grain), prog,
        debugContext("regroup"));
    poplar::Tensor out = graph().clone(regrouped, getDebugNameAndId("remap"));
    prog.add(poplar::program::Copy(regrouped, out));
    setOutTensor(0, out);
  }
};

OpDefinition remapDef({OpDefinition::Inputs({{"input", T}}),
                       OpDefinition::Outputs({{"output", T}}),
                       OpDefinition::Attributes({{"grain_size", {"*"}}})});
OpCreator<RemapOp> remapCreator(
    OpDefinitions({{CustomOperators::Remap, remapDef}}),
    [](const OpCreatorInfo &info) {
      std::int64_t grain =
          info.attributes.getAttribute<Attributes::Int>("grain_size", 8);
      return std::unique_ptr<RemapOp>(
          new RemapOp(info.opid, info.settings, static_cast<int>(grain)));
    },
    true);
OpxCreator<RemapOpx> remapOpxCreator({CustomOperators::Remap,
                                      CustomOperators::RemapInplace,
                                      CustomGradOperators::RemapGrad});
RegisterShapeInferenceFunction
    remapShape(CustomOperators::Remap, [](auto &ctx) {
      ctx.outInfo(0) = {ctx.inType(0), ctx.inShape(0)};
    });

// A lookup with a lowering of its own, and the shape and gradient of the
// built-in one.
class TiedGatherOp : public GatherOp {
public:
  TiedGatherOp(std::int64_t axis, const Op::Settings &settings)
      : GatherOp(CustomOperators::TiedGather, axis, settings) {}
  std::unique_ptr<Op> clone() const override {
    return std::make_unique<TiedGatherOp>(*this);
  }
};

class TiedGatherOpx : public Opx {
public:
  TiedGatherOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<TiedGatherOp>(op, CustomOperators::TiedGather);
  }
  void grow(poplar::program::Sequence &prog) const final {
    const auto indicesShape = inShape(TiedGatherOp::indicesInIndex());
    auto op = getOp<TiedGatherOp>();
    if (op.getAxis() != 0) {
      throw error("{} looks up along axis {}", op.str(), op.getAxis());
    }
    poplar::Tensor indices =
        getInTensor(TiedGatherOp::indicesInIndex()).flatten();
    poplar::Tensor rows =
        popops::gather(graph(), getInTensor(TiedGatherOp::dataInIndex()),
                       indices.reinterpret(poplar::UNSIGNED_INT), 0, prog, {},
                       debugContext("rows"));
    setOutTensor(TiedGatherOp::outIndex(),
                 rows.reshape(outShapeSzt(TiedGatherOp::outIndex())));
  }
};

OpCreator<TiedGatherOp> tiedGatherCreator(
    {{CustomOperators::TiedGather, {}}}, [](const OpCreatorInfo &info) {
      return std::make_unique<TiedGatherOp>(
          info.attributes.getAttribute<Attributes::Int>("axis", 0),
          info.settings);
    });
OpxCreator<TiedGatherOpx> tiedGatherOpxCreator(CustomOperators::TiedGather);

// The sum or mean of squares.
class SquareLossGradOp : public Op {
public:
  SquareLossGradOp(const LossOp &forward)
      : Op(CustomGradOperators::SquareLossGrad, forward.getSettings()),
        reduction_(forward.getReductionType()) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<SquareLossGradOp>(*this);
  }
  void setup() final { outInfo(0) = inInfo(1); }
  const std::vector<GradInOutMapper> &gradInputInfo() const final {
    static const std::vector<GradInOutMapper> inInfo = {
        {0, 0, GradOpInType::GradOut}, {1, 0, GradOpInType::In}};
    return inInfo;
  }
  const std::map<int, int> &gradOutToNonGradIn() const final {
    static const std::map<int, int> outInfo = {{0, 0}};
    return outInfo;
  }
  float scale() const {
    return reduction_ == ReductionType::Mean
               ? 1.0f / static_cast<float>(inInfo(1).nelms())
               : 1.0f;
  }

private:
  ReductionType reduction_;
};

class SquareLossOp : public LossOp {
public:
  SquareLossOp(const OperatorIdentifier &opid, const ReductionType reduction,
               const Op::Settings &settings)
      : LossOp(opid, settings, reduction) {}
  std::unique_ptr<Op> clone() const final {
    return std::make_unique<SquareLossOp>(*this);
  }
  void setup() final { outInfo(0) = {inInfo(0).dataType(), {}}; }
  std::vector<std::unique_ptr<Op>> getGradOps() final {
    std::vector<std::unique_ptr<Op>> ops;
    ops.emplace_back(new SquareLossGradOp(*this));
    return ops;
  }
  float getSubgraphValue() const final { return getLowSubgraphValue(); }
};

class SquareLossOpx : public Opx {
public:
  SquareLossOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<SquareLossOp>(op, CustomOperators::SquareLoss);
  }
  void grow(poplar::program::Sequence &prog) const final {
    const auto &op = getOp<SquareLossOp>();
    poplar::Tensor sum =
        popops::reduce(graph(), getInTensor(0).flatten(), {0},
                       popops::ReduceParams(popops::Operation::SQUARE_ADD),
                       prog, debugContext("sum"));
    if (op.getReductionType() == ReductionType::Mean) {
      popops::mulInPlace(graph(), sum,
                         1.0f / static_cast<float>(inInfo(0).nelms()), prog,
                         debugContext("mean"));
    }
    setOutTensor(0, sum);
  }
};

class SquareLossGradOpx : public Opx {
public:
  SquareLossGradOpx(Op *op, Devicex *devicex) : Opx(op, devicex) {
    verifyOp<SquareLossGradOp>(op, CustomGradOperators::SquareLossGrad);
  }
  void grow(poplar::program::Sequence &prog) const final {
    float scale = getOp<SquareLossGradOp>().scale();
    poplar::Tensor gradient = broadcast(inShape(1), getInTensor(0));
    setOutTensor(0,
                 popops::map(graph(), Const(2.0f * scale) * _1 * _2,
                             {gradient, getInTensor(1)}, prog, debugContext()));
  }
};

OpCreator<SquareLossOp> squareLossCreator(
    OpDefinitions({{CustomOperators::SquareLoss, {}}}),
    [](const OpCreatorInfo &info) {
      std::string name =
          info.attributes.getAttribute<Attributes::String>("reduction", "Mean");
      return std::make_unique<SquareLossOp>(
          info.opid, LossOp::reductionTypeFromString(name), info.settings);
    },
    true);
OpxCreator<SquareLossOpx> squareLossOpxCreator(CustomOperators::SquareLoss);
OpxCreator<SquareLossGradOpx>
    squareLossGradOpxCreator(CustomGradOperators::SquareLossGrad);

} // namespace
