// The documented enumerations.
#include "Bindings.hpp"

#include <popart/adam.hpp>
#include <popart/adaptive.hpp>
#include <popart/devicemanager.hpp>
#include <popart/inputsettings.hpp>
#include <popart/operatorenums.hpp>
#include <popart/opsettings.hpp>
#include <popart/patterns/patterns.hpp>
#include <popart/sessionoptions.hpp>
#include <popart/sgd.hpp>
#include <popart/tensorinfo.hpp>
#include <popart/variablesettings.hpp>

#include <initializer_list>
#include <utility>

namespace popart::python {
namespace {

namespace py = pybind11;

template <typename T>
void bindEnum(py::module_ &module, const char *name,
              std::initializer_list<std::pair<const char *, T>> members) {
  py::enum_<T> type(module, name);
  for (const auto &[member, value] : members) {
    type.value(member, value);
  }
}

void initSessionEnums(py::module_ &module) {
  using V = VirtualGraphMode;
  bindEnum<V>(module, "VirtualGraphMode",
              {{"Off", V::Off},
               {"Manual", V::Manual},
               {"Auto", V::Auto},
               {"ExecutionPhases", V::ExecutionPhases}});
  using R = RecomputationType;
  bindEnum<R>(module, "RecomputationType",
              {{"NoRecompute", R::None},
               {"Standard", R::Standard},
               {"NormOnly", R::NormOnly},
               {"Pipeline", R::Pipeline},
               {"RecomputeAll", R::RecomputeAll}});
  using O = RecomputeType;
  bindEnum<O>(module, "RecomputeType",
              {{"Undefined", O::Undefined},
               {"Checkpoint", O::Checkpoint},
               {"Recompute", O::Recompute},
               {"Recomputed", O::Recomputed}});
  using D = ReductionType;
  bindEnum<D>(
      module, "ReductionType",
      {{"Sum", D::Sum}, {"Mean", D::Mean}, {"NoReduction", D::NoReduction}});
  using M = MeanReductionStrategy;
  bindEnum<M>(module, "MeanReductionStrategy",
              {{"Running", M::Running}, {"Post", M::Post}});
  using S = SyntheticDataMode;
  bindEnum<S>(module, "SyntheticDataMode",
              {{"Off", S::Off},
               {"Zeros", S::Zeros},
               {"RandomNormal", S::RandomNormal},
               {"RandomUniform", S::RandomUniform}});
  using I = Instrumentation;
  bindEnum<I>(module, "Instrumentation",
              {{"Outer", I::Outer}, {"Inner", I::Inner}});
  using U = MergeVarUpdateType;
  bindEnum<U>(module, "MergeVarUpdateType",
              {{"Off", U::None},
               {"All", U::All},
               {"AutoTight", U::AutoTight},
               {"AutoLoose", U::AutoLoose}});
  using C = SubgraphCopyingStrategy;
  bindEnum<C>(
      module, "SubgraphCopyingStrategy",
      {{"OnEnterAndExit", C::OnEnterAndExit}, {"JustInTime", C::JustInTime}});
  bindEnum<IrSerializationFormat>(module, "IrSerializationFormat",
                                  {{"JSON", IrSerializationFormat::JSON}});
  using P = PatternsLevel;
  bindEnum<P>(module, "PatternsLevel",
              {{"NoPatterns", P::NoPatterns},
               {"Minimal", P::Minimal},
               {"Default", P::Default},
               {"All", P::All}});
}

void initSettingsEnums(py::module_ &module) {
  using E = ExecutionPhaseIOSchedule;
  bindEnum<E>(module, "ExecutionPhaseIOSchedule",
              {{"Preload", E::Preload}, {"OnDemand", E::OnDemand}});
  using X = ExecutionPhaseSchedule;
  bindEnum<X>(module, "ExecutionPhaseSchedule",
              {{"Interleaving", X::Interleaving},
               {"Batch", X::Batch},
               {"BatchClusteredIO", X::BatchClusteredIO}});
  using B = BatchSerializationTransformContext;
  bindEnum<B>(module, "BatchSerializationTransformContext",
              {{"Fwd", B::Fwd},
               {"Forward", B::Forward},
               {"Bwd", B::Bwd},
               {"Backward", B::Backward}});
  using M = BatchSerializationMethod;
  bindEnum<M>(module, "BatchSerializationMethod",
              {{"UnrollDynamic", M::UnrollDynamic},
               {"UnrollStatic", M::UnrollStatic},
               {"Loop", M::Loop}});
  using S = BatchSerializationBatchSchedule;
  bindEnum<S>(module, "BatchSerializationBatchSchedule",
              {{"Scheduler", S::Scheduler},
               {"Isomorphic", S::Isomorphic},
               {"OverlapOnIo", S::OverlapOnIo},
               {"OverlapOnCompute", S::OverlapOnCompute}});
  using A = AccumulateOuterFragmentSchedule;
  bindEnum<A>(module, "AccumulateOuterFragmentSchedule",
              {{"Scheduler", A::Scheduler},
               {"Serial", A::Serial},
               {"OverlapCycleOptimized", A::OverlapCycleOptimized},
               {"OverlapMemoryOptimized", A::OverlapMemoryOptimized}});
  using D = AutodiffStitchStrategy;
  bindEnum<D>(module, "AutodiffStitchStrategy",
              {{"RecomputeMinimal", D::RecomputeMinimal},
               {"RecomputeAllNonInputs", D::RecomputeAllNonInputs},
               {"AddFwdOutputs", D::AddFwdOutputs},
               {"SafeAddFwdOutputs", D::SafeAddFwdOutputs}});
  using G = GradientTensorTrackingMethod;
  bindEnum<G>(module, "GradientTensorTrackingMethod",
              {{"AllNonViewChangingGradientTensors",
                G::AllNonViewChangingGradientTensors},
               {"ConvAndMatmulGradients", G::ConvAndMatmulGradients},
               {"GradientsOfUserSpecifiedTensors",
                G::GradientsOfUserSpecifiedTensors}});
}

void initTensorEnums(py::module_ &module) {
  using A = AnchorReturnTypeId;
  bindEnum<A>(module, "AnchorReturnTypeId",
              {{"Final", A::Final},
               {"EveryN", A::EveryN},
               {"All", A::All},
               {"Sum", A::Sum}});
  bindEnum<TileSet>(module, "TileSet",
                    {{"Compute", TileSet::Compute}, {"IO", TileSet::IO}});
  using E = ExchangeStrategy;
  bindEnum<E>(module, "ExchangeStrategy",
              {{"JustInTime", E::JustInTime},
               {"OverlapInnerLoop", E::OverlapInnerLoop},
               {"OverlapLoops", E::OverlapLoops},
               {"OverlapStep", E::OverlapStep}});
  using R = ReplicatedStreamMode;
  bindEnum<R>(module, "ReplicatedStreamMode",
              {{"Replicate", R::Replicate}, {"Broadcast", R::Broadcast}});
  bindEnum<TensorStorage>(
      module, "TensorStorage",
      {{"OnChip", TensorStorage::OnChip}, {"OffChip", TensorStorage::OffChip}});
  using S = ReplicatedTensorSharding;
  bindEnum<S>(module, "ReplicatedTensorSharding",
              {{"Off", S::Off}, {"On", S::On}});
  using C = CommGroupType;
  bindEnum<C>(module, "CommGroupType",
              {{"All", C::All},
               {"Consecutive", C::Consecutive},
               {"Orthogonal", C::Orthogonal},
               {"Ungrouped", C::None}});
  using M = VariableRetrievalMode;
  bindEnum<M>(module, "VariableRetrievalMode",
              {{"OnePerGroup", M::OnePerGroup},
               {"AllReduceReplicas", M::AllReduceReplicas},
               {"AllReplicas", M::AllReplicas}});
  using T = DataType;
  bindEnum<T>(module, "DataType",
              {{"UINT8", T::UINT8},
               {"INT8", T::INT8},
               {"UINT16", T::UINT16},
               {"INT16", T::INT16},
               {"INT32", T::INT32},
               {"INT64", T::INT64},
               {"UINT32", T::UINT32},
               {"UINT64", T::UINT64},
               {"BOOL", T::BOOL},
               {"FLOAT", T::FLOAT},
               {"FLOAT16", T::FLOAT16},
               {"BFLOAT16", T::BFLOAT16},
               {"DOUBLE", T::DOUBLE},
               {"COMPLEX64", T::COMPLEX64},
               {"COMPLEX128", T::COMPLEX128},
               {"STRING", T::STRING},
               {"FLOAT8_143", T::FLOAT8_143},
               {"FLOAT8_152", T::FLOAT8_152},
               {"UNDEFINED", T::UNDEFINED}});
}

void initOperatorEnums(py::module_ &module) {
  bindEnum<InitType>(module, "InitType",
                     {{"NoInit", InitType::NoInit}, {"Zero", InitType::Zero}});
  using R = TensorRemapType;
  bindEnum<R>(module, "TensorRemapType",
              {{"FwdBwdReverse", R::FwdBwdReverse},
               {"FwdBwd", R::FwdBwd},
               {"Fwd", R::Fwd}});
  using S = ScatterReduction;
  bindEnum<S>(module, "ScatterReduction",
              {{"Sum", S::Sum},
               {"Max", S::Max},
               {"Min", S::Min},
               {"Mul", S::Mul},
               {"NoReduction", S::None}});
  using C = CollectiveOperator;
  bindEnum<C>(module, "_CollectiveOperator",
              {{"Add", C::Add},
               {"Mean", C::Mean},
               {"Mul", C::Mul},
               {"Min", C::Min},
               {"Max", C::Max},
               {"LogicalAnd", C::LogicalAnd},
               {"LogicalOr", C::LogicalOr},
               {"SquareAdd", C::SquareAdd},
               {"Local", C::Local}});
}

void initDeviceAndOptimizerEnums(py::module_ &module) {
  using D = DeviceType;
  bindEnum<D>(module, "DeviceType",
              {{"IpuModel", D::IpuModel},
               {"Cpu", D::Cpu},
               {"Ipu", D::Ipu},
               {"OfflineIpu", D::OfflineIpu},
               {"Sim", D::Sim}});
  using C = DeviceConnectionType;
  bindEnum<C>(
      module, "DeviceConnectionType",
      {{"Always", C::Always}, {"OnDemand", C::OnDemand}, {"Never", C::Never}});
  using S = SyncPattern;
  bindEnum<S>(module, "SyncPattern",
              {{"Full", S::Full},
               {"SinglePipeline", S::SinglePipeline},
               {"ReplicaAndLadder", S::ReplicaAndLadder}});
  using N = DeviceSelectionCriterion;
  bindEnum<N>(module, "DeviceSelectionCriterion",
              {{"First", N::First}, {"Random", N::Random}});
  using M = SGDAccumulatorAndMomentum;
  bindEnum<M>(module, "SGDAccumulatorAndMomentum",
              {{"Combined", M::Combined}, {"Separate", M::Separate}});
  using A = AdamMode;
  bindEnum<A>(module, "AdamMode",
              {{"Adam", A::Adam},
               {"AdamNoBias", A::AdamNoBias},
               {"AdaMax", A::AdaMax},
               {"Lamb", A::Lamb},
               {"LambNoBias", A::LambNoBias}});
  using V = AdaptiveMode;
  bindEnum<V>(module, "AdaptiveMode",
              {{"AdaGrad", V::AdaGrad},
               {"RMSProp", V::RMSProp},
               {"CenteredRMSProp", V::CenteredRMSProp},
               {"AdaDelta", V::AdaDelta}});
  using W = WeightDecayMode;
  bindEnum<W>(module, "WeightDecayMode",
              {{"Decay", W::Decay}, {"L2Regularization", W::L2Regularization}});
}

} // namespace

void initEnums(py::module_ &module) {
  initSessionEnums(module);
  initSettingsEnums(module);
  initTensorEnums(module);
  initOperatorEnums(module);
  initDeviceAndOptimizerEnums(module);
}

} // namespace popart::python
