#include "Plan.hpp"

#include <poplar/exceptions.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace gcl::internal {

using poplar::invalid_option;
using poputil::poplibs_error;
using support::requireUser;
using Method = poplar::internal::CollectiveMethod;
using Operator = poplar::internal::CollectiveOperator;

namespace {

// In the order of CollectiveMethod.
constexpr std::array<std::string_view, 6> methods{"auto",
                                                  "clockwise_ring",
                                                  "anticlockwise_ring",
                                                  "bidirectional_ring_pair",
                                                  "meet_in_middle_ring",
                                                  "quad_directional_ring"};
constexpr std::array<std::string_view, 2> booleans{"true", "false"};
constexpr std::array<std::string_view, 3> choices{"true", "false", "auto"};

// The position of the value among those allowed.
std::size_t chosen(std::string_view option, std::string_view value,
                   std::span<const std::string_view> allowed) {
  const auto found = std::find(allowed.begin(), allowed.end(), value);
  requireUser<invalid_option>(
      found != allowed.end(),
      "Invalid value '{}' for option '{}': Not one of the values: ['{}']",
      value, option, fmt::join(allowed, "', '"));
  return static_cast<std::size_t>(found - allowed.begin());
}

void requireInteger(std::string_view option, std::string_view value) {
  std::uint64_t number = 0;
  const char *end = value.data() + value.size();
  const auto result = std::from_chars(value.data(), end, number);
  requireUser<invalid_option>(
      result.ec == std::errc() && result.ptr == end,
      "Invalid value '{}' for option '{}': Not a valid integer", value, option);
}

// The types of elements that an operator takes.
struct Types {
  std::string_view name;
  bool (*contains)(const poplar::Type &type);
};
constexpr Types reals{"FLOAT and HALF", [](const poplar::Type &type) {
                        return type == poplar::FLOAT || type == poplar::HALF;
                      }};
constexpr Types numbers{"numbers", [](const poplar::Type &type) {
                          return reals.contains(type) || type == poplar::INT ||
                                 type == poplar::UNSIGNED_INT;
                        }};
constexpr Types truths{
    "BOOL", [](const poplar::Type &type) { return type == poplar::BOOL; }};
constexpr Types anything{"anything", [](const poplar::Type &) { return true; }};

struct OperatorRow {
  CollectiveOperator op;
  Operator internal;
  std::string_view name;
  Types takes;
};
constexpr OperatorRow operators[] = {
    {CollectiveOperator::ADD, Operator::Add, "ADD", numbers},
    {CollectiveOperator::MEAN, Operator::Mean, "MEAN", reals},
    {CollectiveOperator::MUL, Operator::Mul, "MUL", numbers},
    {CollectiveOperator::MIN, Operator::Min, "MIN", numbers},
    {CollectiveOperator::MAX, Operator::Max, "MAX", numbers},
    {CollectiveOperator::LOGICAL_AND, Operator::LogicalAnd, "LOGICAL_AND",
     truths},
    {CollectiveOperator::LOGICAL_OR, Operator::LogicalOr, "LOGICAL_OR", truths},
    {CollectiveOperator::SQUARE_ADD, Operator::SquareAdd, "SQUARE_ADD",
     numbers},
    {CollectiveOperator::LOCAL, Operator::Local, "LOCAL", anything},
};

} // namespace

Method methodOf(const poplar::OptionFlags &options) {
  Method method = Method::Auto;
  for (const auto &[name, value] : options) {
    if (name == "method") {
      method = static_cast<Method>(chosen(name, value, methods));
    } else if (name == "useReplicatedImplementation") {
      chosen(name, value, booleans);
    } else if (name == "useSynclessCollectives") {
      chosen(name, value, choices);
    } else if (name == "maxBytesPerTile") {
      requireInteger(name, value);
    } else {
      requireUser<invalid_option>(false, "Unrecognised option '{}'", name);
    }
  }
  return method;
}

std::vector<std::vector<unsigned>> groupsOf(unsigned replicas,
                                            const CommGroup &group) {
  const bool isAll = group.type() == CommGroupType::ALL;
  const unsigned size = isAll ? replicas : group.size();
  requireUser<poplibs_error>(
      size > 0 && replicas % size == 0,
      "[gcl] groups of {} replicas given; the graph has {}, which groups must "
      "divide",
      size, replicas);
  const unsigned natural =
      group.type() == CommGroupType::ORTHOGONAL ? replicas / size : 1;
  const unsigned stride =
      isAll || group.stride() == 0 ? natural : group.stride();
  requireUser<poplibs_error>(
      replicas / size % stride == 0,
      "[gcl] groups of {} replicas, {} apart, given; they do not divide the "
      "graph's {}",
      size, stride, replicas);
  std::vector<std::vector<unsigned>> groups;
  for (unsigned block = 0; block < replicas; block += size * stride) {
    for (unsigned first = block; first < block + stride; ++first) {
      auto &members = groups.emplace_back();
      for (unsigned i = 0; i < size; ++i) {
        members.push_back(first + i * stride);
      }
    }
  }
  return groups;
}

Operator operatorOf(CollectiveOperator op, const poplar::Type &type,
                    const char *function) {
  const auto *row =
      std::find_if(std::begin(operators), std::end(operators),
                   [&](const OperatorRow &row) { return row.op == op; });
  support::requireInternal(row != std::end(operators),
                           "operator {} is not in the table",
                           static_cast<int>(op));
  requireUser<poplibs_error>(
      row->takes.contains(type), "[gcl::{}] {} of {} given; it takes {}",
      function, row->name, type.toString().cloneAsString(), row->takes.name);
  return row->internal;
}

} // namespace gcl::internal
