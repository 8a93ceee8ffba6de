// PackedDataBlock of ai.graphcore: what the Builder takes. Models that have it
// are read as the operations it stands for (onnx/PackedData.cpp).
#include <ops/Common.hpp>
#include <ops/List.hpp>

namespace popart {
namespace {

std::vector<TensorInfo> inferPackedDataBlock(const Op &op) {
  requireOp(op, false, "is an operator of ONNX models only");
  return {};
}

} // namespace

std::vector<OpRule> packedDataBlockRules() {
  using Ints = Attributes::Ints;
  return {{.domain = "ai.graphcore",
           .type = "PackedDataBlock",
           .schema = {.types = types::floats(),
                      .attributes = {{"maxSequenceLengths", Ints{}, true},
                                     {"resultSize", Attributes::Int{0}, true},
                                     {"callbackBatchSize", Attributes::Int{0},
                                      true},
                                     {.name = "callback",
                                      .fallback = {},
                                      .isRequired = true,
                                      .isGraph = true}}},
           .infer = inferPackedDataBlock}};
}

} // namespace popart
