// Checks, axes and broadcasting shared by the operations' rules.
#include <ops/Common.hpp>

#include <ops/OpRule.hpp>

#include <popart/graph.hpp>
#include <support/Half.hpp>
#include <support/Text.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace popart {
namespace {

const Tensor &constantInput(const Op &op, InIndex input) {
  const Tensor &tensor =
      op.getGraph().getTensor(op.inputs.at(static_cast<std::size_t>(input)));
  requireOp(op, tensor.type == TensorType::Const,
            "input {} ('{}') must be a constant", input, tensor.id);
  return tensor;
}

template <typename T> std::vector<T> elementsOf(const Tensor &tensor) {
  std::vector<T> elements(tensor.data.size() / sizeof(T));
  std::memcpy(elements.data(), tensor.data.data(), tensor.data.size());
  return elements;
}

} // namespace

const std::string &meaningOf(const Op &op) {
  return op.builtInRule()->type;
}

void requireInputCount(const Op &op, int least, int most) {
  int given = static_cast<int>(op.inputs.size());
  requireOp(op, given <= most, "takes at most {} inputs, given {}", most,
            given);
  for (int i = 0; i < least; ++i) {
    requireOp(op, op.hasInput(i), "needs input {}", i);
  }
}

void requireRank(const Op &op, InIndex input, Rank rank) {
  requireOp(op, op.inInfo(input).rank() == rank,
            "input {} has shape {}; its rank must be {}", input,
            support::toString(op.inShape(input)), rank);
}

bool isFloat(DataType type) {
  return type == DataType::FLOAT || type == DataType::FLOAT16;
}

bool isRead(const Op &op, OutIndex output) {
  const TensorId &id = op.outputs.at(static_cast<std::size_t>(output));
  const auto &returned = op.getGraph().getOutputIds();
  return !op.getGraph().getTensor(id).consumers.empty() ||
         std::find(returned.begin(), returned.end(), id) != returned.end();
}

void requireFloat(const Op &op, InIndex input) {
  requireOp(op, isFloat(op.inInfo(input).dataType()),
            "input {} is {}; it must be FLOAT or FLOAT16", input,
            op.inInfo(input).data_type());
}

Shape broadcastShapes(const Op &op, const Shape &a, const Shape &b) {
  const Shape &longer = a.size() >= b.size() ? a : b;
  const Shape &shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  std::size_t shift = longer.size() - shorter.size();
  for (std::size_t d = 0; d < shorter.size(); ++d) {
    std::int64_t &dim = result[shift + d];
    requireOp(op, dim == shorter[d] || dim == 1 || shorter[d] == 1,
              "shapes {} and {} do not broadcast", support::toString(a),
              support::toString(b));
    dim = dim == 1 ? shorter[d] : dim;
  }
  return result;
}

Shape broadcastInputs(const Op &op) {
  Shape shape;
  for (InIndex i = 0; i < static_cast<InIndex>(op.inputs.size()); ++i) {
    shape = broadcastShapes(op, shape, op.inShape(i));
  }
  return shape;
}

