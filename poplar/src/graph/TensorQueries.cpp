// Questions about tensors: shape, aliases, and the regions they cover.
#include <poplar/Tensor.hpp>

#include "Handles.hpp"
#include "Messages.hpp"
#include "ViewSets.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <iostream>
#include <sstream>

namespace poplar {

using internal::Access;
using internal::ElementRun;
using internal::TensorData;
using internal::TensorView;
using internal::validData;

namespace {

// Maximal runs of consecutive elements in the tensor's order, across pieces.
std::vector<ElementRun> orderedRuns(const TensorView &view) {
  std::vector<ElementRun> runs;
  internal::forEachRun(view, [&](internal::VariableId variable,
                                 std::int64_t begin, std::int64_t count) {
    if (!runs.empty() && runs.back().variable == variable &&
        runs.back().end == begin) {
      runs.back().end += count;
    } else {
      runs.push_back({variable, begin, begin + count});
    }
  });
  return runs;
}

} // namespace

Type Tensor::elementType() const {
  return internal::toType(
      validData(*this, "poplar::Tensor::elementType").view.type);
}

unsigned Tensor::rank() const {
  return static_cast<unsigned>(
      validData(*this, "poplar::Tensor::rank").view.shape.size());
}

std::size_t Tensor::dim(unsigned index) const {
  const auto &shape = validData(*this, "poplar::Tensor::dim").view.shape;
  support::requireUser<poplar_error>(
      index < shape.size(),
      "[poplar::Tensor::dim] dimension {} given; the tensor has shape {}",
      index, internal::ShapeText{shape});
  return static_cast<std::size_t>(shape[index]);
}

std::vector<std::size_t> Tensor::shape() const {
  const auto &shape = validData(*this, "poplar::Tensor::shape").view.shape;
  return std::vector<std::size_t>(shape.begin(), shape.end());
}

std::size_t Tensor::numElements() const {
  return static_cast<std::size_t>(
      validData(*this, "poplar::Tensor::numElements").view.elements());
}

bool Tensor::hasSameShape(const Tensor &other) const {
  return shape() == other.shape();
}

bool Tensor::isContiguous() const {
  const TensorView &view =
      validData(*this, "poplar::Tensor::isContiguous").view;
  return view.pieces.empty() || internal::isOneRun(view);
}

bool Tensor::containsAliases() const {
  return internal::containsAliases(
      validData(*this, "poplar::Tensor::containsAliases").view);
}

bool Tensor::containsConstant() const {
  const TensorData &data = validData(*this, "poplar::Tensor::containsConstant");
  return std::any_of(data.view.pieces.begin(), data.view.pieces.end(),
                     [&](const internal::Piece &piece) {
                       return (*data.graph)[piece.variable].isConstant;
                     });
}

bool Tensor::isParallelWriteable() const {
  return !containsConstant() && !containsAliases();
}

bool Tensor::intersectsWith(const Tensor &other) const {
  const TensorData &a = validData(*this, "poplar::Tensor::intersectsWith");
  const TensorData &b = validData(other, "poplar::Tensor::intersectsWith");
  return a.graph == b.graph &&
         internal::intersect(a.view.pieces, b.view.pieces);
}

std::vector<Interval> Tensor::getContiguousRegions() const {
  std::vector<Interval> regions;
  std::size_t begin = 0;
  for (const ElementRun &run : orderedRuns(
           validData(*this, "poplar::Tensor::getContiguousRegions").view)) {
    std::size_t end = begin + static_cast<std::size_t>(run.end - run.begin);
    regions.emplace_back(begin, end);
    begin = end;
  }
  return regions;
}

std::vector<VariableInterval> Tensor::getVarRegions() const {
  std::vector<VariableInterval> regions;
  for (const ElementRun &run :
       orderedRuns(validData(*this, "poplar::Tensor::getVarRegions").view)) {
    regions.push_back({VariableRef(run.variable.value),
                       {static_cast<std::size_t>(run.begin),
                        static_cast<std::size_t>(run.end)}});
  }
  return regions;
}

std::string Tensor::shapeToString() const {
  return support::toString(
      validData(*this, "poplar::Tensor::shapeToString").view.shape);
}

void Tensor::output(std::ostream &stream) const {
  if (!valid()) {
    stream << "Tensor()";
    return;
  }
  stream << "Tensor(" << elementType() << shapeToString();
  for (const VariableInterval &region : getVarRegions()) {
    stream
        << ' '
        << (*data_->graph)[internal::VariableId(region.var.getId())].debugPath
        << region.interval;
  }
  stream << ')';
}

void Tensor::dump() const {
  output(std::cerr);
  std::cerr << '\n';
}

void Tensor::outputRegions(std::ostream &stream) const {
  for (const VariableInterval &region : getVarRegions()) {
    stream
        << (*data_->graph)[internal::VariableId(region.var.getId())].debugPath
        << region.interval << '\n';
  }
}

void Tensor::dumpRegions() const {
  outputRegions(std::cerr);
}

std::string Tensor::getVarStr() const {
  std::string names;
  for (const internal::Piece &piece :
       validData(*this, "poplar::Tensor::getVarStr").view.pieces) {
    names +=
        (names.empty() ? "" : " ") + (*data_->graph)[piece.variable].debugPath;
  }
  return names;
}

std::string Tensor::getDebugStr() const {
  std::ostringstream text;
  output(text);
  return text.str();
}

bool Tensor::isSame(const Tensor &other) const {
  if (!valid() || !other.valid()) {
    return valid() == other.valid();
  }
  return data_->graph == other.data_->graph && data_->view == other.data_->view;
}

} // namespace poplar
