// Rules call functions; custom operators override methods. This is where the
// one becomes the other.
#include <ops/Custom.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <lowering/LoweringContext.hpp>
#include <ops/Common.hpp>
#include <popart/popx/opxmanager.hpp>

#include <poputil/internal/Emit.hpp>

#include <algorithm>
#include <typeinfo>
#include <utility>

namespace popart {

class CustomOpAccess {
public:
  // What setup() assigned to outputs that do not exist yet.
  static std::vector<TensorInfo> takeInfos(Op &op) {
    op.pendingInfos_.clear();
    op.setup();
    return std::move(op.pendingInfos_);
  }
};

namespace {

// Rules see operations as constant; the methods of the users' classes are not
// const, and the operations they belong to never are.
Op &mutableOp(const Op &op) {
  return const_cast<Op &>(op);
}

std::vector<TensorInfo> infer(const Op &op) {
  std::vector<TensorInfo> infos = CustomOpAccess::takeInfos(mutableOp(op));
  for (std::size_t i = 0; i < infos.size(); ++i) {
    requireOp(op, infos[i].dataType() != DataType::UNDEFINED,
              "setup() did not assign outInfo({})", i);
  }
  return infos;
}

TensorId sourceOf(const GradientBuilder &builder, const Op &op,
                  const GradInOutMapper &mapper) {
  switch (mapper.type) {
  case GradOpInType::In:
    return op.hasInput(mapper.iNonGrad) ? op.inId(mapper.iNonGrad) : "";
  case GradOpInType::Out:
    return op.outId(mapper.iNonGrad);
  case GradOpInType::GradOut:
    return builder.outputGradient(mapper.iNonGrad);
  }
  return {};
}

// The gradient operator's inputs; none when one that it needs is missing.
std::vector<TensorId> gradInputs(const GradientBuilder &builder, const Op &op,
                                 const Op &gradOp) {
  std::vector<TensorId> inputs;
  std::set<InIndex> optional = gradOp.optionalInputs();
  for (const GradInOutMapper &mapper : gradOp.gradInputInfo()) {
    TensorId id = sourceOf(builder, op, mapper);
    if (id.empty() && optional.count(mapper.iGrad) == 0) {
      return {};
    }
    auto index = static_cast<std::size_t>(mapper.iGrad);
    inputs.resize(std::max(inputs.size(), index + 1));
    inputs[index] = id;
  }
  return inputs;
}

// What Op::getGradOps() returns for a class that is derived from a built-in
// operator's: it has the gradient of that one's rule.
bool standsForRule(const Op &gradOp) {
  return typeid(gradOp) == typeid(Op) && gradOp.builtInRule() != nullptr;
}

void differentiate(GradientBuilder &builder, const Op &op) {
  for (std::unique_ptr<Op> &gradOp : mutableOp(op).getGradOps()) {
    if (standsForRule(*gradOp)) {
      op.builtInRule()->differentiate(builder, op);
      continue;
    }
    std::map<int, int> results = gradOp->gradOutToNonGradIn();
    bool isWanted =
        std::any_of(results.begin(), results.end(), [&](const auto &entry) {
          return builder.isWanted(entry.second);
        });
    std::vector<TensorId> inputs = gradInputs(builder, op, *gradOp);
    if (!isWanted || inputs.empty()) {
      continue;
    }
    std::vector<TensorId> outputs = builder.addOp(std::move(gradOp), inputs);
    for (const auto &[output, input] : results) {
      builder.setGradient(input, outputs.at(static_cast<std::size_t>(output)));
    }
  }
}

bool isVersionOfVariable(const Graph &graph, const TensorId &id) {
  const Tensor &tensor = graph.getTensor(id);
  if (!tensor.hasProducer()) {
    return tensor.type == TensorType::Variable;
  }
  const Op &producer = *tensor.producer;
  InIndex in = producer.modifiedInput(producer.outIndex(&tensor));
  return in >= 0 && isVersionOfVariable(graph, producer.inId(in));
}

// A variable that the class says it modifies, and that this output aliases.
InIndex modifiedInput(const Op &op, OutIndex output) {
  for (const auto &[in, id] : op.input->tensorIdMap()) {
    if (op.modifiesIndex(in) && op.doesAlias(in, output) &&
        isVersionOfVariable(op.getGraph(), id)) {
      return in;
    }
  }
  return -1;
}

void lower(LoweringContext &context, const Op &op) {
  // Users call the libraries as they are, without a word about their vertices.
  for (const char *library : {"popops", "poplin", "popnn", "poprand"}) {
    poputil::internal::addLibraryCodelets(context.graph(), library);
  }
  popx::Devicex devicex(context, op.getIr());
  popx::OpxManager::createOpx(&mutableOp(op), &devicex)
      ->grow(context.program());
}

} // namespace

const OpRule &customOpRule() {
  static const OpRule rule{.domain = "",
                           .type = "",
                           .infer = infer,
                           .differentiate = differentiate,
                           .lower = lower,
                           .modifiedInput = modifiedInput};
  return rule;
}

} // namespace popart
