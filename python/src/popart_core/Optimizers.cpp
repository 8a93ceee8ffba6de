// Optimisers: dictionaries of (value, isConst).
#include "Bindings.hpp"

#include <popart/adam.hpp>
#include <popart/adaptive.hpp>
#include <popart/sgd.hpp>

#include <pybind11/stl.h>

namespace popart::python {
namespace {

namespace py = pybind11;

// A plain number is a constant.
Optimizer::Values toValues(const py::dict &dictionary) {
  Optimizer::Values values;
  for (auto [key, value] : dictionary) {
    auto name = key.cast<std::string>();
    if (py::isinstance<OptimizerValue>(value)) {
      auto held = value.cast<OptimizerValue>();
      values[name] = {held.val(), held.isConst()};
    } else if (py::isinstance<py::tuple>(value) ||
               py::isinstance<py::list>(value)) {
      values[name] = value.cast<std::pair<float, bool>>();
    } else {
      values[name] = {value.cast<float>(), true};
    }
  }
  return values;
}

using Clipping = std::vector<ClipNormSettings>;

void bindValues(py::module_ &module) {
  py::class_<OptimizerValue>(module, "OptimizerValue")
      .def(py::init<>())
      .def(py::init<float, bool>(), py::arg("val"), py::arg("isConst") = true)
      .def("val", &OptimizerValue::val)
      .def("isConst", &OptimizerValue::isConst);
  py::class_<OptimizerValueMap>(module, "OptimizerValueMap")
      .def("getDefault", &OptimizerValueMap::getDefault)
      .def("get", &OptimizerValueMap::get);
  py::class_<ClipNormSettings>(module, "ClipNormSettings")
      .def(py::init<std::vector<TensorId>, float>(), py::arg("weightIds"),
           py::arg("maxNorm"))
      .def_static("clipWeights", &ClipNormSettings::clipWeights,
                  py::arg("weightIds"), py::arg("maxNorm"))
      .def_static("clipAllWeights", &ClipNormSettings::clipAllWeights,
                  py::arg("maxNorm"))
      .def_property_readonly("weightIds", &ClipNormSettings::getWeightIds)
      .def_property_readonly("maxNorm", &ClipNormSettings::getMaxNorm);
  py::class_<Optimizer>(module, "Optimizer")
      .def("getLossScalingVal", &Optimizer::getLossScalingVal)
      .def("hasSpecific",
           [](const Optimizer &optimizer, const TensorId &id) {
             return optimizer.hasSpecific(id);
           })
      .def("insertSpecific", [](Optimizer &optimizer, const TensorId &id,
                                const py::dict &values) {
        optimizer.insertSpecific(id, toValues(values));
      });
}

void bindSgd(py::module_ &module) {
  using Momentum = SGDAccumulatorAndMomentum;
  py::class_<SGD, Optimizer>(module, "SGD")
      .def(py::init([](const py::dict &values, const Clipping &clipping,
                       Momentum momentum, DataType accum, DataType accl1,
                       const std::string &) {
             return SGD(toValues(values), clipping, momentum, accum, accl1);
           }),
           py::arg("values"), py::arg("clip_norm_settings") = Clipping(),
           py::arg("accumulatorAndMomentum") = Momentum::Combined,
           py::arg("accumType") = DataType::UNDEFINED,
           py::arg("accl1Type") = DataType::UNDEFINED,
           py::arg("debugContext") = "sgd")
      .def("learningRates", &SGD::learningRates)
      .def("weightDecays", &SGD::weightDecays)
      .def("momentums", &SGD::momentums)
      .def("dampenings", &SGD::dampenings)
      .def("velocityScalings", &SGD::velocityScalings)
      .def("nesterovs", &SGD::nesterovs);
  py::class_<ConstSGD, SGD>(module, "ConstSGD")
      .def(py::init([](float rate, float decay, float scaling,
                       const Clipping &clipping) {
             return ConstSGD(rate, decay, scaling, clipping);
           }),
           py::arg("learning_rate"), py::arg("weight_decay") = 0.0f,
           py::arg("loss_scaling") = 1.0f,
           py::arg("clip_norm_settings") = Clipping());
}

void bindAdam(py::module_ &module) {
  py::class_<Adam, Optimizer>(module, "Adam")
      .def(py::init([](const py::dict &values, AdamMode mode,
                       WeightDecayMode decay, DataType accum, DataType accl1,
                       DataType accl2, const Clipping &clipping, bool isScaled,
                       const std::string &) {
             return Adam(toValues(values), mode, decay, accum, accl1, accl2,
                         clipping, isScaled);
           }),
           py::arg("values"), py::arg("mode") = AdamMode::Adam,
           py::arg("weight_decay_mode") = WeightDecayMode::Decay,
           py::arg("accum_type") = DataType::UNDEFINED,
           py::arg("accl1_type") = DataType::FLOAT,
           py::arg("accl2_type") = DataType::FLOAT,
           py::arg("clip_norm_settings") = Clipping(),
           py::arg("scaled_optimizer_state") = false,
           py::arg("debugContext") = "adam")
      .def("learningRates", &Adam::learningRates)
      .def("weightDecays", &Adam::weightDecays)
      .def("beta1s", &Adam::beta1s)
      .def("beta2s", &Adam::beta2s)
      .def("epss", &Adam::epss)
      .def("maxWeightNorms", &Adam::maxWeightNorms);
}

void bindAdaptive(py::module_ &module) {
  py::class_<Adaptive, Optimizer>(module, "Adaptive")
      .def(py::init([](const py::dict &values, AdaptiveMode mode,
                       WeightDecayMode decay, DataType accum, DataType accl1,
                       DataType accl2, DataType accl3, bool isTensorFlow,
                       const std::string &) {
             return Adaptive(toValues(values), mode, decay, accum, accl1, accl2,
                             accl3, isTensorFlow);
           }),
           py::arg("values"), py::arg("mode") = AdaptiveMode::RMSProp,
           py::arg("weight_decay_mode") = WeightDecayMode::Decay,
           py::arg("accum_type") = DataType::UNDEFINED,
           py::arg("accl1_type") = DataType::FLOAT,
           py::arg("accl2_type") = DataType::FLOAT,
           py::arg("accl3_type") = DataType::UNDEFINED,
           py::arg("rmsprop_tf_variant") = false,
           py::arg("debugContext") = "adaptive")
      .def("learningRates", &Adaptive::learningRates)
      .def("weightDecays", &Adaptive::weightDecays)
      .def("alphas", &Adaptive::alphas)
      .def("momentums", &Adaptive::momentums)
      .def("epss", &Adaptive::epss);
}

} // namespace

void initOptimizers(py::module_ &module) {
  bindValues(module);
  bindSgd(module);
  bindAdam(module);
  bindAdaptive(module);
}

} // namespace popart::python
