#include <kernels/cost/Elementwise.hpp>

#include <array>
#include <charconv>
#include <span>

namespace kernels::cost {

namespace {

// The letters that may price a type, best first.
std::array<std::string_view, 2> costLetters(DataType type) {
  switch (type) {
  case DataType::Float:
    return {"F", ""};
  case DataType::Half:
  case DataType::Quarter:
    return {"H", ""};
  case DataType::Int:
    return {"I", ""};
  case DataType::UnsignedInt:
    return {"U", "I"};
  case DataType::LongLong:
    return {"LL", ""};
  case DataType::UnsignedLongLong:
    return {"ULL", "LL"};
  case DataType::Short:
    return {"S", ""};
  case DataType::UnsignedShort:
    return {"US", "S"};
  case DataType::Bool:
  case DataType::Char:
  case DataType::SignedChar:
  case DataType::UnsignedChar:
    return {"B", ""};
  }
  return {};
}

// Takes the text up to `separator` off the front of `text`.
std::string_view takeUntil(std::string_view &text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

// "12/2" or "6/4~".
LoopCost parseFigure(std::string_view text) {
  LoopCost cost;
  const char *const end = text.data() + text.size();
  const char *at = std::from_chars(text.data(), end, cost.cycles).ptr;
  at = std::from_chars(std::min(at + 1, end), end, cost.elements).ptr;
  cost.isProportional = at != end && *at == '~';
  return cost;
}

} // namespace

std::optional<LoopCost> parseLoopCost(std::string_view text, DataType type,
                                      bool inPlace) {
  for (const auto letters : costLetters(type)) {
    if (letters.empty()) {
      continue;
    }
    for (auto rest = text; !rest.empty();) {
      auto entry = takeUntil(rest, ' ');
      const auto digits =
          std::min(entry.find_first_of("0123456789"), entry.size());
      if (entry.substr(0, digits) != letters) {
        continue;
      }
      entry.remove_prefix(digits);
      const auto outOfPlace = takeUntil(entry, '>');
      return parseFigure(inPlace && !entry.empty() ? entry : outOfPlace);
    }
  }
  return std::nullopt;
}

LoopCost loopCost(const ElementwiseOpInfo &op, DataType type, bool inPlace) {
  return parseLoopCost(op.cost, type, inPlace).value_or(LoopCost{});
}

Cycles unaryOp1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                 DataType type, std::uint64_t n, bool inPlace) {
  const Cycles overhead = inPlace ? 55 : op.name == "EXPONENT" ? 33 : 17;
  return supervisorOverhead + 9 +
         tile.workers *
             (overhead + loopCost(op, type, inPlace).of(perWorker(tile, n)));
}

Cycles binaryOp1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                  DataType type, std::uint64_t n, bool inPlace) {
  const Cycles overhead = inPlace ? 58 : type == DataType::Float ? 29 : 26;
  return supervisorOverhead +
         tile.workers *
             (overhead + loopCost(op, type, inPlace).of(perWorker(tile, n)));
}

Cycles unaryOp2D(const TileSpec &, const ElementwiseOpInfo &op, DataType type,
                 std::uint64_t regions, std::uint64_t n, bool inPlace) {
  return 20 + regions * loopCost(op, type, inPlace).of(n);
}

Cycles binaryOp2D(const TileSpec &, const ElementwiseOpInfo &op, DataType type,
                  std::uint64_t regions, std::uint64_t n, bool inPlace) {
  return (inPlace ? 20 : 5) + regions * loopCost(op, type, inPlace).of(n);
}

Cycles ternaryOp2D(const TileSpec &tile, DataType type, std::uint64_t n,
                   bool isClamp) {
  const auto share = perWorker(tile, n);
  return tile.workers *
         (isClamp ? clamp2D(tile, type, 1, share) : select2D(1, share));
}

Cycles mapFused(const TileSpec &tile, const Expression &expression,
                DataType type, std::uint64_t n) {
  const auto share = perWorker(tile, n);
  // Each input is loaded and the result stored once a vector.
  const auto vectors = ceilDiv(share, vectorWidth(tile, type));
  Cycles loop = vectors * (expression.inputCount() + 1);
  for (const auto &step : expression.steps()) {
    if (step.kind == ExpressionStep::Kind::Operator) {
      const auto &op =
          elementwiseOpInfo(static_cast<ElementwiseOp>(step.index));
      const auto cost = loopCost(op, type, false).of(share);
      // The operator's own figure includes a load and a store a vector.
      loop += cost - std::min(cost - 1, 2 * vectors);
    } else if (step.kind == ExpressionStep::Kind::Cast) {
      loop += vectors;
    }
  }
  return supervisorOverhead + tile.workers * (29 + loop);
}

} // namespace kernels::cost
