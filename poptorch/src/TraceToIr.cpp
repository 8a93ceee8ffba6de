#include "TraceToIr.hpp"

#include "AtenTable.hpp"
#include "CallLowering.hpp"
#include "Dependences.hpp"
#include "Error.hpp"
#include "OwnOperations.hpp"
#include "PipelineStages.hpp"

#include <popart/ir.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace poptorch {
namespace {

using popart::TensorId;

// By the value of poptorch.OverlapMode; none where transfers do not overlap.
std::optional<popart::ExchangeStrategy>
exchangeStrategy(const std::string &mode) {
  if (mode == "overlap_accumulation_loop") {
    return popart::ExchangeStrategy::OverlapInnerLoop;
  }
  if (mode == "overlap_device_iteration_loop") {
    return popart::ExchangeStrategy::OverlapLoops;
  }
  return std::nullopt;
}

class Translator {
public:
  Translator(const TraceRecord &record, const TranslationOptions &options,
             popart::Graph &graph)
      : record_(record), options_(options), graph_(graph), dependences_(record),
        ids_(record.tensors.size()) {}

  Translation run() {
    if (options_.isTraining) {
      loss_ = findLoss(record_, dependences_);
    }
    findNeeded();
    requireSupported();
    place();
    checkAvailableMemory();
    addLeaves();
    for (CallIndex i : neededCalls_) {
      addCall(i);
    }
    finish();
    result_.forwardStages = closeGaps(graph_);
    return std::move(result_);
  }

private:
  const TracedTensor &tensor(TensorNumber number) const {
    return record_.tensors.at(static_cast<std::size_t>(number));
  }
  TensorId &id(TensorNumber number) {
    return ids_.at(static_cast<std::size_t>(number));
  }
  bool isNeeded(TensorNumber number) const {
    return neededTensors_.count(number) > 0;
  }

  void findNeeded() {
    auto need = [this](TensorNumber number) {
      dependences_.collect(number, neededTensors_, neededCalls_);
    };
    std::for_each(record_.outputs.begin(), record_.outputs.end(), need);
    for (const auto &[target, value] : record_.writtenBack) {
      need(target);
      need(value);
    }
    for (CallIndex i = 0; i < record_.calls.size(); ++i) {
      const AtenRow *row = findAtenRow(record_.calls[i].op);
      bool isRoot = (row && row->hasEffect) ||
                    (options_.isTraining && row && row->isLoss);
      if (isRoot) {
        need(record_.calls[i].results.front());
      }
    }
  }

  void requireSupported() const {
    std::vector<std::string> missing;
    std::set<std::string> seen;
    auto require = [&](const TracedCall &call) {
      if (!findAtenRow(call.op) && seen.insert(call.op).second) {
        missing.push_back(call.op + calledIn(call));
      }
    };
    for (CallIndex i : neededCalls_) {
      require(record_.calls[i]);
    }
    for (const TracedBody &body : record_.bodies) {
      std::for_each(body.calls.begin(), body.calls.end(), require);
    }
    if (!missing.empty()) {
      throw Error(fmt::format(
          "Unsupported ops found in compiled model: [{}]. They are not "
          "supported yet: see the list of operators in the documentation.",
          fmt::join(missing, ", ")));
    }
  }

  void place() {
    std::int64_t last = 0;
    for (CallIndex i : neededCalls_) {
      const Placement &placement = record_.calls[i].placement;
      last = std::max(last, placement.ipu);
      result_.phases =
          std::max(result_.phases,
                   placement.phase * options_.phaseStride.value_or(0) + 1);
    }
    result_.ipuCount = last + 1;
    stages_ = pipelineStages(record_, neededCalls_);
    if (options_.isPipelined && result_.ipuCount > 1) {
      requireForwardFlow(record_, neededCalls_, stages_);
    }
  }

  void checkAvailableMemory() const {
    for (const auto &[ipu, proportion] : options_.availableMemory) {
      if (ipu >= result_.ipuCount) {
        throw Error(fmt::format(
            "Options.setAvailableMemoryProportion names IPU{}, which the model "
            "does not use: it runs on {} IPU(s), the last of which is IPU{}",
            ipu, result_.ipuCount, result_.ipuCount - 1));
      }
    }
  }

