// Connecting a step's arrays, or its callbacks, to the engine's streams.
#include <session/StepBinding.hpp>

#include <lowering/HostTensors.hpp>
#include <lowering/Types.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Half.hpp>
#include <support/Logging.hpp>

#include <algorithm>
#include <cstring>
#include <random>

namespace popart {
namespace {

bool isWide(DataType type) {
  return type == DataType::INT64 || type == DataType::UINT64;
}

bool isFloat8(DataType type) {
  return type == DataType::FLOAT8_143 || type == DataType::FLOAT8_152;
}

// On the device 64-bit integers have 32 bits; the host has no type for FLOAT8.
bool isTaken(DataType device, DataType host) {
  if (isFloat8(device) && host == DataType::UINT8) {
    return true;
  }
  auto narrow = [](DataType type) {
    return type == DataType::INT64    ? DataType::INT32
           : type == DataType::UINT64 ? DataType::UINT32
                                      : type;
  };
  return narrow(device) == narrow(host);
}

void narrow(const void *from, std::int64_t count, std::int32_t *to) {
  const auto *wide = static_cast<const std::int64_t *>(from);
  std::transform(wide, wide + count, to, [](std::int64_t value) {
    return static_cast<std::int32_t>(value);
  });
}

// Random numbers for floating point, zeros for everything else.
std::vector<char> syntheticData(SyntheticDataMode mode,
                                const TensorInfo &info) {
  std::vector<char> bytes(deviceBytes(info));
  bool isHalf = info.dataType() == DataType::FLOAT16;
  if (mode == SyntheticDataMode::Zeros ||
      (!isHalf && info.dataType() != DataType::FLOAT)) {
    return bytes;
  }
  std::mt19937 random;
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform;
  std::size_t width = isHalf ? sizeof(std::uint16_t) : sizeof(float);
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    float value = mode == SyntheticDataMode::RandomNormal ? normal(random)
                                                          : uniform(random);
    if (isHalf) {
      std::uint16_t bits = support::floatToHalfBits(value);
      std::memcpy(bytes.data() + at, &bits, width);
    } else {
      std::memcpy(bytes.data() + at, &value, width);
    }
  }
  return bytes;
}

} // namespace

Shape anchorShape(const Ir &ir, const TensorId &id, const TensorInfo &info) {
  const AnchorReturnType &type = ir.dataFlow.art(id);
  bool isOnce = type.id() == AnchorReturnTypeId::Final ||
                type.id() == AnchorReturnTypeId::Sum;
  Shape shape;
  if (!isOnce) {
    shape = {std::int64_t{ir.dataFlow.batchesPerStep() / type.rp()},
             ir.sessionOptions.getAccumulationFactor()};
  }
  shape.push_back(ir.sessionOptions.getReplicationFactor());
  std::erase(shape, 1);
  shape.insert(shape.end(), info.shape().begin(), info.shape().end());
  return shape;
}

StepBinding::StepBinding(const Ir &ir, const Graph &graph)
    : mode_(ir.sessionOptions.syntheticDataMode) {
  std::int64_t batches = ir.dataFlow.batchesPerStep();
  std::int64_t factor = ir.sessionOptions.getAccumulationFactor();
  std::int64_t replicas = ir.sessionOptions.getReplicationFactor();
  breakdown_ = fmt::format("{} batches per step, accumulation factor {}, "
                           "replication factor {}",
                           batches, factor, replicas);
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    if (tensor.type == TensorType::Stream &&
        (!tensor.consumers.empty() || ir.dataFlow.isAnchored(id))) {
      bool isBroadcast =
          tensor.replicatedStreamMode == ReplicatedStreamMode::Broadcast;
      std::int64_t transfers = batches * factor * (isBroadcast ? 1 : replicas);
      streams_.push_back({id,
                          id,
                          tensor.info,
                          tensor.info.nelms() * transfers,
                          true,
                          isBroadcast,
                          {},
                          {}});
    }
    if (ir.dataFlow.isAnchored(id)) {
      TensorInfo whole(tensor.info.dataType(),
                       anchorShape(ir, id, tensor.info));
      streams_.push_back({id,
                          anchorHandle(id),
                          tensor.info,
                          whole.nelms(),
                          false,
                          false,
                          {},
                          {}});
    }
  }
}

