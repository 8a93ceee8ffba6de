#include <ops/Composer.hpp>

#include <lowering/FoldConstants.hpp>
#include <ops/Common.hpp>
#include <ops/OpRule.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <numeric>

namespace popart {

bool Composer::isWanted(OutIndex i) const {
  auto index = static_cast<std::size_t>(i);
  return index < op_.outputs.size() && !op_.outputs[index].empty();
}

const TensorInfo &Composer::info(const TensorId &id) const {
  return graph_.getTensor(id).info;
}

Composer::Ids Composer::addAll(const OperatorIdentifier &opid,
                               const Ids &inputs, const Ids &outputs,
                               const Attributes &attributes) {
  Op &op = graph_.addOp(opid, inputs, outputs, attributes, op_.settings);
  Ids results = op.outputs;
  foldSmallConstant(op);
  return results;
}

TensorId Composer::add(const std::string &type, const Ids &inputs,
                       const Attributes &attributes, int version) {
  return addAll({"ai.onnx", type, version}, inputs, {}, attributes)[0];
}

Composer::Ids Composer::addSeveral(const OperatorIdentifier &opid,
                                   const Ids &inputs, std::size_t count,
                                   const Attributes &attributes) {
  return addAll(opid, inputs, Ids(count), attributes);
}

TensorId Composer::addFormula(const std::string &value,
                              const std::vector<std::string> &gradients,
                              const Ids &inputs, bool isPredicate) {
  std::string joined;
  for (const std::string &gradient : gradients) {
    joined += (&gradient == gradients.data() ? "" : ";") + gradient;
  }
  return addAll({"aspen", "GivenFormula"}, inputs, {},
                Attributes()
                    .set("value", value)
                    .set("gradients", joined)
                    .set("isPredicate", Attributes::Int{isPredicate}))[0];
}

TensorId Composer::reshape(const TensorId &id, const Shape &wanted) {
  return shape(id) == wanted ? id
                             : addAll({"aspen", "Reshape"}, {id}, {},
                                      Attributes().set("shape", wanted))[0];
}

TensorId Composer::expand(const TensorId &id, const Shape &wanted) {
  if (shape(id) == wanted) {
    return id;
  }
  std::vector<double> numbers(wanted.begin(), wanted.end());
  auto rank = static_cast<std::int64_t>(wanted.size());
  return add("Expand",
             {id, constant(numbers, TensorInfo(DataType::INT32, {rank}))}, {},
             8);
}

TensorId Composer::transpose(const TensorId &id,
                             const Attributes::Ints &order) {
  Attributes::Ints same(order.size());
  std::iota(same.begin(), same.end(), 0);
  return order == same
             ? id
             : add("Transpose", {id}, Attributes().set("perm", order));
}

TensorId Composer::cast(const TensorId &id, DataType wanted) {
  return type(id) == wanted
             ? id
             : add("Cast", {id},
                   Attributes().set("to", TensorInfo(wanted, {}).data_type()));
}

TensorId Composer::slice(const TensorId &id, std::int64_t axis,
                         std::int64_t begin, std::int64_t end) {
  return add("Slice", {id},
             Attributes()
                 .set("axes", Attributes::Ints{axis})
                 .set("starts", Attributes::Ints{begin})
                 .set("ends", Attributes::Ints{end}));
}

TensorId Composer::addNumbers(const void *data, const TensorInfo &numbers) {
  std::size_t next = graph_.getTensorIds().size();
  TensorId id;
  do {
    id = fmt::format("{}/constant_{}", op_.opid.type, next++);
  } while (graph_.hasTensor(id));
  return graph_.addConstant(id, numbers, data);
}

TensorId Composer::constant(const std::vector<double> &values,
                            const TensorInfo &wanted) {
  if (isFloat(wanted.dataType())) {
    std::vector<float> numbers(values.begin(), values.end());
    return cast(addNumbers(numbers.data(), {DataType::FLOAT, wanted.shape()}),
                wanted.dataType());
  }
  std::vector<std::int32_t> numbers(values.begin(), values.end());
  return cast(addNumbers(numbers.data(), {DataType::INT32, wanted.shape()}),
              wanted.dataType());
}

TensorId Composer::scalar(double value, DataType wanted) {
  return constant({value}, TensorInfo(wanted, {}));
}

TensorId Composer::counting(std::int64_t count) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return constant(numbers, TensorInfo(DataType::INT32, {count}));
}

void Composer::setOutput(OutIndex i, const TensorId &id) {
  if (isWanted(i)) {
    addAll({"ai.onnx", "Identity"}, {id},
           {op_.outputs[static_cast<std::size_t>(i)]}, {});
  }
}

bool isComposed(const OpRule *rule, const Attributes &attributes) {
  return rule && rule->compose &&
         (!rule->isComposed || rule->isComposed(attributes));
}

void compose(Graph &graph, const OpRule &rule, const OperatorIdentifier &opid,
             const std::vector<TensorId> &inputs,
             const std::vector<TensorId> &outputs, const Attributes &attributes,
             const Op::Settings &settings) {
  Op::Settings placed = settings;
  placed.graph = graph;
  Op op({rule, opid, attributes, placed});
  op.inputs = inputs;
  op.outputs = outputs;
  for (const TensorId &id : inputs) {
    support::requireUser<error>(id.empty() || graph.hasTensor(id),
                                "[{}] input '{}' is not a tensor of the graph",
                                op.str(), id);
  }
  Composer composer(op);
  rule.compose(composer, op);
}

void addOrCompose(Graph &graph, const OperatorIdentifier &opid,
                  const std::vector<TensorId> &inputs,
                  const std::vector<TensorId> &outputs,
                  const Attributes &attributes, const Op::Settings &settings) {
  const OpRule *rule = findOpRule(opid);
  if (isComposed(rule, attributes)) {
    compose(graph, *rule, opid, inputs, outputs, attributes, settings);
  } else {
    foldSmallConstant(graph.addOp(opid, inputs, outputs, attributes, settings));
  }
}

} // namespace popart