  popart::Op::Settings settings(const TracedCall &call) const {
    popart::Op::Settings settings;
    settings.name = call.scope;
    settings.extraOutlineAttributes = call.outline;
    if (result_.ipuCount > 1) {
      settings.vgraphId = call.placement.ipu;
      if (options_.isPipelined) {
        settings.pipelineStage = stages_.number.at(call.placement.stage);
      }
    }
    if (options_.phaseStride) {
      settings.executionPhase = call.placement.phase * *options_.phaseStride;
    }
    return settings;
  }

  // Where an operation goes that has no neighbours.
  popart::Op::Settings firstPlace() const {
    return neededCalls_.empty()
               ? popart::Op::Settings()
               : settings(record_.calls[*neededCalls_.begin()]);
  }

  CallOptions callOptions(const TracedCall &call) const {
    auto memory = options_.availableMemory.find(call.placement.ipu);
    CallOptions options{options_.isTraining};
    options.readTensors = &neededTensors_;
    if (memory != options_.availableMemory.end()) {
      options.availableMemory = static_cast<float>(memory->second);
    }
    return options;
  }

  void addLeaves() {
    for (const auto &[name, number] : record_.inputs) {
      bool isUsed = isNeeded(number);
      if (isUsed) {
        id(number) = graph_.addStream(name, tensor(number).info);
      }
      result_.inputs.push_back(isUsed ? id(number) : TensorId());
    }
    for (const TracedState &state : record_.state) {
      if (isNeeded(state.number)) {
        id(state.number) = graph_.addVariable(
            state.name, tensor(state.number).info, state.data);
        groupReplicas(state);
        result_.state.push_back(state.name);
      }
    }
    for (const auto &[number, data] : record_.constants) {
      if (isNeeded(number)) {
        id(number) = graph_.addConstant(fmt::format("captured_{}", number),
                                        tensor(number).info, data.data());
      }
    }
  }

  // A value for each group, of which `state` has the rows.
  void groupReplicas(const TracedState &state) {
    if (!state.grouping) {
      return;
    }
    popart::Tensor &variable = graph_.getTensor(state.name);
    auto type = static_cast<popart::CommGroupType>(state.grouping->type);
    variable.variableSettings =
        popart::VariableSettings(popart::CommGroup(type, state.grouping->size),
                                 static_cast<popart::VariableRetrievalMode>(
                                     state.grouping->retrievalMode));
    auto groups = std::int64_t{
        variable.variableSettings.getGroupCount(options_.replicas)};
    if (state.rows != groups) {
      throw Error(fmt::format(
          "{} has {} groups of replicas; the first dimension of its tensor "
          "must be as large, not {}",
          state.name, groups, state.rows));
    }
    const char *bytes = static_cast<const char *>(state.data);
    variable.data =
        std::vector<char>(bytes, bytes + groups * variable.info.nbytes());
    result_.grouped.insert(state.name);
  }

  void addCall(CallIndex index) {
    const TracedCall &call = record_.calls[index];
    const AtenRow &row = *findAtenRow(call.op);
    auto arguments = tensorArguments(call);
    detachFrozenState(call, arguments);
    CallLowering lowering(graph_, record_, call, ids_, settings(call),
                          row.popart, callOptions(call));
    row.lower(lowering);
    noteOverlap(lowering);
    if (index == loss_) {
      setLoss(lowering, call.results.front());
    } else {
      stopGradients(call, arguments);
    }
  }

  // set_overlap_for_input(x, mode), set_overlap_for_output(x, mode)
  void noteOverlap(CallLowering &lowering) {
    const TracedCall &call = lowering.call();
    bool isInput = call.op == "poptorch::set_overlap_for_input";
    if (!isInput && call.op != "poptorch::set_overlap_for_output") {
      return;
    }
    auto strategy = exchangeStrategy(lowering.string(1));
    if (strategy && isInput) {
      graph_.getIr().inputSettings[lowering.tensor(0)] =
          popart::InputSettings(popart::TileSet::IO, *strategy);
    } else if (strategy) {
      overlaps_[call.results.front()] = *strategy;
    }
  }

