// "random" and "dropout": numbers that follow from a seed, a modifier and the
// position of the element alone. "nextSeed": what operations without a seed
// draw from.
#include "Kinds.hpp"

#include "Reference.hpp"
#include "Rules.hpp"

#include "fast/FastKernels.hpp"
#include "random/Parameters.hpp"
#include "random/SeedState.hpp"

#include <cstring>
#include <type_traits>

namespace kernels {

namespace {

void requireSeed(std::string_view kind, const TensorType &seed) {
  requireType(kind, "seed", seed, {DataType::UnsignedInt});
  requireShape(kind, "seed", seed, {2});
}

// Names, how many parameters each takes, and whether numbers may be integers.
struct Row {
  std::string_view name;
  std::size_t parameters;
  bool isIntegerAllowed;
};
constexpr Row rows[] = {
    {"uniform", 2, true},          {"normal", 2, false},
    {"truncatedNormal", 3, false}, {"logUniform", 2, true},
    {"bernoulli", 1, true},        {"bits", 0, false},
};

const Row &rowOf(const Attributes &attributes) {
  const auto &name = requireChoice("random", attributes, "distribution",
                                   {"uniform", "normal", "truncatedNormal",
                                    "logUniform", "bernoulli", "bits"});
  const Row *row = rows;
  while (row->name != name) {
    ++row;
  }
  return *row;
}

void requireParameters(std::string_view name, const Attributes::Floats &p) {
  if (name == "uniform" || name == "logUniform") {
    require(p[0] <= p[1], "[random] {} from {} to {}: the range is empty", name,
            p[0], p[1]);
  }
  if (name == "logUniform") {
    require(p[0] > 0, "[random] logUniform from {}: it must be above 0", p[0]);
  }
  if (name == "bernoulli") {
    require(p[0] >= 0 && p[0] <= 1,
            "[random] probability {}: it must be in [0, 1]", p[0]);
  }
  if (name == "normal" || name == "truncatedNormal") {
    require(p[1] >= 0,
            "[random] standard deviation {}: it must not be negative", p[1]);
  }
  if (name == "truncatedNormal") {
    require(p[2] > 0, "[random] alpha {}: it must be above 0", p[2]);
  }
}

std::vector<TensorType> inferRandom(const Attributes &attributes,
                                    std::span<const TensorType> inputs) {
  requireInputCount("random", inputs, 1);
  requireSeed("random", inputs[0]);
  const Row &row = rowOf(attributes);
  const TensorType result{static_cast<DataType>(attributes.getInt("type")),
                          attributes.getInts("shape")};
  if (row.name == "bits") {
    requireType("random", "the result", result, {DataType::UnsignedInt});
  } else if (row.isIntegerAllowed) {
    requireType("random", "the result", result,
                {DataType::Float, DataType::Half, DataType::Int});
  } else {
    requireFloating("random", "the result", result);
  }
  const auto &parameters = attributes.getFloats("parameters");
  require(parameters.size() == row.parameters,
          "[random] {} takes {} parameters; {} given", row.name, row.parameters,
          parameters.size());
  requireParameters(row.name, parameters);
  return {result};
}

random::Stream streamOf(const ReferenceCall &call, std::size_t input) {
  std::uint32_t seed[2];
  readWords(inputView(call, input), seed);
  return random::streamOf(call.signature.attributes, seed);
}

void referenceRandom(const ReferenceCall &call) {
  const View y = outputView(call, 0);
  const random::Stream stream = streamOf(call, 0);
  const auto distribution =
      random::distributionOf(call.signature.attributes, y.type());
  std::visit(
      [&](const auto &draw) {
        std::int64_t element = 0;
        forEachIndex(y.shape(), [&](std::span<const std::int64_t> index) {
          const auto value = draw(random::wordOf(stream, element++));
          if constexpr (std::is_integral_v<decltype(value)>) {
            std::memcpy(y.at(index), &value, sizeof value);
          } else {
            y.store(index, y.type() == DataType::Int
                               ? static_cast<std::int32_t>(value)
                               : value);
          }
        });
      },
      distribution);
}

std::vector<TensorType> inferDropout(const Attributes &attributes,
                                     std::span<const TensorType> inputs) {
  requireInputCount("dropout", inputs, 2);
  requireFloating("dropout", "x", inputs[0]);
  requireSeed("dropout", inputs[1]);
  const double keep = attributes.getFloat("keepProbability");
  require(keep >= 0 && keep <= 1,
          "[dropout] keepProbability {}: it must be in [0, 1]", keep);
  return {inputs[0]};
}

// y = x * scale where the element is kept, else 0.
void referenceDropout(const ReferenceCall &call) {
  const Attributes &attributes = call.signature.attributes;
  const View x = inputView(call, 0);
  const View y = outputView(call, 0);
  const random::Stream stream = streamOf(call, 1);
  const auto kept = random::bernoulliOf(attributes.getFloat("keepProbability"));
  const auto scale = static_cast<float>(attributes.getFloat("scale"));
  std::int64_t element = 0;
  forEachIndex(y.shape(), [&](std::span<const std::int64_t> index) {
    const bool isKept = kept.isHit(random::wordOf(stream, element++));
    y.store(index, isKept ? static_cast<float>(x.load(index)) * scale : 0.0f);
  });
}

constexpr InPlacePair dropoutInPlace[] = {{0, 0}};

std::vector<TensorType> inferNextSeed(const Attributes &,
                                      std::span<const TensorType> inputs) {
  requireInputCount("nextSeed", inputs, 2);
  requireType("nextSeed", "state", inputs[0], {DataType::UnsignedInt});
  requireShape("nextSeed", "state", inputs[0], {4});
  requireType("nextSeed", "replica", inputs[1], {DataType::UnsignedInt});
  require(support::elementCount(inputs[1].shape) == 1,
          "[nextSeed] replica has shape {}; it must have one element",
          support::toString(inputs[1].shape));
  return {inputs[0], {DataType::UnsignedInt, {2}}};
}

void referenceNextSeed(const ReferenceCall &call) {
  random::Words state;
  std::uint32_t replica = 0;
  readWords(inputView(call, 0), state.word);
  readWords(inputView(call, 1), &replica);
  const auto tile =
      static_cast<std::uint32_t>(call.signature.attributes.getInt("tile"));
  const random::Words seed = random::nextSeed(state, tile, replica);
  writeWords(outputView(call, 0), state.word);
  writeWords(outputView(call, 1), seed.word);
}

constexpr InPlacePair nextSeedInPlace[] = {{0, 0}};

} // namespace

const Kind &randomKind() {
  static const Kind kind{"random", inferRandom, referenceRandom,
                         randomKernels()};
  return kind;
}

const Kind &dropoutKind() {
  static const Kind kind{"dropout", inferDropout, referenceDropout,
                         dropoutKernels(), dropoutInPlace};
  return kind;
}

const Kind &nextSeedKind() {
  static const Kind kind{
      "nextSeed", inferNextSeed, referenceNextSeed, {}, nextSeedInPlace};
  return kind;
}

} // namespace kernels
