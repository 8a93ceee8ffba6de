// The attributes by which models say how products are serialised.
#include <ops/SerializedMatMul.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace popart {
namespace {

constexpr const char *modeName = "__serialize_matmul_mode";
constexpr const char *factorName = "__serialize_matmul_factor";
constexpr const char *precisionName = "__serialize_matmul_precision";

// PopART's names, in the order of MatMulDim.
constexpr std::array<const char *, 3> modes = {"input_channels", "reducing_dim",
                                               "output_channels"};

} // namespace

std::optional<MatMulSerialization>
serializationOf(const Attributes &attributes) {
  std::string mode = attributes.getString(modeName, "none");
  if (mode == "none") {
    return std::nullopt;
  }
  const auto *found = std::find(modes.begin(), modes.end(), mode);
  support::requireUser<error>(
      found != modes.end(),
      "attribute {} must be 'input_channels', 'reducing_dim', "
      "'output_channels' or 'none', but it is '{}'",
      modeName, mode);
  return MatMulSerialization{static_cast<MatMulDim>(found - modes.begin()),
                             attributes.getInt(factorName, 0),
                             attributes.getInt(precisionName, 0) != 0};
}

void removeSerialization(Attributes &attributes) {
  attributes.set(modeName, std::string("none"));
}

Attributes withSerializationOf(const Attributes &forward,
                               const MatMulDim (&dims)[3],
                               Attributes attributes) {
  if (auto serialization = serializationOf(forward)) {
    MatMulDim dim = dims[static_cast<std::size_t>(serialization->dim)];
    attributes
        .set(modeName, std::string(modes.at(static_cast<std::size_t>(dim))))
        .set(factorName, serialization->factor)
        .set(precisionName, Attributes::Int{serialization->keepsPrecision});
  }
  return attributes;
}

} // namespace popart
