// Attributes of nodes: their values, and the ones that say where and how a node
// runs.
#include <builder/Builder.hpp>

#include <onnx/TensorData.hpp>
#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>

#include <fmt/ranges.h>

namespace popart {
namespace {

template <typename T, typename F> bool visit(const popart::any &value, F &&f) {
  const T *held = any_cast<T>(&value);
  if (held) {
    f(*held);
  }
  return held != nullptr;
}

bool setNumber(onnx::AttributeProto &attribute, const popart::any &value) {
  auto setInt = [&](auto number) {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(static_cast<std::int64_t>(number));
  };
  auto setFloat = [&](auto number) {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(number));
  };
  return visit<std::int64_t>(value, setInt) || visit<int>(value, setInt) ||
         visit<long long>(value, setInt) || visit<unsigned>(value, setInt) ||
         visit<bool>(value, setInt) || visit<float>(value, setFloat) ||
         visit<double>(value, setFloat);
}

bool setText(onnx::AttributeProto &attribute, const popart::any &value) {
  auto set = [&](const std::string &text) {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(text);
  };
  return visit<std::string>(value, set) || visit<const char *>(value, set);
}

bool setList(onnx::AttributeProto &attribute, const popart::any &value) {
  auto setInts = [&](const auto &numbers) {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (auto number : numbers) {
      attribute.add_ints(number);
    }
  };
  return visit<std::vector<std::int64_t>>(value, setInts) ||
         visit<std::vector<int>>(value, setInts) ||
         visit<std::vector<float>>(value,
                                   [&](const auto &numbers) {
                                     attribute.set_type(
                                         onnx::AttributeProto::FLOATS);
                                     for (float number : numbers) {
                                       attribute.add_floats(number);
                                     }
                                   }) ||
         visit<std::vector<std::string>>(value, [&](const auto &texts) {
           attribute.set_type(onnx::AttributeProto::STRINGS);
           for (const std::string &text : texts) {
             attribute.add_strings(text);
           }
         });
}

bool setPart(onnx::AttributeProto &attribute, const popart::any &value) {
  return visit<ConstVoidData>(
             value,
             [&](const ConstVoidData &data) {
               attribute.set_type(onnx::AttributeProto::TENSOR);
               setData(*attribute.mutable_t(), data.info, data.data);
             }) ||
         visit<ModelBuilder *>(value, [&](ModelBuilder *builder) {
           attribute.set_type(onnx::AttributeProto::GRAPH);
           *attribute.mutable_g() = BuilderAccess::get(*builder).graph();
         });
}

const onnx::AttributeProto &
typedAttribute(onnx::NodeProto &node, const std::string &name,
               onnx::AttributeProto::AttributeType type) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  support::requireUser<error>(attribute != nullptr,
                              "Node does not have attribute {}.", name);
  support::requireUser<error>(
      attribute->type() == type,
      "Node attribute {} does not have the type that was asked for.", name);
  return *attribute;
}

} // namespace

void setValue(onnx::AttributeProto &attribute, const std::string &name,
              const popart::any &value) {
  attribute.Clear();
  attribute.set_name(name);
  support::requireUser<error>(
      setNumber(attribute, value) || setText(attribute, value) ||
          setList(attribute, value) || setPart(attribute, value),
      "[Builder] attribute '{}' has a value of a type that ONNX does not have",
      name);
}

std::int64_t onnxTypeNumber(const std::string &name) {
  return toOnnxType(TensorInfo(name, {}).dataType());
}

onnx::AttributeProto *findAttribute(onnx::NodeProto &node,
                                    const std::string &name) {
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.name() == name) {
      return &attribute;
    }
  }
  return nullptr;
}

void requireUnreserved(const TensorId &id) {
#define POPART_PREFIX(NAME, PREFIX) PREFIX,
#define POPART_SCALARS(NAME, SCALAR)                                           \
  SCALAR "___default___", SCALAR "___specific___",
  static constexpr const char *reserved[] = {POPART_RESERVED_PREFIXES(
      POPART_PREFIX) POPART_RESERVED_SCALARS(POPART_SCALARS)};
#undef POPART_SCALARS
#undef POPART_PREFIX
  for (const char *prefix : reserved) {
    support::requireUser<error>(id.rfind(prefix, 0) != 0,
                                "Provided tensor '{}' has an invalid name: "
                                "clash with reserved prefix {}",
                                id, prefix);
  }
}

