#include "executable/Programs.hpp"

#include <algorithm>
#include <unordered_set>

namespace poplar::executable {
namespace {

using internal::FunctionId;
using internal::ProgramNode;
using internal::ProgramPtr;

// An archive that only keeps what nodes refer to.
class References {
public:
  static constexpr bool isReading = false;

  explicit References(const ProgramNode &node) {
    std::visit([&](const auto &op) { visit(*this, op); }, node.op);
  }

  template <typename... Fields> void operator()(const Fields &...fields) {
    (take(fields), ...);
  }

  std::vector<ProgramPtr> programs;
  std::vector<FunctionId> calls;

private:
  void take(const ProgramPtr &program) {
    support::requireInternal(program != nullptr, "a program has no node");
    programs.push_back(program);
  }
  void take(const std::vector<ProgramPtr> &children) {
    for (const ProgramPtr &child : children) {
      take(child);
    }
  }
  void take(const std::vector<std::pair<std::int32_t, ProgramPtr>> &cases) {
    for (const auto &[value, body] : cases) {
      take(body);
    }
  }
  void take(const FunctionId &function) { calls.push_back(function); }
  template <typename Field> void take(const Field &) {}
};

} // namespace

std::vector<ProgramPtr> childrenFirst(const std::vector<ProgramPtr> &programs) {
  struct Open {
    ProgramPtr node;
    std::vector<ProgramPtr> children;
    std::size_t next = 0;
  };
  std::vector<ProgramPtr> result;
  std::unordered_set<const ProgramNode *> seen;
  std::vector<Open> open; // from the root down
  const auto enter = [&](const ProgramPtr &node) {
    if (seen.insert(node.get()).second) {
      open.push_back({node, References(*node).programs});
    }
  };
  for (const ProgramPtr &program : programs) {
    enter(program);
    while (!open.empty()) {
      Open &top = open.back();
      if (top.next < top.children.size()) {
        enter(ProgramPtr(top.children[top.next++]));
      } else {
        result.push_back(std::move(top.node));
        open.pop_back();
      }
    }
  }
  return result;
}

void Nesting::add(const ProgramNode &node) {
  const References references(node);
  Size size;
  for (const ProgramPtr &child : references.programs) {
    const Size &inner = sizes_[positions_.at(child.get())];
    size.depth = std::max(size.depth, inner.depth + 1);
    size.walk += inner.walk;
  }
  for (FunctionId function : references.calls) {
    requireIntact(function.index() < functions_.size() &&
                      functions_[function.index()] < sizes_.size(),
                  "'{}' calls function {}, which is not there or calls it in "
                  "turn",
                  node.debugPath, function.value);
    const Size &inner = sizes_[functions_[function.index()]];
    size.depth = std::max(size.depth, inner.depth + 1);
  }
  support::requireUser<poplar_error>(
      size.depth <= maxNesting && size.walk <= maxWalk,
      "[Executable] program '{}' is {} programs deep and has {} in all; files "
      "hold at most {} and {}",
      node.debugPath, size.depth, size.walk, maxNesting, maxWalk);
  positions_.emplace(&node, sizes_.size());
  sizes_.push_back(size);
}

} // namespace poplar::executable
