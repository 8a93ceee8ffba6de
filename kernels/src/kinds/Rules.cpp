#include "Rules.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace kernels {

void requireInputCount(std::string_view kind,
                       std::span<const TensorType> inputs, std::size_t count) {
  require(inputs.size() == count, "[{}] takes {} inputs, given {}", kind, count,
          inputs.size());
}

void requireRank(std::string_view kind, std::string_view operand,
                 const TensorType &tensor, std::size_t rank) {
  require(tensor.shape.size() == rank,
          "[{}] {} has shape {}; its rank must be {}", kind, operand,
          support::toString(tensor.shape), rank);
}

void requireShape(std::string_view kind, std::string_view operand,
                  const TensorType &tensor, const Shape &shape) {
  require(tensor.shape == shape, "[{}] {} has shape {}; it must be {}", kind,
          operand, support::toString(tensor.shape), support::toString(shape));
}

void requireType(std::string_view kind, std::string_view operand,
                 const TensorType &tensor,
                 std::initializer_list<DataType> allowed) {
  if (std::find(allowed.begin(), allowed.end(), tensor.type) == allowed.end()) {
    std::vector<std::string_view> names;
    for (DataType type : allowed) {
      names.push_back(support::toString(type));
    }
    require(false, "[{}] {} has type {}; allowed: {}", kind, operand,
            support::toString(tensor.type), fmt::join(names, ", "));
  }
}

void requireFloating(std::string_view kind, std::string_view operand,
                     const TensorType &tensor) {
  requireType(kind, operand, tensor, {DataType::Float, DataType::Half});
}

void requireScalar(std::string_view kind, std::string_view operand,
                   const TensorType &tensor) {
  requireType(kind, operand, tensor, {DataType::Float});
  require(support::elementCount(tensor.shape) == 1,
          "[{}] {} has shape {}; it must have one element", kind, operand,
          support::toString(tensor.shape));
}

DataType productType(std::string_view kind, const Attributes &attributes,
                     DataType operands) {
  if (!attributes.has("outType")) {
    return operands;
  }
  const auto type = static_cast<DataType>(attributes.getInt("outType"));
  requireFloating(kind, "the result", {type, {}});
  return type;
}

const std::string &
requireChoice(std::string_view kind, const Attributes &attributes,
              std::string_view name,
              std::initializer_list<std::string_view> allowed) {
  const std::string &value = attributes.getString(name);
  require(std::find(allowed.begin(), allowed.end(), value) != allowed.end(),
          "[{}] {} is \"{}\"; allowed: \"{}\"", kind, name, value,
          fmt::join(allowed, "\", \""));
  return value;
}

const Attributes::Ints &requireInts(std::string_view kind,
                                    const Attributes &attributes,
                                    std::string_view name, std::size_t count,
                                    std::int64_t least) {
  const auto &values = attributes.getInts(name);
  require(values.size() == count, "[{}] {} has {} numbers; it must have {}",
          kind, name, values.size(), count);
  for (auto value : values) {
    require(value >= least, "[{}] {} is {}; each must be at least {}", kind,
            name, support::toString(values), least);
  }
  return values;
}

} // namespace kernels
