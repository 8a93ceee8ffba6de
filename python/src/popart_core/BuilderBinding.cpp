// The builder under popart.Builder, and the table that its methods for
// operators are made from.
#include "Arrays.hpp"
#include "Bindings.hpp"

#include <builder/Signatures.hpp>
#include <popart/error.hpp>
#include <popart/modelbuilder.hpp>
#include <support/Error.hpp>

#include <pybind11/stl.h>

namespace popart::python {
namespace {

namespace py = pybind11;

template <typename T> bool isListOf(const py::list &list) {
  for (auto item : list) {
    if (!py::isinstance<T>(item)) {
      return false;
    }
  }
  return true;
}

// A value for an attribute; the array must outlive the call.
popart::any toAttribute(const std::string &name, const py::handle &value) {
  if (py::isinstance<py::str>(value)) {
    return value.cast<std::string>();
  }
  if (py::isinstance<py::float_>(value)) {
    return value.cast<float>();
  }
  if (py::isinstance<py::int_>(value)) { // bool too
    return value.cast<std::int64_t>();
  }
  if (py::isinstance<ModelBuilder>(value)) {
    return value.cast<ModelBuilder *>();
  }
  if (py::isinstance<py::array>(value)) {
    auto array = py::reinterpret_borrow<py::array>(value);
    requireContiguous(array, name);
    return ConstVoidData{array.data(), toInfo(array)};
  }
  support::requireUser<error>(py::isinstance<py::list>(value) ||
                                  py::isinstance<py::tuple>(value),
                              "Invalid type provided in custom op attribute "
                              "'{}'",
                              name);
  auto list = py::list(py::reinterpret_borrow<py::object>(value));
  if (isListOf<py::int_>(list)) {
    return list.cast<std::vector<std::int64_t>>();
  }
  if (isListOf<py::float_>(list)) {
    return list.cast<std::vector<float>>();
  }
  support::requireUser<error>(isListOf<py::str>(list),
                              "Invalid or mismatched python list type provided "
                              "in custom op attribute '{}'",
                              name);
  return list.cast<std::vector<std::string>>();
}

std::vector<TensorId> addNode(ModelBuilder &builder, const std::string &domain,
                              const std::string &type, int opset,
                              const std::vector<TensorId> &inputs,
                              unsigned outputs, const py::dict &values,
                              const std::string &name) {
  ModelBuilder::AttributeMap attributes;
  for (auto [key, value] : values) {
    auto attribute = key.cast<std::string>();
    attributes[attribute] = toAttribute(attribute, value);
  }
  return builder.customOp({domain, type, opset}, opset, inputs, outputs,
                          attributes, name);
}

TensorId addInitializer(ModelBuilder &builder, const py::array &array,
                        const VariableSettings &settings,
                        const std::string &name) {
  // NumPy's views are copied into C's order first.
  auto packed = py::array::ensure(array, py::array::c_style);
  return builder.addInitializedInputTensor({packed.data(), toInfo(packed)},
                                           settings, name);
}

// (name, type, isRequired, default) for each argument.
py::list argumentsOf(const Signature &signature) {
  static const char *const types[] = {"int",    "float",  "str",
                                      "ints",   "floats", "strings",
                                      "tensor", "",       "graph"};
  py::list result;
  for (const OnnxAttribute &argument : signature.arguments) {
    py::object fallback = std::visit(
        [](const auto &value) -> py::object {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>,
                                       std::monostate>) {
            return py::none();
          } else {
            return py::cast(value);
          }
        },
        argument.fallback);
    result.append(py::make_tuple(argument.name,
                                 types[static_cast<int>(argument.type)],
                                 argument.isRequired, fallback));
  }
  return result;
}

py::list toList(const std::vector<Signature> &signatures) {
  py::list result;
  for (const Signature &signature : signatures) {
    py::dict row;
    row["method"] = signature.method;
    row["type"] = signature.type;
    row["version"] = signature.version;
    row["inputs"] = static_cast<int>(signature.inputs);
    row["isOne"] = signature.outputs == Signature::Outputs::One;
    row["isCounted"] = signature.outputs == Signature::Outputs::Counted;
    row["argumentsBeforeContext"] = signature.argumentsBeforeContext;
    row["outputs"] = signature.outputCount;
    row["isCast"] = signature.special == Signature::Special::Cast;
    row["arguments"] = argumentsOf(signature);
    result.append(row);
  }
  return result;
}

using Class = py::class_<ModelBuilder>;

void bindTensors(Class &type) {
  type.def("addInputTensor",
           [](ModelBuilder &b, const TensorInfo &info,
              const std::string &name) { return b.addInputTensor(info, name); })
      .def("addInputTensor",
           [](ModelBuilder &b, const TensorInfo &info,
              const InputSettings &settings, const std::string &name) {
             return b.addInputTensor(info, settings, name);
           })
      .def("addUntypedInputTensor",
           [](ModelBuilder &b, const std::string &name) {
             return b.addUntypedInputTensor(name);
           })
      .def("addInputTensorFromParentGraph",
           &ModelBuilder::addInputTensorFromParentGraph)
      .def("addInitializedInputTensor", &addInitializer)
      .def("addOutputTensor", &ModelBuilder::addOutputTensor)
      .def("addNode", &addNode)
      .def(
          "createSubgraphBuilder",
          [](ModelBuilder &b) -> ModelBuilder & {
            return b.createSubgraph(std::make_unique<ModelBuilder>());
          },
          py::return_value_policy::reference_internal)
      .def("checkpointOutput", &ModelBuilder::checkpointOutput)
      .def("loadModelProto", &ModelBuilder::loadModelProto)
      .def("getModelProto",
           [](const ModelBuilder &b) { return py::bytes(b.getModelProto()); })
      .def("saveModelProto", &ModelBuilder::saveModelProto)
      .def("saveInitializersExternally",
           &ModelBuilder::saveInitializersExternally)
      .def("setGraphName", &ModelBuilder::setGraphName)
      .def("embedReplicationFactor", &ModelBuilder::embedReplicationFactor)
      .def("getInputTensorIds", &ModelBuilder::getInputTensorIds)
      .def("getOutputTensorIds", &ModelBuilder::getOutputTensorIds)
      .def("getValueTensorIds", &ModelBuilder::getValueTensorIds)
      .def("getTrainableTensorIds", &ModelBuilder::getTrainableTensorIds)
      .def("hasTensorShape", &ModelBuilder::hasTensorShape)
      .def("getTensorShape", &ModelBuilder::getTensorShape)
      .def("getTensorDtypeString", &ModelBuilder::getTensorDtypeString)
      .def("isInitializer", &ModelBuilder::isInitializer)
      .def("pushNameScope", &ModelBuilder::pushNameScope)
      .def("popNameScope", &ModelBuilder::popNameScope)
      .def("getNameScope", &ModelBuilder::getNameScope, py::arg("name") = "");
}

void bindAttributes(Class &type) {
  type.def("setAttribute",
           [](ModelBuilder &b, const std::string &name, py::handle value) {
             b.setAttribute(name, toAttribute(name, value));
           })
      .def("hasAttribute", &ModelBuilder::hasAttribute)
      .def("clearAttribute", &ModelBuilder::clearAttribute)
      .def("addNodeAttribute",
           [](ModelBuilder &b, const std::string &name, py::handle value,
              const std::set<TensorId> &outputs) {
             b.addNodeAttribute(name, toAttribute(name, value), outputs);
           })
      .def("setNodeAttribute",
           [](ModelBuilder &b, const std::string &name, py::handle value,
              const std::set<TensorId> &outputs) {
             b.setNodeAttribute(name, toAttribute(name, value), outputs);
           })
      .def("nodeHasAttribute", &ModelBuilder::nodeHasAttribute)
      .def("removeNodeAttribute", &ModelBuilder::removeNodeAttribute)
      .def("getInt64NodeAttribute", &ModelBuilder::getInt64NodeAttribute)
      .def("getInt64VectorNodeAttribute",
           &ModelBuilder::getInt64VectorNodeAttribute)
      .def("getFloatNodeAttribute", &ModelBuilder::getFloatNodeAttribute)
      .def("getFloatVectorNodeAttribute",
           &ModelBuilder::getFloatVectorNodeAttribute)
      .def("getStringNodeAttribute", &ModelBuilder::getStringNodeAttribute)
      .def("getStringVectorNodeAttribute",
           &ModelBuilder::getStringVectorNodeAttribute)
      .def("getAllNodeAttributeNames", &ModelBuilder::getAllNodeAttributeNames);
}

void bindPlacement(Class &type) {
  using B = ModelBuilder;
  type.def("virtualGraph", &B::virtualGraph)
      .def("pipelineStage", &B::pipelineStage)
      .def("executionPhase", &B::executionPhase)
      .def("getVirtualGraph", &B::getVirtualGraph)
      .def("getPipelineStage", &B::getPipelineStage)
      .def("getExecutionPhase", &B::getExecutionPhase)
      .def("hasVirtualGraph", &B::hasVirtualGraph)
      .def("hasPipelineStage", &B::hasPipelineStage)
      .def("hasExecutionPhase", &B::hasExecutionPhase)
      .def("recomputeOutputInBackwardPass", &B::recomputeOutputInBackwardPass)
      .def("getRecomputeOutputInBackwardPass",
           &B::getRecomputeOutputInBackwardPass)
      .def("outputTensorLocation", &B::outputTensorLocation)
      .def("setAvailableMemoryProportion", &B::setAvailableMemoryProportion)
      .def("setPartialsType", &B::setPartialsType)
      .def("getPartialsType", &B::getPartialsType)
      .def("setEnableConvDithering", &B::setEnableConvDithering)
      .def("setSerializeMatMul", &B::setSerializeMatMul)
      .def("setInplacePreferences", &B::setInplacePreferences)
      .def("excludePatterns", &B::excludePatterns);
}

} // namespace

void initBuilder(py::module_ &module) {
  Class type(module, "_BuilderCore");
  type.def(py::init<>());
  bindTensors(type);
  bindAttributes(type);
  bindPlacement(type);
  module.def("_aiOnnxSignatures",
             [](int opset) { return toList(aiOnnxSignatures(opset)); });
  module.def("_aiOnnxMlSignatures",
             [] { return toList(aiOnnxMlSignatures()); });
  module.def("_aiGraphcoreSignatures",
             [] { return toList(aiGraphcoreSignatures()); });
  module.def("_onnxTypeNumber", &onnxTypeNumber);
}

} // namespace popart::python