std::int64_t normaliseAxis(const Op &op, std::int64_t axis, Rank rank) {
  requireOp(op, -rank <= axis && axis < rank,
            "axis {} is outside a tensor of rank {}", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

ReductionType reductionOf(const Op &op) {
  std::string name = op.attributes.getString("reduction", "");
  if (name.empty()) {
    auto number = op.attributes.getInt(
        "reduction", static_cast<std::int64_t>(ReductionType::Mean));
    requireOp(op, 0 <= number && number <= 2, "reduction {} is not 0, 1 or 2",
              number);
    return static_cast<ReductionType>(number);
  }
  name = support::lowerCase(name);
  requireOp(op,
            name == "sum" || name == "mean" || name == "none" ||
                name == "noreduction",
            "reduction '{}' is not Sum, Mean or NoReduction", name);
  return name == "sum"    ? ReductionType::Sum
         : name == "mean" ? ReductionType::Mean
                          : ReductionType::NoReduction;
}

DataType typeOfOnnx(const Op &op, std::int64_t number) {
  constexpr DataType types[] = {
      DataType::UNDEFINED,  DataType::FLOAT,    DataType::UINT8,
      DataType::INT8,       DataType::UINT16,   DataType::INT16,
      DataType::INT32,      DataType::INT64,    DataType::STRING,
      DataType::BOOL,       DataType::FLOAT16,  DataType::DOUBLE,
      DataType::UINT32,     DataType::UINT64,   DataType::COMPLEX64,
      DataType::COMPLEX128, DataType::BFLOAT16,
  };
  requireOp(op, 0 < number && number < std::ssize(types),
            "{} is no data type of ONNX; they are 1 to {}", number,
            std::ssize(types) - 1);
  return types[number];
}

Attributes::Ints intsOf(const Op &op, const std::string &name, int count,
                        std::int64_t fallback) {
  Attributes::Ints values = op.attributes.getInts(
      name, Attributes::Ints(static_cast<std::size_t>(count), fallback));
  requireOp(op, values.size() == static_cast<std::size_t>(count),
            "attribute {} has {} values; it must have {}", name, values.size(),
            count);
  return values;
}

Attributes::Ints constantInts(const Op &op, InIndex input) {
  const Tensor &tensor = constantInput(op, input);
  if (tensor.info.dataType() == DataType::INT32) {
    auto elements = elementsOf<std::int32_t>(tensor);
    return {elements.begin(), elements.end()};
  }
  requireOp(op, tensor.info.dataType() == DataType::INT64,
            "input {} is {}; it must be INT64 or INT32", input,
            tensor.info.data_type());
  return elementsOf<std::int64_t>(tensor);
}

std::vector<double> constantNumbers(const Op &op, InIndex input) {
  const Tensor &tensor = constantInput(op, input);
  requireOp(op, tensor.info.dataType() == DataType::FLOAT,
            "input {} is {}; it must be FLOAT", input, tensor.info.data_type());
  auto elements = elementsOf<float>(tensor);
  return {elements.begin(), elements.end()};
}

double constantScalar(const Op &op, InIndex input) {
  const Tensor &tensor = constantInput(op, input);
  return scalarOf(op, tensor.info, tensor.data.bytes());
}

double scalarOf(const Op &op, const TensorInfo &info,
                const std::vector<char> &data) {
  requireOp(op, info.nelms() == 1,
            "a constant has shape {}; it must have one element",
            support::toString(info.shape()));
  try {
    return numbersOf(info, data)[0];
  } catch (const error &failure) {
    throw error("[" + op.str() + "] " + failure.what());
  }
}

std::vector<double> numbersOf(const TensorInfo &info,
                              const std::vector<char> &data) {
  auto as = [&]<typename T>(T) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < info.nelms(); ++i) {
      T value;
      std::memcpy(&value, data.data() + static_cast<std::size_t>(i) * sizeof(T),
                  sizeof(T));
      numbers.push_back(static_cast<double>(value));
    }
    return numbers;
  };
  switch (info.dataType()) {
  case DataType::FLOAT:
    return as(float());
  case DataType::FLOAT16: {
    std::vector<double> numbers = as(std::uint16_t());
    for (double &number : numbers) {
      number = static_cast<double>(
          support::halfBitsToFloat(static_cast<std::uint16_t>(number)));
    }
    return numbers;
  }
  case DataType::DOUBLE:
    return as(double());
  case DataType::INT8:
    return as(std::int8_t());
  case DataType::UINT8:
  case DataType::BOOL:
    return as(std::uint8_t());
  case DataType::INT16:
    return as(std::int16_t());
  case DataType::UINT16:
    return as(std::uint16_t());
  case DataType::INT32:
    return as(std::int32_t());
  case DataType::UINT32:
    return as(std::uint32_t());
  case DataType::UINT64:
    return as(std::uint64_t());
  case DataType::INT64:
    return as(std::int64_t());
  default:
    throw error(
        fmt::format("a constant is {}; it must be a number", info.data_type()));
  }
}

} // namespace popart
