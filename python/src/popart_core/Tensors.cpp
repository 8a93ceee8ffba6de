// Infos, anchors, step I/O and weights.
#include "Arrays.hpp"
#include "Bindings.hpp"

#include <popart/dataflow.hpp>
#include <popart/error.hpp>
#include <popart/inputsettings.hpp>
#include <popart/inputshapeinfo.hpp>
#include <support/Error.hpp>

#include <pybind11/stl.h>

#include <optional>

namespace popart::python {
namespace {

namespace py = pybind11;

std::map<TensorId, IArray &> references(const NumpyArrays &arrays) {
  std::map<TensorId, IArray &> result;
  for (const auto &[id, array] : arrays) {
    result.emplace(id, *array);
  }
  return result;
}

// The arrays are there before StepIO looks at them.
struct StepArrays {
  NumpyArrays inputs;
  NumpyArrays outputs;
};

class PyStepIO : private StepArrays, public StepIO {
public:
  PyStepIO(const py::dict &inputs, const py::dict &outputs)
      : StepArrays{toArrays(inputs, false), toArrays(outputs, true)},
        StepIO(references(StepArrays::inputs),
               references(StepArrays::outputs)) {}
};

// Python's functions, called with the interpreter's lock.
class PyStepIOCallback : public IStepIO {
public:
  PyStepIOCallback(py::function input, py::function inputComplete,
                   py::function output, py::function outputComplete)
      : input_(std::move(input)), inputComplete_(std::move(inputComplete)),
        output_(std::move(output)), outputComplete_(std::move(outputComplete)) {
  }

  ConstVoidData in(TensorId id, std::int64_t, bool prefetch, bool) override {
    py::gil_scoped_acquire gil;
    py::object value = input_(id, prefetch);
    if (value.is_none() && prefetch) {
      return {};
    }
    hold(inputs_, id, value, false);
    return {inputs_[id]->data(),
            TensorInfo(inputs_[id]->dataType(), inputs_[id]->shape())};
  }
  void inComplete(TensorId id, std::int64_t, bool) override {
    py::gil_scoped_acquire gil;
    inputComplete_(id);
  }
  MutableVoidData out(TensorId id, std::int64_t) override {
    py::gil_scoped_acquire gil;
    hold(outputs_, id, output_(id), true);
    return {outputs_[id]->data(),
            TensorInfo(outputs_[id]->dataType(), outputs_[id]->shape())};
  }
  void outComplete(TensorId id) override {
    py::gil_scoped_acquire gil;
    outputComplete_(id);
  }

private:
  static void hold(NumpyArrays &arrays, const TensorId &id,
                   const py::object &value, bool isWritten) {
    support::requireUser<error>(py::isinstance<py::array>(value),
                                "[PyStepIOCallback] the callback for tensor "
                                "'{}' returned no NumPy array",
                                id);
    arrays[id] = std::make_unique<NumpyArray>(
        py::reinterpret_borrow<py::array>(value), id, isWritten);
  }