  // State that is not trained: a parameter without requires_grad, a buffer.
  void detachFrozenState(const TracedCall &call,
                         const std::vector<TensorNumber> &arguments) {
    for (TensorNumber number : arguments) {
      const TensorId &source = id(number);
      if (options_.isTraining && !tensor(number).requiresGrad &&
          graph_.getTensor(source).type == popart::TensorType::Variable) {
        variables_[number] = source;
        id(number) = detach(source, call);
      }
    }
  }

  // no_grad(): the result has no gradient although an argument has.
  void stopGradients(const TracedCall &call,
                     const std::vector<TensorNumber> &arguments) {
    bool hasGradient =
        std::any_of(arguments.begin(), arguments.end(),
                    [this](TensorNumber n) { return tensor(n).requiresGrad; });
    if (!options_.isTraining || !hasGradient || call.op == "aten::detach") {
      return;
    }
    for (TensorNumber number : call.results) {
      if (number < 0 || tensor(number).requiresGrad || id(number).empty()) {
        continue;
      }
      auto type = tensor(number).info.dataType();
      if (type == popart::DataType::FLOAT ||
          type == popart::DataType::FLOAT16) {
        id(number) = detach(id(number), call);
      }
    }
  }

  TensorId detach(const TensorId &source, const TracedCall &call) {
    return graph_.addOp({"ai.graphcore", "Detach"}, {source}, 1, {},
                        settings(call))[0];
  }

  // Backprop starts with ones, so a loss that is not reduced is summed.
  void setLoss(CallLowering &lowering, TensorNumber number) {
    result_.loss = id(number);
    if (!lowering.shape(result_.loss).empty()) {
      result_.loss = lowering.addGraphcore(
          "IdentityLoss", {result_.loss},
          popart::Attributes().set("reduction", popart::Attributes::Int{0}));
    }
  }

  void finish() {
    for (TensorNumber number : record_.outputs) {
      result_.outputs.push_back(asOutput(number));
      if (auto found = overlaps_.find(number); found != overlaps_.end()) {
        result_.overlappedOutputs[result_.outputs.back()] = found->second;
      }
    }
    std::vector<std::pair<TensorId, TensorId>> copies;
    for (const auto &[target, value] : record_.writtenBack) {
      auto input = std::find_if(
          record_.inputs.begin(), record_.inputs.end(),
          [target = target](const auto &i) { return i.second == target; });
      if (input != record_.inputs.end()) {
        result_.writtenInputs.emplace_back(input - record_.inputs.begin(),
                                           asOutput(value));
      } else {
        auto found = variables_.find(target);
        copies.emplace_back(
            found == variables_.end() ? id(target) : found->second, id(value));
      }
    }
    copyToVariables(graph_, std::move(copies), firstPlace());
  }

  // Anchors are results of operations.
  TensorId asOutput(TensorNumber number) {
    const TensorId &source = id(number);
    if (source.empty()) {
      throw Error("An output is a result that its operator does not give on "
                  "the IPU, such as the indices of a pooling.");
    }
    if (graph_.getTensor(source).producer) {
      return source;
    }
    return graph_.addOp({"ai.onnx", "Identity"}, {source}, 1, {},
                        settingsBeside(graph_, {source}, firstPlace()))[0];
  }

  const TraceRecord &record_;
  const TranslationOptions &options_;
  popart::Graph &graph_;
  Dependences dependences_;
  std::vector<TensorId> ids_; // by tensor number
  std::set<TensorNumber> neededTensors_;
  std::set<CallIndex> neededCalls_;
  PipelineStages stages_;
  std::map<TensorNumber, TensorId> variables_; // those used through a Detach
  std::map<TensorNumber, popart::ExchangeStrategy> overlaps_; // of outputs
  CallIndex loss_ = static_cast<CallIndex>(-1);
  Translation result_;
};

} // namespace

Translation translate(const TraceRecord &record,
                      const TranslationOptions &options, popart::Graph &graph) {
  return Translator(record, options, graph).run();
}

} // namespace poptorch
