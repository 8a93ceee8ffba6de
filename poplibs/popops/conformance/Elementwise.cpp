// Element-wise functions for the conformance tests: for each row of popops'
// table the function itself, and its forms InPlace and WithOutput; expressions.
#include "Libraries.hpp"

#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>

#include <functional>
#include <stdexcept>

namespace conformance {
namespace {

using poplar::Tensor;
using poplar::Type;

// Calls use(constant) with the parameter as the host type that stands for a
// type of tensors.
template <typename Use>
void withConstant(const Call &call, const std::string &name, const Type &type,
                  const Use &use) {
  if (type == poplar::FLOAT || type == poplar::HALF) {
    return use(call.get<float>(name));
  }
  if (type == poplar::INT) {
    return use(call.get<int>(name));
  }
  if (type == poplar::UNSIGNED_INT) {
    return use(call.get<unsigned>(name));
  }
  if (type == poplar::LONGLONG) {
    return use(static_cast<long long>(call.get<std::int64_t>(name)));
  }
  throw std::invalid_argument("no constants of this type");
}

// Calls use(a, b), either of which may be a constant of the other's type.
template <typename Use> void withOperands(Call &call, const Use &use) {
  if (!call.hasTensor("a")) {
    const auto &b = call.tensor("b");
    withConstant(call, "a", b.elementType(), [&](auto a) { use(a, b); });
  } else if (!call.hasTensor("b")) {
    const auto &a = call.tensor("a");
    withConstant(call, "b", a.elementType(), [&](auto b) { use(a, b); });
  } else {
    use(call.tensor("a"), call.tensor("b"));
  }
}

void addUnary(Operations &operations) {
#define POPOPS_UNARY_TEST(function, Class, ENUMERATOR)                         \
  operations["popops." #function] = [](Call &call) {                           \
    popops::addCodelets(call.graph());                                         \
    call.output("out", popops::function(call.graph(), call.tensor("a"),        \
                                        call.program(), "", call.options()));  \
  };                                                                           \
  operations["popops." #function "WithOutput"] = [](Call &call) {              \
    popops::addCodelets(call.graph());                                         \
    popops::function##WithOutput(call.graph(), call.tensor("a"),               \
                                 call.tensor("out"), call.program());          \
    call.output("out", call.tensor("out"));                                    \
  };
#define POPOPS_UNARY(function, Class, ENUMERATOR)                              \
  POPOPS_UNARY_TEST(function, Class, ENUMERATOR)                               \
  operations["popops." #function "InPlace"] = [](Call &call) {                 \
    popops::addCodelets(call.graph());                                         \
    popops::function##InPlace(call.graph(), call.tensor("a"), call.program()); \
    call.output("out", call.tensor("a"));                                      \
  };
#include <popops/ElementWiseOps.def>
}

void addBinary(Operations &operations) {
#define POPOPS_BINARY(function, Class, ENUMERATOR)                             \
  operations["popops." #function] = [](Call &call) {                           \
    popops::addCodelets(call.graph());                                         \
    withOperands(call, [&](const auto &a, const auto &b) {                     \
      call.output("out", popops::function(call.graph(), a, b, call.program(),  \
                                          "", call.options()));                \
    });                                                                        \
  };                                                                           \
  operations["popops." #function "WithOutput"] = [](Call &call) {              \
    popops::addCodelets(call.graph());                                         \
    withOperands(call, [&](const auto &a, const auto &b) {                     \
      popops::function##WithOutput(call.graph(), a, b, call.tensor("out"),     \
                                   call.program());                            \
    });                                                                        \
    call.output("out", call.tensor("out"));                                    \
  };                                                                           \
  operations["popops." #function "InPlace"] = [](Call &call) {                 \
    popops::addCodelets(call.graph());                                         \
    const auto &a = call.tensor("a");                                          \
    if (call.hasTensor("b")) {                                                 \
      popops::function##InPlace(call.graph(), a, call.tensor("b"),             \
                                call.program());                               \
    } else {                                                                   \
      withConstant(call, "b", a.elementType(), [&](auto b) {                   \
        popops::function##InPlace(call.graph(), a, b, call.program());         \
      });                                                                      \
    }                                                                          \
    call.output("out", a);                                                     \
  };
#include <popops/ElementWiseOps.def>
}

void select(Call &call) {
  popops::addCodelets(call.graph());
  auto &graph = call.graph();
  auto &program = call.program();
  const auto &predicate = call.tensor("c");
  if (!call.hasTensor("a") && !call.hasTensor("b")) {
    call.output("out",
                popops::select(graph, call.get<float>("a"),
                               call.get<float>("b"), predicate, program));
    return;
  }
  withOperands(call, [&](const auto &a, const auto &b) {
    call.output("out", popops::select(graph, a, b, predicate, program));
  });
}

