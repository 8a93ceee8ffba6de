// The registry of operators that shared objects bring. It is in this library
// and not in theirs, so that all of them and all sessions see one.
#include <popart/opmanager.hpp>

#include <classes/OpClasses.hpp>
#include <ops/Common.hpp>
#include <ops/OpRule.hpp>
#include <support/Error.hpp>

namespace popart {
namespace {

struct Entry {
  OpDefinition definition;
  bool isPublic = true;
  // One of them.
  OpManager::OpFactoryFunc factory = {};
  OpManager::ComplexOpFactoryFunc complexFactory = {};
};

std::map<OperatorIdentifier, Entry> &entries() {
  static std::map<OperatorIdentifier, Entry> all;
  return all;
}

const Entry &entryOf(const OperatorIdentifier &opid) {
  const OperatorIdentifier *found =
      OpManager::find(opid.domain, opid.type, opid.version);
  support::requireUser<error>(found != nullptr, "No class for {}.{}:{}",
                              opid.domain, opid.type, opid.version);
  return entries().at(*found);
}

std::unique_ptr<Op> make(const Entry &entry, const OpCreatorInfo &info) {
  std::unique_ptr<Op> op = entry.factory(info);
  support::requireUser<error>(op != nullptr, "[{}] its factory made nothing",
                              info.debugName());
  op->attributes.insert(info.attributes);
  return op;
}

} // namespace

bool OpCreatorInfo::hasInputTensor(int index) const {
  auto i = static_cast<std::size_t>(index);
  return i < inputIds_.size() && !inputIds_[i].empty();
}

Tensor *OpCreatorInfo::getInputTensor(int index) const {
  support::requireUser<error>(hasInputTensor(index), "[{}] has no input {}",
                              debugName(), index);
  return &settings.graph.get().getTensor(
      inputIds_[static_cast<std::size_t>(index)]);
}

std::string OpCreatorInfo::debugName() const {
  return settings.name + " (" + opid.domain + "." + opid.type + ")";
}

TensorData *OpCreatorInfo::getInputTensorData(int index) const {
  return getInputTensor(index)->tensorData();
}

const TensorInfo &OpCreatorInfo::getInputTensorInfo(int index) const {
  return getInputTensor(index)->info;
}

std::vector<double>
OpCreatorInfo::inputNumbers(int index, const std::set<DataType> &types) const {
  const Tensor &tensor = *getInputTensor(index);
  support::requireUser<error>(
      types.count(tensor.info.dataType()) > 0,
      "[{}] input {} ('{}') is {}, which is not read here", debugName(), index,
      tensor.id, tensor.info.data_type());
  support::requireUser<error>(tensor.type == TensorType::Const,
                              "[{}] input {} ('{}') is no constant",
                              debugName(), index, tensor.id);
  return numbersOf(tensor.info, tensor.data.bytes());
}

const std::vector<char> &
OpCreatorInfo::inputBytes(int index, std::size_t elementSize) const {
  const Tensor &tensor = *getInputTensor(index);
  auto elements = static_cast<std::size_t>(tensor.info.nelms());
  support::requireUser<error>(
      tensor.type == TensorType::Const &&
          tensor.data.size() == elements * elementSize,
      "[{}] input {} ('{}', {}) is not a constant with elements of {} bytes",
      debugName(), index, tensor.id, tensor.info.data_type(), elementSize);
  return tensor.data.bytes();
}

void OpManager::registerOp(const OperatorIdentifier &opid,
                           const OpDefinition &definition, bool isPublic,
                           OpFactoryFunc factory) {
  entries().try_emplace(opid,
                        Entry{definition, isPublic, std::move(factory), {}});
}

void OpManager::registerOp(const OperatorIdentifier &opid,
                           const OpDefinition &definition, bool isPublic,
                           ComplexOpFactoryFunc factory) {
  entries().try_emplace(opid,
                        Entry{definition, isPublic, {}, std::move(factory)});
}

const OperatorIdentifier *OpManager::find(const std::string &domain,
                                          const std::string &type, int opset) {
  // The last one before the first that is greater.
  auto after = entries().upper_bound({domain, type, opset});
  if (after == entries().begin()) {
    return nullptr;
  }
  const OperatorIdentifier &opid = std::prev(after)->first;
  return opid.domain == domain && opid.type == type ? &opid : nullptr;
}

const OpDefinition &OpManager::getDefinition(const OperatorIdentifier &opid) {
  return entryOf(opid).definition;
}

std::vector<OperatorIdentifier> OpManager::getSupportedOperations() {
  std::vector<OperatorIdentifier> opids;
  for (const auto &[opid, entry] : entries()) {
    if (entry.isPublic) {
      opids.push_back(opid);
    }
  }
  return opids;
}

std::unique_ptr<Op> OpManager::createOp(const OperatorIdentifier &opid,
                                        Graph &graph,
                                        const Op::Settings &settings,
                                        const Attributes &attributes) {
  Op::Settings placed = settings;
  placed.graph = graph;
  if (const OpRule *rule = findOpRule(opid)) {
    return makeOpOfClass({*rule, opid, attributes, placed});
  }
  const Entry &entry = entryOf(opid);
  OpCreatorInfo info(opid, placed, attributes, {}, {});
  support::requireUser<error>(bool(entry.factory),
                              "[{}] can only be made with its inputs",
                              info.debugName());
  return make(entry, info);
}

Op &OpManager::createOpInGraph(const OpCreatorInfo &info, Graph &graph) {
  const Entry &entry = entryOf(info.opid);
  if (entry.factory) {
    return graph.addOp(make(entry, info), info.getInputIds(),
                       info.getOutputIds());
  }
  Op *op = entry.complexFactory(info, graph);
  support::requireUser<error>(op != nullptr, "[{}] its factory made nothing",
                              info.debugName());
  for (const TensorId &id : info.getOutputIds()) {
    support::requireUser<error>(id.empty() || graph.hasTensor(id),
                                "[{}] its factory did not make output '{}'",
                                info.debugName(), id);
  }
  return *op;
}

} // namespace popart