void StepBinding::connect(poplar::Engine &engine, IStepIO &stepIO) {
  auto *arrays = dynamic_cast<StepIO *>(&stepIO);
  current_ = &stepIO;
  for (Stream &stream : streams_) {
    if (userHandles_.count(stream.handle) > 0) {
      continue;
    }
    if (mode_ != SyntheticDataMode::Off) {
      connectSynthetic(engine, stream);
    } else if (arrays) {
      connectArray(engine, stream,
                   stream.isInput ? arrays->findInput(stream.id)
                                  : arrays->findOutput(stream.id));
    } else {
      connectCallback(engine, stream);
    }
  }
}

void StepBinding::connectArray(poplar::Engine &engine, Stream &stream,
                               IArray *array) {
  const char *what = stream.isInput ? "input" : "output";
  support::requireUser<error>(array != nullptr,
                              "[StepIO] no {} was given for tensor '{}'", what,
                              stream.id);
  auto given = static_cast<std::int64_t>(array->nelms());
  support::requireUser<error>(
      given == stream.elements || !current_->runtimeAssertsEnabled(),
      "Unexpected number of {} elements for Tensor {}. Expected {}, but "
      "received {}. One transfer has {} elements; {}",
      what, stream.id, stream.elements, given, stream.info.nelms(), breakdown_);
  support::requireUser<error>(
      isTaken(stream.info.dataType(), array->dataType()),
      "Type discrepancy for tensor {}. User provided: {} and expected: {}",
      stream.id, TensorInfo(array->dataType(), {}).data_type(),
      stream.info.data_type());
  char *data = static_cast<char *>(array->data());
  if (isWide(array->dataType())) {
    warnOfNarrowing(stream);
    stream.narrow.resize(static_cast<std::size_t>(given));
    if (stream.isInput) {
      narrow(data, given, stream.narrow.data());
    }
    data = reinterpret_cast<char *>(stream.narrow.data());
  }
  engine.connectStream(
      stream.handle, data,
      data + deviceBytes(TensorInfo(stream.info.dataType(), {given})));
}

void StepBinding::warnOfNarrowing(const Stream &stream) {
  constexpr support::Logger logger(support::LogChannel::Popart, "devicex");
  if (!hasWarned_) {
    logger.warn("64-bit integers of tensor {} are converted to 32 bits",
                stream.id);
  }
  hasWarned_ = true;
}

void StepBinding::connectCallback(poplar::Engine &engine,
                                  const Stream &stream) {
  std::int64_t elements = stream.info.nelms();
  std::size_t bytes = deviceBytes(stream.info);
  const TensorId &id = stream.id;
  bool isBroadcast = stream.isBroadcast;
  if (stream.isInput) {
    engine.connectStreamToCallback(
        stream.handle, [this, id, elements, bytes, isBroadcast](void *buffer) {
          ConstVoidData data = current_->in(id, elements, false, isBroadcast);
          if (isWide(data.info.dataType())) {
            narrow(data.data, elements, static_cast<std::int32_t *>(buffer));
          } else {
            std::memcpy(buffer, data.data, bytes);
          }
          current_->inComplete(id, elements, isBroadcast);
        });
    return;
  }
  engine.connectStreamToCallback(
      stream.handle, [this, id, elements, bytes](void *buffer) {
        MutableVoidData data = current_->out(id, elements);
        if (isWide(data.info.dataType())) {
          const auto *values = static_cast<std::int32_t *>(buffer);
          std::copy(values, values + elements,
                    static_cast<std::int64_t *>(data.data));
        } else {
          std::memcpy(data.data, buffer, bytes);
        }
        current_->outComplete(id);
      });
}

// Every micro-batch has the same data; what comes back is dropped.
void StepBinding::connectSynthetic(poplar::Engine &engine, Stream &stream) {
  if (stream.synthetic.empty()) {
    stream.synthetic = syntheticData(mode_, stream.info);
  }
  char *begin = stream.synthetic.data();
  engine.connectStream(stream.handle, begin, begin + stream.synthetic.size());
}

void StepBinding::finish(IStepIO &stepIO) {
  auto *arrays = dynamic_cast<StepIO *>(&stepIO);
  for (const Stream &stream : streams_) {
    IArray *array = arrays && !stream.isInput && !stream.narrow.empty()
                        ? arrays->findOutput(stream.id)
                        : nullptr;
    if (array && isWide(array->dataType())) {
      std::copy(stream.narrow.begin(), stream.narrow.end(),
                static_cast<std::int64_t *>(array->data()));
    }
  }
}

} // namespace popart
