#include "RecurrentWalk.hpp"

namespace kernels {

RecurrentWalkPlan::RecurrentWalkPlan(const Signature &signature,
                                     const Cell &cell)
    : cell_(cell), isPacked_(signature.operand(cell.outputWeights).layout ==
                             Layout::StackedColumns16),
      inputWeights_(cell.gates, cell.shape.in, cell.shape.out, cell.isBack),
      outputWeights_(cell.gates, cell.shape.out, cell.shape.out, cell.isBack),
      steps_(stepCounts(signature, cell.steps, cell.shape.steps)) {
  if (!isPacked_) {
    addPacking(signature);
  }
  if (cell.gateRows == absent) {
    gates_ = reserve(cell.shape.rows() * gateRow());
  }
  const std::uint32_t stage = isPacked_ ? 0 : 1;
  if (!cell.isBack) {
    addProducts(signature, stage);
    addWalks(signature, stage + 1);
    return;
  }
  addWalks(signature, stage);
  if (hasInputs()) {
    addProducts(signature, stage + 1);
  }
}

void RecurrentWalkPlan::addPacking(const Signature &signature) {
  constexpr double nanosecondsPerFloat = 0.1;
  const auto add = [&](Work work, const GateWeights &weights,
                       std::size_t operand) {
    jobs_.push_back({work, {}});
    addTask(signature, 0,
            nanosecondsPerFloat * static_cast<double>(weights.floats()),
            {operand});
    return reserve(weights.floats());
  };
  outputPanels_ = add(Work::PackOutput, outputWeights_, cell_.outputWeights);
  if (hasInputs()) {
    inputPanels_ = add(Work::PackInput, inputWeights_, cell_.inputWeights);
  }
}

void RecurrentWalkPlan::addProducts(const Signature &signature,
                                    std::uint32_t stage) {
  const auto &shape = cell_.shape;
  const double work = productWork(shape.rows(), gateUnits(), shape.in);
  const auto shards = rowShards(shape.rows(), work);
  for (const auto &rows : shards) {
    jobs_.push_back({Work::Multiply, rows});
    addTask(signature, stage, work / static_cast<double>(shards.size()),
            {cell_.gateRows, isPacked_ ? cell_.inputWeights : absent});
    tasks_.back().accesses.push_back(elementAccess(
        signature, cell_.x, rows.begin * shape.in, rows.end * shape.in));
  }
}

void RecurrentWalkPlan::addWalks(const Signature &signature,
                                 std::uint32_t stage) {
  const auto &shape = cell_.shape;
  const double work = productWork(shape.rows(), gateUnits(), shape.out);
  const auto shards = sampleShards(shape.batch, work);
  auto operands = cell_.walked;
  operands.insert(operands.end(), {cell_.steps, cell_.gateRows,
                                   isPacked_ ? cell_.outputWeights : absent});
  for (const auto &samples : shards) {
    const auto count = samples.end - samples.begin;
    jobs_.push_back({Work::Walk, samples});
    workspaceBytes_ =
        std::max(workspaceBytes_,
                 static_cast<std::size_t>(
                     (cell_.perSample * count + cell_.perWalk) * shape.out) *
                     sizeof(float));
    addTask(signature, stage, work / static_cast<double>(shards.size()),
            operands);
  }
}

float *RecurrentWalkPlan::gates(std::byte *const *operands,
                                std::byte *scratch) const {
  return cell_.gateRows == absent ? floats(scratch, gates_)
                                  : dataOf<float>(operands, cell_.gateRows);
}

const float *RecurrentWalkPlan::panels(std::byte *const *operands,
                                       std::size_t weights, std::byte *scratch,
                                       std::size_t packed) const {
  return isPacked_ ? dataOf<const float>(operands, weights)
                   : floats(scratch, packed);
}

void RecurrentWalkPlan::multiplyInputs(ShardRange rows,
                                       std::byte *const *operands,
                                       std::byte *scratch) const {
  const auto &shape = cell_.shape;
  float *x = dataOf<float>(operands, cell_.x) + rows.begin * shape.in;
  float *sums = gates(operands, scratch) + rows.begin * gateRow();
  const auto count = rows.end - rows.begin;
  const GateWeights::Rows forward{x,         shape.in,  0,     sums,
                                  gateRow(), shape.out, count, false};
  const GateWeights::Rows back{sums,     gateRow(), shape.out, x,
                               shape.in, 0,         count,     false};
  inputWeights_.multiply(
      panels(operands, cell_.inputWeights, scratch, inputPanels_),
      cell_.isBack ? back : forward);
}

void RecurrentWalkPlan::copyState(const Walk &walk, std::size_t operand,
                                  float *to) const {
  const auto H = cell_.shape.out;
  if (operand == absent) {
    std::fill_n(to, walk.count() * H, 0.0f);
  } else {
    std::copy_n(dataOf<const float>(walk.operands, operand) +
                    walk.samples.begin * H,
                walk.count() * H, to);
  }
}

void RecurrentWalkPlan::run(std::uint32_t task, std::byte *const *operands,
                            Memory memory) const {
  const Job &job = jobs_[task];
  switch (job.work) {
  case Work::PackInput:
    inputWeights_.pack(dataOf<const float>(operands, cell_.inputWeights),
                       floats(memory.scratch, inputPanels_));
    return;
  case Work::PackOutput:
    outputWeights_.pack(dataOf<const float>(operands, cell_.outputWeights),
                        floats(memory.scratch, outputPanels_));
    return;
  case Work::Multiply:
    multiplyInputs(job.range, operands, memory.scratch);
    return;
  case Work::Walk:
    break;
  }
  auto steps = steps_;
  if (cell_.steps != absent) {
    steps.data = dataOf<const std::int32_t>(operands, cell_.steps);
  }
  walk({operands, job.range, steps, gates(operands, memory.scratch),
        panels(operands, cell_.outputWeights, memory.scratch, outputPanels_),
        reinterpret_cast<float *>(memory.workspace)});
}

std::optional<std::vector<Layout>>
keptWeightsLayouts(const Signature &signature, const ForwardOperands &at) {
  std::vector<Layout> layouts(signature.operandCount(), Layout::Plain);
  for (const auto weights : {at.inputWeights, at.outputWeights}) {
    const OperandSpec &spec = signature.inputs[weights];
    if (!spec.isKept || spec.type != DataType::Float ||
        !isLayoutFor(Layout::StackedColumns16, spec.shape)) {
      return std::nullopt;
    }
    layouts[weights] = Layout::StackedColumns16;
  }
  return layouts;
}

} // namespace kernels