  py::function input_;
  py::function inputComplete_;
  py::function output_;
  py::function outputComplete_;
  NumpyArrays inputs_;
  NumpyArrays outputs_;
};

class PyWeightsIO : public WeightsIO {
public:
  explicit PyWeightsIO(const py::dict &weights)
      : arrays_(toArrays(weights, true)) {
    for (const auto &[id, array] : arrays_) {
      insert(id,
             {array->data(), TensorInfo(array->dataType(), array->shape())});
    }
  }

private:
  NumpyArrays arrays_;
};

void initInfos(py::module_ &module) {
  py::class_<TensorInfo>(module, "_TensorInfoCore")
      .def(py::init<const std::string &, Shape>())
      .def(py::init<DataType, Shape>())
      .def(py::init([](const TensorInfo &other) { return other; }))
      .def("shape", &TensorInfo::shape)
      .def("data_type", &TensorInfo::data_type)
      .def("data_type_lcase", &TensorInfo::data_type_lcase)
      .def("dataType", &TensorInfo::dataType)
      .def("rank", &TensorInfo::rank)
      .def("nelms", &TensorInfo::nelms)
      .def("nbytes", &TensorInfo::nbytes)
      .def("__eq__",
           [](const TensorInfo &a, const TensorInfo &b) { return a == b; })
      .def("__repr__", [](const TensorInfo &info) {
        return fmt::format("TensorInfo('{}', {})", info.data_type(),
                           std::string(py::str(py::cast(info.shape()))));
      });
  module.def("_tensorInfoOf", &toInfo);
  module.def("_dataTypeOf",
             [](const py::dtype &type) { return toDataType(type); });
  py::class_<InputShapeInfo>(module, "InputShapeInfo")
      .def(py::init<>())
      .def("add", &InputShapeInfo::add)
      .def("get",
           [](const InputShapeInfo &infos, const TensorId &id) {
             support::requireUser<error>(infos.has(id),
                                         "[InputShapeInfo] has no '{}'", id);
             return infos.get(id);
           })
      .def("has", &InputShapeInfo::has);
  using Mode = ReplicatedStreamMode;
  py::class_<InputSettings>(module, "InputSettings")
      .def(py::init<TileSet, ExchangeStrategy, Mode>(),
           py::arg("tileSet") = TileSet::Compute,
           py::arg("exchangeStrategy") = ExchangeStrategy::JustInTime,
           py::arg("replicatedStreamMode") = Mode::Replicate)
      .def(py::init<Mode>(), py::arg("replicatedStreamMode"))
      .def("tileSet", &InputSettings::tileSet)
      .def("exchangeStrategy", &InputSettings::exchangeStrategy)
      .def("replicatedStreamMode", &InputSettings::replicatedStreamMode);
}

AnchorReturnType makeReturnType(const std::string &name,
                                std::optional<int> period, TileSet tileSet,
                                ExchangeStrategy strategy) {
  return period ? AnchorReturnType(name, *period, tileSet, strategy)
                : AnchorReturnType(name, tileSet, strategy);
}

void initAnchors(py::module_ &module) {
  py::class_<AnchorReturnType>(module, "AnchorReturnType")
      .def(py::init(&makeReturnType), py::arg("anchorReturnTypeString"),
           py::arg("returnPeriod") = py::none(),
           py::arg("tileSet") = TileSet::Compute,
           py::arg("exchangeStrategy") = ExchangeStrategy::JustInTime)
      .def("id", &AnchorReturnType::id)
      .def("rp", &AnchorReturnType::rp)
      .def("tileSet", &AnchorReturnType::tileSet)
      .def("exchangeStrategy", &AnchorReturnType::exchangeStrategy)
      .def("__str__", &AnchorReturnType::str);
  py::class_<DataFlow>(module, "DataFlow")
      .def(py::init<int, const AnchorReturnTypeMap &>(),
           py::arg("batchesPerStep"), py::arg("anchorTensors"))
      .def(py::init<int>(), py::arg("batchesPerStep"))
      .def(py::init<int, const std::vector<TensorId> &,
                    const AnchorReturnType &>(),
           py::arg("batchesPerStep"), py::arg("anchorIds"),
           py::arg("anchorReturnType") = AnchorReturnType("All"))
      .def("isAnchored", &DataFlow::isAnchored)
      .def("anchors", &DataFlow::anchors)
      .def("nAnchors", &DataFlow::nAnchors)
      .def("batchesPerStep", &DataFlow::batchesPerStep)
      .def("setBatchesPerStep", &DataFlow::setBatchesPerStep)
      .def("art", &DataFlow::art);
}

} // namespace

void initTensors(py::module_ &module) {
  initInfos(module);
  initAnchors(module);
  py::class_<IStepIO>(module, "IStepIO")
      .def("enableRuntimeAsserts", &IStepIO::enableRuntimeAsserts);
  py::class_<PyStepIO, IStepIO>(module, "PyStepIO")
      .def(py::init<const py::dict &, const py::dict &>(), py::arg("inputs"),
           py::arg("outputs"));
  py::class_<PyStepIOCallback, IStepIO>(module, "PyStepIOCallback")
      .def(py::init<py::function, py::function, py::function, py::function>(),
           py::arg("input_callback"), py::arg("input_complete_callback"),
           py::arg("output_callback"), py::arg("output_complete_callback"));
  py::class_<IWeightsIO>(module, "IWeightsIO");
  py::class_<PyWeightsIO, IWeightsIO>(module, "PyWeightsIO")
      .def(py::init<const py::dict &>(), py::arg("weights"));
}

} // namespace popart::python
