// Programs that decide what runs, and those that only say something.
#include <poplar/Program.hpp>

#include "MakeNode.hpp"

namespace poplar::program {

using internal::AbortNode;
using internal::PrintTensorNode;
using internal::programNode;
using internal::ProgramPtr;
using internal::SwitchNode;
using internal::TensorView;

namespace {

constexpr const char *switchName = "poplar::program::Switch";
constexpr const char *printName = "poplar::program::PrintTensor";

const TensorView noCondition{support::DataType::Bool, {0}, {}};

std::vector<std::pair<std::int32_t, ProgramPtr>>
caseNodes(const Switch::Cases &cases) {
  std::vector<std::pair<std::int32_t, ProgramPtr>> nodes;
  for (const auto &[value, body] : cases) {
    nodes.emplace_back(value, programNode(body));
  }
  return nodes;
}

} // namespace

Repeat::Repeat(unsigned count, const Program &body,
               const DebugContext &debugContext)
    : Program(makeNode(internal::RepeatNode{count, programNode(body)},
                       debugContext)) {}

Loop::Loop(const Program &body, const DebugContext &debugContext)
    : Program(makeNode(internal::RepeatNode{internal::RepeatNode::forever,
                                            programNode(body)},
                       debugContext)) {}

RepeatWhileTrue::RepeatWhileTrue(const Program &condition,
                                 const Tensor &predicate, const Program &body,
                                 const DebugContext &debugContext)
    : Program(makeNode(
          internal::WhileNode{
              programNode(condition),
              viewOf(predicate, "poplar::program::RepeatWhileTrue"),
              programNode(body), true},
          debugContext, predicate)) {}

RepeatWhileFalse::RepeatWhileFalse(const Program &condition,
                                   const Tensor &predicate, const Program &body,
                                   const DebugContext &debugContext)
    : Program(makeNode(
          internal::WhileNode{
              programNode(condition),
              viewOf(predicate, "poplar::program::RepeatWhileFalse"),
              programNode(body), false},
          debugContext, predicate)) {}

If::If(const Tensor &predicate, const Program &trueBody,
       const Program &falseBody, const DebugContext &debugContext)
    : Program(makeNode(
          internal::IfNode{viewOf(predicate, "poplar::program::If"),
                           programNode(trueBody), programNode(falseBody)},
          debugContext, predicate)) {}

Switch::Switch(const Tensor &control, const DebugContext &debugContext)
    : Switch(control, Cases(), Program(), debugContext) {}

Switch::Switch(const Tensor &control, const Program &defaultCase,
               const DebugContext &debugContext)
    : Switch(control, Cases(), defaultCase, debugContext) {}

Switch::Switch(const Tensor &control, const Cases &cases,
               const DebugContext &debugContext)
    : Switch(control, cases, Program(), debugContext) {}

Switch::Switch(const Tensor &control, const Cases &cases,
               const Program &defaultCase, const DebugContext &debugContext)
    : Program(makeNode(SwitchNode{viewOf(control, switchName), caseNodes(cases),
                                  programNode(defaultCase)},
                       debugContext, control)) {}

Switch Switch::switchWithBoundsChecking(const Tensor &control,
                                        const Cases &cases,
                                        const DebugContext &debugContext) {
  return Switch(control, cases,
                Abort(fmt::format("the control tensor of Switch '{}' holds a "
                                  "number that no case has",
                                  debugContext.getPathName())),
                debugContext);
}

Switch Switch::switchWithUnreachableDefault(const Tensor &control,
                                            const Cases &cases,
                                            const DebugContext &debugContext) {
  return Switch(control, cases, debugContext);
}

Switch &Switch::add(std::int32_t value, const Program &body) {
  ProgramPtr node = programNode(body);
  std::get<SwitchNode>(makeMutable(node_).op)
      .cases.emplace_back(value, std::move(node));
  return *this;
}

Call::Call(Function function, const DebugContext &debugContext)
    : Program(
          makeNode(internal::CallNode{internal::FunctionId(function.getId())},
                   debugContext, function)) {}

Block::Block(const Program &body, const DebugContext &debugContext)
    : Program(makeNode(internal::BlockNode{programNode(body)}, debugContext)) {}

PrintTensor::PrintTensor(const Tensor &tensor, const DebugContext &debugContext)
    : PrintTensor("", tensor, PrintTensorFmt(), debugContext) {}

PrintTensor::PrintTensor(const Tensor &tensor, const PrintTensorFmt &format,
                         const DebugContext &debugContext)
    : PrintTensor("", tensor, format, debugContext) {}

PrintTensor::PrintTensor(StringRef title, const Tensor &tensor,
                         const DebugContext &debugContext)
    : PrintTensor(title, tensor, PrintTensorFmt(), debugContext) {}

PrintTensor::PrintTensor(StringRef title, const Tensor &tensor,
                         const PrintTensorFmt &format,
                         const DebugContext &debugContext)
    : Program(makeNode(PrintTensorNode{title.cloneAsString(),
                                       viewOf(tensor, printName), format},
                       debugContext, tensor)) {}

Sync::Sync(SyncType type, const DebugContext &debugContext)
    : Program(makeNode(internal::SyncNode{type}, debugContext)) {}

Abort::Abort(const DebugContext &debugContext)
    : Abort(std::string(), debugContext) {}

Abort::Abort(const std::string &message, const DebugContext &debugContext)
    : Program(makeNode(AbortNode{message, noCondition}, debugContext)) {}

AbortOnCondition::AbortOnCondition(const Tensor &predicate,
                                   const DebugContext &debugContext)
    : AbortOnCondition(predicate, std::string(), debugContext) {}

AbortOnCondition::AbortOnCondition(const Tensor &predicate,
                                   const std::string &message,
                                   const DebugContext &debugContext)
    : Program(makeNode(
          AbortNode{message,
                    someViewOf(predicate, "poplar::program::AbortOnCondition")},
          debugContext, predicate)) {}

ErrorProgram::ErrorProgram(StringRef message, const Tensor &tensor,
                           const DebugContext &debugContext)
    : Program(makeNode(
          internal::ErrorNode{message.cloneAsString(),
                              viewOf(tensor, "poplar::program::ErrorProgram")},
          debugContext, tensor)) {}

} // namespace poplar::program