onnx::NodeProto &ModelBuilder::Implementation::findNode(
    const std::set<TensorId> &outputs) const {
  auto found =
      outputs.empty() ? producers.end() : producers.find(*outputs.begin());
  if (found != producers.end()) {
    onnx::NodeProto &node = *found->second;
    std::set<TensorId> all(node.output().begin(), node.output().end());
    if (all == outputs) {
      return node;
    }
  }
  throw error(fmt::format("Could not find a node with outputs {}. Must specify "
                          "all outputs of a node",
                          fmt::join(outputs, ", ")));
}

void ModelBuilder::setAttribute(const std::string &name,
                                const popart::any &value) {
  implementation_->attributes[name] = value;
}

popart::any ModelBuilder::getAttribute(const std::string &name) const {
  auto found = implementation_->attributes.find(name);
  return found == implementation_->attributes.end() ? popart::any()
                                                    : found->second;
}

bool ModelBuilder::hasAttribute(const std::string &name) const {
  return implementation_->attributes.count(name) > 0;
}

void ModelBuilder::clearAttribute(const std::string &name) {
  implementation_->attributes.erase(name);
}

void ModelBuilder::addNodeAttribute(const std::string &name,
                                    const popart::any &value,
                                    const std::set<TensorId> &outputs) {
  onnx::NodeProto &node = implementation_->findNode(outputs);
  support::requireUser<error>(findAttribute(node, name) == nullptr,
                              "Node already has attribute {}.", name);
  setValue(*node.add_attribute(), name, value);
}

void ModelBuilder::setNodeAttribute(const std::string &name,
                                    const popart::any &value,
                                    const std::set<TensorId> &outputs) {
  onnx::NodeProto &node = implementation_->findNode(outputs);
  onnx::AttributeProto *attribute = findAttribute(node, name);
  setValue(attribute ? *attribute : *node.add_attribute(), name, value);
}

bool ModelBuilder::nodeHasAttribute(const std::string &name,
                                    const std::set<TensorId> &outputs) const {
  return findAttribute(implementation_->findNode(outputs), name) != nullptr;
}

void ModelBuilder::removeNodeAttribute(const std::string &name,
                                       const std::set<TensorId> &outputs) {
  onnx::NodeProto &node = implementation_->findNode(outputs);
  auto &attributes = *node.mutable_attribute();
  for (int i = 0; i < attributes.size(); ++i) {
    if (attributes.Get(i).name() == name) {
      attributes.DeleteSubrange(i, 1);
      return;
    }
  }
  throw error(
      fmt::format("Cannot remove attribute {} as it does not exist.", name));
}

std::int64_t
ModelBuilder::getInt64NodeAttribute(const std::string &name,
                                    const std::set<TensorId> &outputs) const {
  return typedAttribute(implementation_->findNode(outputs), name,
                        onnx::AttributeProto::INT)
      .i();
}

std::vector<std::int64_t> ModelBuilder::getInt64VectorNodeAttribute(
    const std::string &name, const std::set<TensorId> &outputs) const {
  const auto &list = typedAttribute(implementation_->findNode(outputs), name,
                                    onnx::AttributeProto::INTS)
                         .ints();
  return {list.begin(), list.end()};
}

float ModelBuilder::getFloatNodeAttribute(
    const std::string &name, const std::set<TensorId> &outputs) const {
  return typedAttribute(implementation_->findNode(outputs), name,
                        onnx::AttributeProto::FLOAT)
      .f();
}

std::vector<float> ModelBuilder::getFloatVectorNodeAttribute(
    const std::string &name, const std::set<TensorId> &outputs) const {
  const auto &list = typedAttribute(implementation_->findNode(outputs), name,
                                    onnx::AttributeProto::FLOATS)
                         .floats();
  return {list.begin(), list.end()};
}

std::string
ModelBuilder::getStringNodeAttribute(const std::string &name,
                                     const std::set<TensorId> &outputs) const {
  return typedAttribute(implementation_->findNode(outputs), name,
                        onnx::AttributeProto::STRING)
      .s();
}

std::vector<std::string> ModelBuilder::getStringVectorNodeAttribute(
    const std::string &name, const std::set<TensorId> &outputs) const {
  const auto &list = typedAttribute(implementation_->findNode(outputs), name,
                                    onnx::AttributeProto::STRINGS)
                         .strings();
  return {list.begin(), list.end()};
}

std::vector<std::string> ModelBuilder::getAllNodeAttributeNames(
    const std::set<TensorId> &outputs) const {
  std::vector<std::string> names;
  for (const auto &attribute : implementation_->findNode(outputs).attribute()) {
    names.push_back(attribute.name());
  }
  return names;
}

} // namespace popart
