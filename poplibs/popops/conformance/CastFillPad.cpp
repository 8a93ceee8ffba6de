// Casts, fills, scaled sums, loops and padding for the conformance tests.
#include "Libraries.hpp"

#include <poplar/MetadataCreation.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Fill.hpp>
#include <popops/Loop.hpp>
#include <popops/Pad.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>

namespace conformance {
namespace {

using poplar::Tensor;
using poplar::program::Execute;

void cast(Call &call) {
  auto &graph = call.graph();
  auto &program = call.program();
  popops::addCodelets(graph);
  const auto &in = call.tensor("in");
  const auto type = call.get<poplar::Type>("type");
  const auto form = call.get<std::string>("form", "new");
  if (form == "new") {
    call.output("out", popops::cast(graph, in, type, program));
    return;
  }
  if (form == "computeSet") {
    const auto set = graph.addComputeSet();
    call.output("out", popops::cast(graph, in, type, set));
    program.add(Execute(set));
    return;
  }
  const auto &out = call.tensor("out");
  if (form == "output") {
    popops::castWithOutput(graph, in, out, program);
  } else if (form == "program") {
    program.add(popops::cast(graph, in, out));
  } else {
    const auto set = graph.addComputeSet();
    popops::cast(graph, in, out, set);
    program.add(Execute(set));
  }
  call.output("out", out);
}

Tensor metadataOf(Call &call, const std::string &prefix) {
  using Format = poplar::QuarterMetadata::Format;
  const auto format = call.get<std::string>(prefix + "format", "F143");
  return poplar::createVariableMetadataTensor(
      call.graph(), format == "F143" ? Format::F143 : Format::F152,
      call.get<int>(prefix + "scale", 0));
}

// To QUARTER elements with metadata of the row, or from such elements.
void castQuarter(Call &call) {
  auto &graph = call.graph();
  auto &program = call.program();
  popops::addCodelets(graph);
  Tensor in = call.tensor("in");
  if (in.elementType() == poplar::QUARTER) {
    in.associateMetadata(metadataOf(call, ""));
  }
  const auto type = call.get<poplar::Type>("type");
  const auto form = call.get<std::string>("form", "new");
  if (type != poplar::QUARTER) {
    call.output("out", popops::cast(graph, in, type, program));
    return;
  }
  const auto metadata = metadataOf(call, "to ");
  if (form == "new") {
    call.output("out", popops::cast(graph, in, type, metadata, program));
  } else if (form == "computeSet") {
    const auto set = graph.addComputeSet();
    call.output("out", popops::cast(graph, in, type, metadata, set));
    program.add(Execute(set));
  } else { // also that copies keep what they copy
    const auto out =
        graph.addVariable(type, metadata, in.shape(),
                          poplar::VariableMappingMethod::LINEAR, "out");
    popops::castWithOutput(graph, in, out, program);
    const auto copy = graph.clone(out);
    program.add(poplar::program::Copy(out, copy));
    call.output("out", copy);
    call.output("back", popops::cast(graph, copy.transpose().transpose(),
                                     poplar::FLOAT, program));
  }
}

void fill(Call &call) {
  auto &graph = call.graph();
  popops::addCodelets(graph);
  const auto &t = call.tensor("t");
  const auto value = call.get<double>("value", 0);
  const bool isZero = value == 0;
  const auto form = call.get<std::string>("form", "program");
  const auto set = graph.addComputeSet();
  const auto mapping = graph.getTileMapping(t);
  const std::vector<poplar::Interval> regions{{0, 1}, {2, 4}};
  if (form == "program") {
    isZero ? popops::zero(graph, t, call.program())
           : popops::fill(graph, t, call.program(), value);
  } else if (form == "mapping") {
    isZero ? popops::zero(graph, t, mapping, set)
           : popops::fill(graph, t, mapping, set, value);
  } else if (form == "tile") {
    isZero ? popops::zero(graph, t, 1u, set)
           : popops::fill(graph, t, 1u, set, value);
  } else {
    isZero ? popops::zero(graph, t, regions, 1, set)
           : popops::fill(graph, t, regions, 1, set, value);
  }
  if (form != "program") {
    call.program().add(Execute(set));
  }
  call.output("t", t);
}

void scaledAdd(Call &call) {
  auto &graph = call.graph();
  auto &program = call.program();
  popops::addCodelets(graph);
  const auto &a = call.tensor("a");
  const auto &b = call.tensor("b");
  const auto &options = call.options();
  const bool isSubtract = call.get<bool>("subtract", false);
  const auto speciality =
      call.get<bool>("keepsA", false)
          ? popops::ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY
          : popops::ScaledAddSpecialisation::DEFAULT;
  const auto one = [&](const auto &scale) {
    isSubtract
        ? popops::scaledSubtractFrom(graph, a, b, scale, program, "", options)
        : popops::scaledAddTo(graph, a, b, scale, program, "", options);
  };
  const auto two = [&](const auto &scaleA, const auto &scaleB) {
    if (isSubtract) {
      popops::scaledSubtractFrom(graph, a, scaleA, b, scaleB, program, "",
                                 options);
    } else if (call.get<bool>("keepsA", false)) {
      popops::scaledAddTo(graph, a, scaleA, b, scaleB, program, speciality, "",
                          options);
    } else {
      popops::scaledAddTo(graph, a, scaleA, b, scaleB, program, "", options);
    }
  };
  if (call.hasTensor("scaleA")) {
    two(call.tensor("scaleA"), call.tensor("scaleB"));
  } else if (call.hasTensor("scaleB")) {
    one(call.tensor("scaleB"));
  } else if (call.get<float>("scaleA", 1) != 1) {
    two(call.get<float>("scaleA"), call.get<float>("scaleB"));
  } else {
    one(call.get<float>("scaleB"));
  }
  call.output("a", a);
}

// Adds up what the loop counts.
void countedLoop(Call &call) {
  auto &graph = call.graph();
  popops::addCodelets(graph);
  const auto &sum = call.tensor("sum");
  const auto body = [&](const Tensor &index) {
    poplar::program::Sequence loop;
    popops::addInPlace(graph, sum, index, loop);
    return loop;
  };
  const auto end = call.get<std::size_t>("end");
  call.program().add(
      call.get<bool>("short", false)
          ? popops::countedLoop(graph, end, body)
          : popops::countedLoop(graph, call.get<std::size_t>("begin"), end,
                                call.get<std::size_t>("step"), body));
  call.output("sum", sum);
}

void countedForLoop(Call &call) {
  auto &graph = call.graph();
  popops::addCodelets(graph);
  const auto &sum = call.tensor("sum");
  const auto begin = call.get<int>("begin");
  const auto step = call.get<int>("step");
  poplar::program::Sequence body;
  if (call.hasTensor("count")) {
    const auto &count = call.tensor("count");
    popops::addInPlace(graph, sum, count, body);
    call.program().add(popops::countedForLoop(
        graph, count, begin, call.tensor("limit"), step, body));
    call.output("count", count);
  } else {
    popops::addInPlace(graph, sum, 1, body);
    call.program().add(
        popops::countedForLoop(graph, begin, call.tensor("limit"), step, body));
  }
  call.output("sum", sum);
}

std::vector<std::ptrdiff_t> amounts(const Call &call, const std::string &name) {
  const auto numbers = call.get<std::vector<std::int64_t>>(name);
  return {numbers.begin(), numbers.end()};
}

void pad(Call &call) {
  auto &graph = call.graph();
  const auto &in = call.tensor("in");
  const auto lower = amounts(call, "lower");
  const auto upper = amounts(call, "upper");
  const auto dim = call.get<int>("dim", -1);
  Tensor out;
  const auto mode = call.get<std::string>("mode", "constant");
  if (mode == "constant") {
    using popops::padding::MappingMethod;
    const auto mapping = call.get<bool>("edgeMapping", false)
                             ? MappingMethod::EDGE
                             : MappingMethod::ZERO;
    const auto single = static_cast<unsigned>(dim);
    if (call.hasTensor("value")) {
      const auto &value = call.tensor("value");
      out = dim < 0 ? popops::pad(graph, in, lower, upper, value)
                    : popops::pad(graph, in, lower[0], upper[0], single, value);
    } else if (in.elementType() == poplar::INT) {
      const auto value = call.get<int>("value", 0);
      out = dim < 0 ? popops::pad(graph, in, lower, upper, value, mapping)
                    : popops::pad(graph, in, lower[0], upper[0], single, value,
                                  mapping);
    } else {
      const auto value = call.get<float>("value", 0);
      out = dim < 0 ? popops::pad(graph, in, lower, upper, value, mapping)
                    : popops::pad(graph, in, lower[0], upper[0], single, value,
                                  mapping);
    }
  } else {
    const auto type = mode == "edge" ? popops::padding::Type::EDGE
                                     : popops::padding::Type::REFLECT;
    out = dim < 0 ? popops::pad(in, lower, upper, type)
                  : popops::pad(in, lower[0], upper[0],
                                static_cast<unsigned>(dim), type);
  }
  const auto copy = graph.addVariable(out.elementType(), out.shape(), "copy");
  graph.setTileMapping(copy, 0);
  call.program().add(poplar::program::Copy(out, copy));
  call.output("out", copy);
}

} // namespace

void addPopopsCastFillPad(Operations &operations) {
  operations["popops.cast"] = cast;
  operations["popops.castQuarter"] = castQuarter;
  operations["popops.fill"] = fill;
  operations["popops.scaledAdd"] = scaledAdd;
  operations["popops.countedLoop"] = countedLoop;
  operations["popops.countedForLoop"] = countedForLoop;
  operations["popops.pad"] = pad;
}

} // namespace conformance
