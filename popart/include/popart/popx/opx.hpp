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

#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace poplar {

// For messages of custom operators.
inline std::ostream &operator<<(std::ostream &out,
                                const DebugNameAndId &nameAndId) {
  return out << nameAndId.getPathName();
}

} // namespace poplar

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
  // Of several creators of a tensor the one with the greatest; not read here.
  double inputCreatorPriority{0.0};
  Op *op_p;

  Opx(Op *op, Devicex *devicex) : op_p(op), dv_p(devicex) {}
  Opx(const Opx &) = delete;
  Opx &operator=(const Opx &) = delete;
  virtual ~Opx();

  // Appends what the operation computes and sets its outputs.
  virtual void grow(poplar::program::Sequence &program) const;
  // To several programs, of which the first is as good as any here.
  virtual void grow(std::vector<poplar::program::Sequence> &programs) const;

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
  bool canUnwind(InIndex in, OutIndex out) const;

  // The graph of the operation's IPU; inputs and outputs are all there.
  poplar::Graph &graph() const;
  poplar::Graph &topLevelGraph() const; // of all IPUs
  poplar::Graph &srcGraph(InIndex) const { return graph(); }
  poplar::Graph &dstGraph(OutIndex) const { return graph(); }
  poplar::Graph &inGraph(InIndex) const { return graph(); }
  poplar::Graph &outGraph(OutIndex) const { return graph(); }

  // By their ids: the operation's own inputs and outputs, or any tensor that
  // has been made. insert() throws popart::error for ids that are no tensors,
  // for those that are there already, and when the shape (but for leading ones)
  // or the type is not what setup() said.
  const poplar::Tensor &get(TensorId id) const;
  void insert(TensorId id, const poplar::Tensor &tensor) const;
  poplar::Tensor getView(TensorId id) const { return get(id); }

  const poplar::Tensor &getInTensor(InIndex index) const;
  const poplar::Tensor &getOutTensor(OutIndex index) const;
  poplar::Tensor getInView(InIndex index) const { return getInTensor(index); }
  // As insert().
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
  // The domain and the type, in any version.
  template <typename OP>
  void verifyOp(Op *op, const OperatorIdentifier &opid) const {
    verifyOp<OP>(op);
    if (op->opid.domain != opid.domain || op->opid.type != opid.type) {
      throwWrongIdentifier(*op);
    }
  }
  // One of them.
  template <typename OP>
  void verifyOp(Op *op, const std::vector<OperatorIdentifier> &opids) const {
    verifyOp<OP>(op);
    for (const OperatorIdentifier &opid : opids) {
      if (op->opid == opid) {
        return;
      }
    }
    throwWrongIdentifier(*op);
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
  poplar::Tensor getZerosTensor(std::vector<std::size_t> shape,
                                poplar::Type type, std::string name) const;
  // A view of this shape, repeated where NumPy's rules say so.
  poplar::Tensor broadcast(const std::vector<std::int64_t> &shape,
                           const poplar::Tensor &tensor) const;
  poplar::Tensor broadcast(const std::vector<std::int64_t> &shape,
                           TensorId id) const {
    return broadcast(shape, get(id));
  }

  poplar::DebugContext
  debugContext(const std::string &name = "",
               poplar::SourceLocation location =
                   poplar::SourceLocation::Current()) const;
  poplar::DebugNameAndId
  getDebugNameAndId(const std::string &name = "",
                    poplar::SourceLocation location =
                        poplar::SourceLocation::Current()) const;

  const TensorInfo &inInfo(InIndex index) const { return op_p->inInfo(index); }
  const TensorInfo &outInfo(OutIndex index) const;
  const Shape &inShape(InIndex index) const { return op_p->inShape(index); }
  const Shape &outShape(OutIndex index) const { return outInfo(index).shape(); }
  std::vector<std::size_t> inShapeSzt(InIndex index) const {
    return inInfo(index).shape_szt();
  }
  std::vector<std::size_t> outShapeSzt(OutIndex index) const {
    return outInfo(index).shape_szt();
  }
  bool hasInput(InIndex index) const { return op_p->hasInput(index); }
  bool hasOutput(OutIndex index) const { return op_p->hasOutput(index); }
  const TensorId &inId(InIndex index) const { return op_p->inId(index); }
  const TensorId &outId(OutIndex index) const { return op_p->outId(index); }
  Tensor *inTensor(InIndex index) const { return op_p->inTensor(index); }
  Tensor *outTensor(OutIndex index) const { return op_p->outTensor(index); }
  Devicex *getDevicex() const { return dv_p; }
  VGraphId getVirtualGraphId() const;

protected:
  // What the operator's rule does, for classes of built-in operators.
  void growByRule(poplar::program::Sequence &program) const;

  Devicex *dv_p;

private:
  [[noreturn]] static void throwWrongIdentifier(const Op &op);

  // Of inputs that lie on other IPUs.
  mutable std::map<InIndex, poplar::Tensor> copies_;
  LoweringContext &context() const { return *dv_p->lowering().context_; }
};

} // namespace popx
} // namespace popart
