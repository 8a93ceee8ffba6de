// Multi-convolutions, factors, triangular systems and grids for the conformance
// tests.
#include "Libraries.hpp"

#include <poplin/Cholesky.hpp>
#include <poplin/ConvUtil.hpp>
#include <poplin/MeshGrid.hpp>
#include <poplin/MultiConvolution.hpp>
#include <poplin/TriangularSolve.hpp>
#include <poplin/codelets.hpp>

namespace conformance {
namespace {

using poplin::ConvParams;

// x0, w0, x1, w1: two convolutions without transforms; with dy0 and dy1 also
// their gradients and updates.
void multiConvolution(Call &call) {
  namespace multiconv = poplin::multiconv;
  auto &graph = call.graph();
  auto &prog = call.program();
  poplin::addCodelets(graph);
  std::vector<multiconv::ConvolutionArgs> forward, backward;
  std::vector<multiconv::CalculateWeightDeltasArgs> deltas;
  std::vector<multiconv::ConvWeightUpdateArgsScalar> updates;
  std::vector<poplar::Tensor> weights;
  for (const std::string i : {"0", "1"}) {
    const auto &x = call.tensor("x" + i);
    const auto &w = call.tensor("w" + i);
    const auto &dy = call.tensor("dy" + i);
    const auto xs = x.shape();
    const auto ws = w.shape();
    const ConvParams params(x.elementType(), xs[0], {xs.begin() + 2, xs.end()},
                            {ws.begin() + 3, ws.end()}, ws[2], ws[1], ws[0]);
    forward.push_back({x, w, params, {}});
    backward.push_back({dy, {}, poplin::getGradientParams(params), {}});
    deltas.push_back({dy, x, params, {}});
    updates.push_back({dy, w, x, -0.5f, params, {}});
    weights.push_back(w);
  }
  const auto y =
      multiconv::convolution(graph, forward, false, prog, {}, call.options());
  multiconv::weightsTransposeChansFlipXY(graph, backward, weights, prog,
                                         call.options(), {}, nullptr);
  const auto dx = multiconv::convolution(graph, backward, false, prog);
  const auto dw = multiconv::calculateWeightDeltas(graph, deltas, prog);
  multiconv::convolutionWeightUpdate(graph, updates, prog);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto number = std::to_string(i);
    call.output("y" + number, y[i]);
    call.output("dx" + number, dx[i]);
    call.output("dw" + number, dw[i]);
    call.output("w" + number, weights[i]);
  }
}

void cholesky(Call &call) {
  poplin::addCodelets(call.graph());
  call.output("out", poplin::cholesky(call.graph(), call.tensor("a"),
                                      call.get<bool>("lower"), call.program(),
                                      {}, call.options()));
}

void choleskyInPlace(Call &call) {
  poplin::addCodelets(call.graph());
  poplin::choleskyInPlace(call.graph(), call.tensor("a"),
                          call.get<bool>("lower"), call.program());
  call.output("out", call.tensor("a"));
}

void triangularSolve(Call &call) {
  poplin::addCodelets(call.graph());
  call.output("out", poplin::triangularSolve(
                         call.graph(), call.tensor("a"), call.tensor("b"),
                         call.get<bool>("left"), call.get<bool>("lower"),
                         call.get<bool>("unitDiagonal", false), call.program(),
                         {}, call.options()));
}

void triangularMask(Call &call) {
  poplin::addCodelets(call.graph());
  call.output("out", poplin::triangularMask(call.graph(), call.tensor("a"),
                                            call.get<bool>("lower"),
                                            call.get<bool>("unitDiagonal"),
                                            call.program()));
}

void linspace(Call &call) {
  const auto values = poplin::linspace(
      call.graph(), call.get<poplar::Type>("type"), call.get<float>("left"),
      call.get<float>("right"), call.get<std::size_t>("count"));
  const auto out = call.graph().clone(values);
  call.program().add(poplar::program::Copy(values, out));
  call.output("out", out);
}

void meshgrid2d(Call &call) {
  const auto grid =
      poplin::meshgrid2d(call.graph(), call.tensor("x"), call.tensor("y"));
  call.output("x", grid[0]);
  call.output("y", grid[1]);
}

} // namespace

void addPoplinAlgebra(Operations &operations) {
  operations["poplin.multiConvolution"] = multiConvolution;
  operations["poplin.cholesky"] = cholesky;
  operations["poplin.choleskyInPlace"] = choleskyInPlace;
  operations["poplin.triangularSolve"] = triangularSolve;
  operations["poplin.triangularMask"] = triangularMask;
  operations["poplin.linspace"] = linspace;
  operations["poplin.meshgrid2d"] = meshgrid2d;
}

} // namespace conformance