void clamp(Call &call) {
  popops::addCodelets(call.graph());
  auto &graph = call.graph();
  const auto &a = call.tensor("a");
  if (call.hasTensor("b")) {
    call.output("out", popops::clamp(graph, a, call.tensor("b"),
                                     call.tensor("c"), call.program()));
    return;
  }
  withConstant(call, "b", a.elementType(), [&](auto lower) {
    using T = decltype(lower);
    const auto upper = static_cast<T>(call.get<double>("c"));
    call.output("out", popops::clamp(graph, a, lower, upper, call.program()));
  });
}

// Forms that write to a tensor of the caller's.
void ternaryInPlace(Call &call) {
  popops::addCodelets(call.graph());
  const auto &a = call.tensor("a");
  const auto &b = call.tensor("b");
  const auto &c = call.tensor("c");
  const bool isSelect = c.elementType() == poplar::BOOL;
  auto &graph = call.graph();
  if (call.hasTensor("out")) {
    const auto &out = call.tensor("out");
    isSelect ? popops::selectWithOutput(graph, a, b, c, out, call.program())
             : popops::clampWithOutput(graph, a, b, c, out, call.program());
    call.output("out", out);
    return;
  }
  isSelect ? popops::selectInPlace(graph, a, b, c, call.program())
           : popops::clampInPlace(graph, a, b, c, call.program());
  call.output("out", a);
}

// The forms of the variance helpers that give a type.
template <auto ofTensor, auto ofNumber> void variance(Call &call) {
  popops::addCodelets(call.graph());
  const auto &a = call.tensor("a");
  const auto type = call.get<Type>("type");
  call.output("out", call.hasTensor("b")
                         ? ofTensor(call.graph(), a, call.tensor("b"),
                                    call.program(), type, {})
                         : ofNumber(call.graph(), a, call.get<float>("b"),
                                    call.program(), type, {}));
}
using OfTensor = Tensor(poplar::Graph &, const Tensor &, const Tensor &,
                        poplar::program::Sequence &, const Type &,
                        const poplar::DebugContext &);
using OfNumber = Tensor(poplar::Graph &, const Tensor &, float,
                        poplar::program::Sequence &, const Type &,
                        const poplar::DebugContext &);

popops::expr::Any expressionNamed(const std::string &name) {
  using namespace popops::expr;
  static const std::map<std::string, Any> expressions = {
      {"polynomial", 2.0f * Square(_1) - _2 / 4.0f + 1.0f},
      {"gelu", GeluErf(_1) * Select(_2, Const(0.5f), _2 > _1)},
      {"cast", Cast(_1, poplar::INT) + Const(3)},
      {"half", _1 * ConstHalf(0.1f) + 1.0_half},
      {"bits", ((_1 & 12) | (_2 << 2)) ^ ~_1},
      {"logic", ((_1 > 0.0f) && !(_2 <= 1.0f)) || IsNaN(_1) || IsInf(_2)},
      {"identity", _2},
      {"relu", UnaryOp(UnaryOpType::RELU, _1) + Trunc(_2)},
      {"last", _20 - _1},
      {"bigLong", _1 + 1152921504606846977ll},
      {"mixed", _1 + _2},
  };
  return expressions.at(name);
}

std::vector<Tensor> operandsOf(const Call &call) {
  const auto count = call.get<std::size_t>("operands", 2);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = std::string(1, static_cast<char>('a' + i));
    tensors.push_back(call.tensor(call.hasTensor(name) ? name : "a"));
  }
  return tensors;
}

void map(Call &call) {
  popops::addCodelets(call.graph());
  const auto expression = expressionNamed(call.get<std::string>("expression"));
  const auto tensors = operandsOf(call);
  const auto form = call.get<std::string>("form", "new");
  if (form == "inPlace") {
    popops::mapInPlace(call.graph(), expression, tensors, call.program());
    call.output("out", tensors.front());
  } else if (form == "output") {
    popops::mapWithOutput(call.graph(), expression, tensors, call.tensor("out"),
                          call.program());
    call.output("out", call.tensor("out"));
  } else {
    call.output("out", popops::map(call.graph(), expression, tensors,
                                   call.program(), "", call.options()));
  }
}

void mapMany(Call &call) {
  popops::addCodelets(call.graph());
  const auto results = popops::map(
      call.graph(), {expressionNamed("polynomial"), expressionNamed("logic")},
      operandsOf(call), call.program());
  call.output("first", results[0]);
  call.output("second", results[1]);
}

} // namespace

void addPopopsElementwise(Operations &operations) {
  addUnary(operations);
  addBinary(operations);
  operations["popops.select"] = select;
  operations["popops.clamp"] = clamp;
  operations["popops.ternaryInPlace"] = ternaryInPlace;
  operations["popops.varianceToInvStdDev.typed"] =
      variance<static_cast<OfTensor *>(popops::varianceToInvStdDev),
               static_cast<OfNumber *>(popops::varianceToInvStdDev)>;
  operations["popops.invStdDevToVariance.typed"] =
      variance<static_cast<OfTensor *>(popops::invStdDevToVariance),
               static_cast<OfNumber *>(popops::invStdDevToVariance)>;
  operations["popops.map"] = map;
  operations["popops.mapMany"] = mapMany;
}

} // namespace conformance
