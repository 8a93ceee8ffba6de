#include "TriangularPlan.hpp"

#include <poplin/internal/ConvPhases.hpp>

#include <kernels/cost/Tile.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/Access.hpp>
#include <poputil/internal/Phases.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstdlib>

namespace poplin::internal {

using kernels::cost::ceilDiv;
using poplar::invalid_option;
using support::requireUser;

namespace {

// Calls visit(rows of the block, rows that are left after it).
template <typename Visit>
void forEachBlock(const TriangularProblem &problem, std::size_t blockSize,
                  const Visit &visit) {
  for (std::size_t at = 0; at < problem.side; at += blockSize) {
    const auto rows = std::min(blockSize, problem.side - at);
    visit(rows, problem.side - at - rows);
  }
}

// What is left of a matrix loses a product of the block just solved: all of its
// columns, or the rest of the matrix itself.
std::size_t productColumns(const TriangularProblem &problem, std::size_t rest) {
  return problem.columns == 0 ? rest : problem.columns;
}

} // namespace

TriangularOptions parseTriangularOptions(const poplar::OptionFlags &options) {
  TriangularOptions result;
  for (const auto &[name, value] : options) {
    if (name != "blockSize") {
      result.matMul.set(name, value);
      continue;
    }
    char *end = nullptr;
    const auto size = std::strtoll(value.c_str(), &end, 0);
    requireUser<invalid_option>(
        !value.empty() && *end == '\0',
        "Invalid value '{}' for option '{}': Not a valid integer", value, name);
    requireUser<invalid_option>(
        size >= 1,
        "Invalid value '{}' for option '{}': Value must be greater than or "
        "equal to 1",
        value, name);
    result.blockSize = static_cast<std::size_t>(size);
  }
  parseMatMulOptions(result.matMul);
  return result;
}

std::vector<std::pair<MatMulParams, poplar::OptionFlags>>
triangularProducts(const TriangularProblem &problem, const poplar::Type &type,
                   const TriangularOptions &options) {
  std::vector<std::pair<MatMulParams, poplar::OptionFlags>> products;
  forEachBlock(problem, options.blockSize, [&](auto rows, auto rest) {
    if (rest > 0) {
      const MatMulParams params{
          type,
          type,
          {problem.groups, rest, rows},
          {problem.groups, rows, productColumns(problem, rest)}};
      products.emplace_back(params, options.matMul);
    }
  });
  return products;
}

std::vector<poplar::internal::GroupPhase>
triangularPhases(poplar::Graph &graph, const std::string &name,
                 const std::string &vertex, const TriangularProblem &problem,
                 const TriangularOptions &options,
                 poputil::internal::TileRange tiles, const poplar::Tensor &a,
                 const poplar::Tensor &b) {
  const auto convOptions = parseMatMulOptions(options.matMul);
  const auto limits = planLimits(graph, tiles, convOptions);
  const auto type = poplar::internal::tensorView(a).type;
  const auto bytes = support::sizeOf(type);
  std::vector<poplar::internal::GroupPhase> phases;
  const poputil::internal::TileRange used{
      tiles.first, static_cast<unsigned>(
                       std::min<std::size_t>(tiles.count, problem.groups))};
  const auto perTile = ceilDiv(problem.groups, used.count);
  forEachBlock(problem, options.blockSize, [&](auto rows, auto rest) {
    // One product a cycle: a third of the cube for a factor, half of the square
    // for each column of a solution.
    const auto columns = problem.columns;
    const auto products = columns == 0 ? ceilDiv(rows * rows * rows, 3)
                                       : ceilDiv(rows * rows, 2) * columns;
    poputil::internal::PhaseBuilder phase(name + "/Diagonal");
    phase.receive(used, perTile * rows * (rows + columns) * bytes);
    phase.addVertex(
        used, poputil::internal::supervisorVertex(vertex, perTile * products, 3,
                                                  2 * perTile * products));
    phases.push_back(phase.build());
    if (rest > 0) {
      ConvProblem product;
      product.inputType = product.outputType = type;
      product.partialsType = partialsType(convOptions, type);
      product.groups = problem.groups;
      product.inField = product.outField = {1, rest};
      product.inChans = rows;
      product.outChans = productColumns(problem, rest);
      const auto plan = cachedPlan(graph, product, limits, true);
      for (auto &step : convPhases(graph, name + "/Update", product, plan,
                                   limits, tiles, {a, false}, {b, false})) {
        phases.push_back(std::move(step));
      }
    }
  });
  return phases;
}

} // namespace poplin::internal
