// How a custom operator becomes a Poplar program: a class derived from Opx
// whose grow() adds it.
#pragma once

#include <popart/error.hpp>
#include <popart/op.hpp>
#include <popart/popx/devicex.hpp>
#include <popart/region.hpp>

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <set>
#include <string>
#include <vector>

namespace popart {
namespace popx {

enum class InputCreatorType {
  CanCreate = 0,
  CanUnwind,
  CanCreateOrUnwind,
  CanDelegate,
  CanDelegateOrUnwind,
  Deadend
};

class Opx {
public:
  Opx(Op *op, Devicex *devicex) : op_p(op), dv_p(devicex) {}
  Opx(const Opx &) = delete;
  Opx &operator=(const Opx &) = delete;
  virtual ~Opx();

  // Appends what the operation computes and sets its outputs.
  virtual void grow(poplar::program::Sequence &program) const;

  // Where inputs and outputs lie is the compiler's choice: derived classes may
  // define these, nothing calls them.
  virtual InputCreatorType getInputCreatorType(InIndex index) const;
  virtual poplar::Tensor createInput(InIndex index,
                                     const poplar::DebugNameAndId &dnai) const;
  virtual poplar::Tensor
  createInputTensor(InIndex index, const poplar::DebugNameAndId &dnai) const;
  virtual std::set<TensorId> mustExistBeforeCreate(InIndex index) const;
  virtual poplar::Tensor unwindTensorLayout(poplar::Tensor tensor, InIndex in,
                                            OutIndex out) const;
  virtual view::RegMap unwindRegion(InIndex in, OutIndex out) const;
  virtual bool createsEquiv(int index0, const Opx *opx1, int index1) const;
  virtual bool outputCreatedExternally(OutIndex index) const;

  // The graph of the operation's IPU; inputs and outputs are all there.
  poplar::Graph &graph() const;
  poplar::Graph &topLevelGraph() const; // of all IPUs
  poplar::Graph &srcGraph(InIndex) const { return graph(); }
  poplar::Graph &dstGraph(OutIndex) const { return graph(); }

  poplar::Tensor getInTensor(InIndex index) const;
  poplar::Tensor getOutTensor(OutIndex index) const;
  // Throws popart::error when the shape or type is not what setup() said.
  void setOutTensor(OutIndex index, const poplar::Tensor &tensor) const;

  template <typename OP> OP &getOp() const {
    OP *op = dynamic_cast<OP *>(op_p);
    if (op == nullptr) {
      throw error("Failed to cast to op {}", op_p->str());
    }
    return *op;
  }
  // Throws popart::error when the operation is none that this Opx is for.
  template <typename OP> void verifyOp(Op *op) const {
    if (dynamic_cast<OP *>(op) == nullptr) {
      throw error("Cannot create opx for {}: the class is another", op->str());
    }
  }
  template <typename OP>
  void verifyOp(Op *op, const OperatorIdentifier &opid) const {
    verifyOp<OP>(op, std::vector<OperatorIdentifier>{opid});
  }
  template <typename OP>
  void verifyOp(Op *op, const std::vector<OperatorIdentifier> &opids) const {
    verifyOp<OP>(op);
    for (const OperatorIdentifier &opid : opids) {
      if (op->opid == opid) {
        return;
      }
    }
    throw error("Cannot create opx for {}: the identifier is {}", op->str(),
                op->opid);
  }

  // A copy of a tensor, made by `program`.
  poplar::Tensor cloneNcopy(poplar::program::Sequence &program,
                            const poplar::Tensor &tensor,
                            const std::string &name = "") const;
  poplar::Tensor cloneNcopy(poplar::program::Sequence &program,
                            const TensorId &id) const;
  poplar::Tensor getConst(const poplar::Type &type,
                          const std::vector<std::size_t> &shape, double value,
                          const std::string &name) const;
  poplar::Tensor getScalarVariable(const poplar::Type &type,
                                   const std::string &name) const;
  // A view of this shape, repeated where NumPy's rules say so.
  poplar::Tensor broadcast(const std::vector<std::int64_t> &shape,
                           const poplar::Tensor &tensor) const;

  poplar::DebugContext
  debugContext(const std::string &name = "",
               poplar::SourceLocation location =
                   poplar::SourceLocation::Current()) const;
  poplar::DebugNameAndId getDebugNameAndId(const std::string &name = "") const;

  const TensorInfo &inInfo(InIndex index) const { return op_p->inInfo(index); }
  const TensorInfo &outInfo(OutIndex index) const;
  const Shape &inShape(InIndex index) const { return op_p->inShape(index); }
  const Shape &outShape(OutIndex index) const { return outInfo(index).shape(); }
  bool hasInput(InIndex index) const { return op_p->hasInput(index); }
  bool hasOutput(OutIndex index) const { return op_p->hasOutput(index); }
  const TensorId &inId(InIndex index) const { return op_p->inId(index); }
  const TensorId &outId(OutIndex index) const { return op_p->outId(index); }
  Tensor *inTensor(InIndex index) const { return op_p->inTensor(index); }
  Tensor *outTensor(OutIndex index) const { return op_p->outTensor(index); }
  Devicex *getDevicex() const { return dv_p; }
  VGraphId getVirtualGraphId() const;

protected:
  Op *op_p;
  Devicex *dv_p;

private:
  LoweringContext &context() const { return *dv_p->lowering().context_; }
};

} // namespace popx
} // namespace popart
