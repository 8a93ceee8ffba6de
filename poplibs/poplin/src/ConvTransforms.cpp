// The transforms of section 7.3, each as another problem with the same result,
// and the candidates that they and the vertices make together.
#include "ConvCandidate.hpp"

#include <kernels/cost/Convolution.hpp>

#include <algorithm>

namespace poplin::internal {

using kernels::cost::ceilDiv;

namespace {

struct Transformed {
  ConvProblem problem;
  ConvTransforms transforms;
};

bool hasZerosBetweenInputs(const ConvProblem &problem) {
  return problem.inputDilation != Extents{1, 1};
}

// Each position gets the inputs that its kernel would see as channels.
void expandDim(Transformed &form, std::size_t dim) {
  auto &problem = form.problem;
  problem.inChans *= problem.kernel[dim];
  problem.inField[dim] = problem.outField[dim];
  problem.kernel[dim] = problem.stride[dim] = problem.kernelDilation[dim] = 1;
  form.transforms.expandsDims[dim] = true;
}

bool isPointwise(const ConvProblem &problem) {
  return problem.kernelElements() == 1 && problem.stride == Extents{1, 1} &&
         !hasZerosBetweenInputs(problem) && problem.inField == problem.outField;
}

// Kernels of one element see no neighbours: all positions are one row.
void flattenField(Transformed &form) {
  auto &problem = form.problem;
  if (!isPointwise(problem) ||
      (problem.batch == 1 && problem.outField[0] == 1)) {
    return;
  }
  problem.inField = problem.outField = {1, problem.outPositions()};
  problem.batch = 1;
  form.transforms.flattensField = true;
}

void combineGroups(Transformed &form, std::uint64_t factor) {
  auto &problem = form.problem;
  problem.groups = ceilDiv(problem.groups, factor);
  problem.inChans *= factor;
  problem.outChans *= factor;
  form.transforms.combinedGroups = factor;
}

std::vector<Transformed> transformsOf(const ConvProblem &problem,
                                      const PlanLimits &limits) {
  std::vector<Transformed> forms{{problem, {}}};
  if (!limits.allowTransforms) {
    return forms;
  }
  if (!hasZerosBetweenInputs(problem)) {
    for (const unsigned dims : {1u, 2u, 3u}) {
      Transformed form{problem, {}};
      bool isUseful = true;
      for (const std::size_t dim : {0u, 1u}) {
        if ((dims >> dim & 1) != 0) {
          isUseful =
              isUseful && (problem.kernel[dim] > 1 || problem.stride[dim] > 1);
          expandDim(form, dim);
        }
      }
      if (isUseful) {
        forms.push_back(form);
      }
    }
  }
  // Groups of few channels share a pass, as long as they fill it.
  const auto most =
      kernels::cost::weightsPerConvUnit(limits.tile, problem.inputType);
  const auto plain = forms.size();
  for (std::uint64_t factor = 2; factor <= problem.groups; factor *= 2) {
    for (std::size_t i = 0; i < plain; ++i) {
      if (forms[i].problem.inChans * factor <= most) {
        forms.push_back(forms[i]);
        combineGroups(forms.back(), factor);
      }
    }
  }
  for (auto &form : forms) {
    flattenField(form);
  }
  return forms;
}

// A row of positions and the output channels of a product change places.
ConvProblem swapped(ConvProblem problem) {
  const auto columns = problem.outField[1];
  problem.inField[1] = problem.outField[1] = problem.outChans;
  problem.outChans = columns;
  return problem;
}

void markRearranged(ConvCandidate &candidate, bool isMatMul) {
  const auto &problem = candidate.problem;
  const auto &grouping = candidate.grouping;
  const auto &transforms = candidate.transforms;
  const bool everything =
      (candidate.swapsOperands && !isMatMul) || transforms.combinedGroups > 1;
  const bool expands = transforms.expandsDims != std::array{false, false};
  const bool padsIn = problem.inChans % grouping.inChansPerGroup != 0;
  const bool padsOut = problem.outChans % grouping.outChansPerGroup != 0;
  auto &[input, weights, output] = candidate.rearranged;
  if (everything || expands || padsIn) {
    input = {problem.inputs(), problem.inputType, problem.inChans};
  }
  if (everything || expands || padsIn || padsOut) {
    weights = {problem.weights(), problem.inputType, problem.inChans};
  }
  if (everything || padsOut) {
    output = {problem.outputs(), problem.outputType, problem.outChans};
  }
}

} // namespace

std::uint64_t ConvCandidate::groupGroups() const {
  return ceilDiv(problem.groups, grouping.convGroupsPerGroup);
}

std::uint64_t ConvCandidate::inGroups() const {
  return ceilDiv(problem.inChans, grouping.inChansPerGroup);
}

std::uint64_t ConvCandidate::outGroups() const {
  return ceilDiv(problem.outChans, grouping.outChansPerGroup);
}

double ConvCandidate::leastCycles(const PlanLimits &limits) const {
  const auto height = grouping.kernelHeightPerPass;
  const double kernel = static_cast<double>(ceilDiv(problem.kernel[0], height) *
                                            height * problem.kernel[1]);
  const double channels = static_cast<double>(
      groupGroups() * grouping.convGroupsPerGroup * inGroups() *
      grouping.inChansPerGroup * outGroups() * grouping.outChansPerGroup);
  const double positions =
      static_cast<double>(problem.outPositions()) /
      static_cast<double>(problem.inputDilation[0] * problem.inputDilation[1]);
  return kernel * channels * positions /
         (peakRate(limits) * static_cast<double>(limits.tiles));
}

std::vector<ConvCandidate> candidatesOf(const ConvProblem &problem,
                                        const PlanLimits &limits,
                                        bool isMatMul) {
  std::vector<ConvCandidate> candidates;
  const auto add = [&](const Transformed &form, bool isSwapped) {
    if (limits.constraints.swapsOperands.value_or(isSwapped) != isSwapped) {
      return;
    }
    const auto cut = isSwapped ? swapped(form.problem) : form.problem;
    for (const auto &grouping : groupingsOf(cut, limits)) {
      candidates.push_back({cut, grouping, form.transforms, isSwapped, {}});
      markRearranged(candidates.back(), isMatMul);
    }
  };
  for (const auto &form : transformsOf(problem, limits)) {
    add(form, false);
    const bool isProduct = isPointwise(form.problem) &&
                           form.problem.batch == 1 &&
                           form.problem.outField[0] == 1;
    if (limits.allowTransforms && isProduct) {
      add(form, true);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const ConvCandidate &a, const ConvCandidate &b) {
                     return a.leastCycles(limits) < b.leastCycles(limits);
                   });
  return candidates;
}

} // namespace poplin::internal
