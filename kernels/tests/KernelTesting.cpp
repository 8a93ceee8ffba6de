#include "KernelTesting.hpp"

#include "GuardedBuffer.hpp"
#include "PlanMemory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace kernels::testing {

namespace {

double rounded(DataType type, double value) {
  alignas(8) std::byte element[8];
  storeElement(type, element, value);
  return loadElement(type, element);
}

// Elements that are one in memory have one value.
void repeatBroadcast(const OperandSpec &spec, std::vector<double> &values) {
  if (std::count(spec.strides.begin(), spec.strides.end(), 0) == 0) {
    return;
  }
  std::unordered_map<std::int64_t, double> stored;
  for (std::size_t e = 0; e < values.size(); ++e) {
    const auto offset = offsetOf(spec, static_cast<std::int64_t>(e));
    values[e] = stored.emplace(offset, values[e]).first->second;
  }
}

using Stretch = std::pair<std::int64_t, std::int64_t>; // begin and end

// The bytes of an operand outside of the task's accesses for which `isMeant`
// holds. Whole stretches, since tests with sanitizers take most of their time
// for what they do byte by byte.
template <typename IsMeant>
std::vector<Stretch> stretchesOutside(const Task &task, std::uint32_t operand,
                                      const GuardedBuffer &buffer,
                                      const IsMeant &isMeant) {
  const auto size = static_cast<std::int64_t>(buffer.bytes());
  std::vector<Stretch> inside{{size, size}};
  for (const auto &access : task.accesses) {
    if (access.operand == operand && isMeant(access)) {
      inside.emplace_back(std::min(access.begin, size), access.end);
    }
  }
  std::sort(inside.begin(), inside.end());
  std::vector<Stretch> outside;
  std::int64_t covered = 0;
  for (const auto &[begin, end] : inside) {
    if (covered < begin) {
      outside.emplace_back(covered, begin);
    }
    covered = std::max(covered, end);
  }
  return outside;
}

// Poisons all bytes of an input that the task does not declare to read.
void poisonUndeclared(GuardedBuffer &buffer, std::uint32_t operand,
                      const Task &task) {
  for (const auto &access : task.accesses) {
    if (access.operand == operand) {
      ASSERT_GE(access.begin, 0);
      ASSERT_LE(access.end, std::int64_t(buffer.bytes()))
          << "operand " << operand;
    }
  }
  for (const auto &[begin, end] : stretchesOutside(
           task, operand, buffer, [](const Access &) { return true; })) {
    std::fill(buffer.lowest() + begin, buffer.lowest() + end, poison);
  }
}

// Every byte that changed must lie in a write that the task declares.
void expectOnlyDeclaredWrites(const GuardedBuffer &before,
                              const GuardedBuffer &after, std::uint32_t operand,
                              const Task &task) {
  for (const auto &[begin, end] :
       stretchesOutside(task, operand, before,
                        [](const Access &access) { return access.isWrite; })) {
    const std::byte *old = before.lowest();
    const std::byte *now = after.lowest();
    if (std::memcmp(old + begin, now + begin, std::size_t(end - begin)) != 0) {
      const auto changed = std::mismatch(old + begin, old + end, now + begin);
      FAIL() << "byte " << changed.first - old << " of operand " << operand
             << " was written";
    }
  }
}

// Lanes beyond the batch hold zeros; indices may be anything there.
void expectZeroPadding(const OperandSpec &spec, const GuardedBuffer &buffer) {
  if (spec.type != DataType::Float) {
    return;
  }
  Shape whole = spec.shape;
  whole[0] = (whole[0] + 15) / 16 * 16;
  const OperandSpec padded{spec.type, whole, {}, spec.layout};
  for (auto e = support::elementCount(spec.shape);
       e < support::elementCount(whole); ++e) {
    ASSERT_EQ(
        loadElement(DataType::Float, buffer.lowest() + 4 * offsetOf(padded, e)),
        0)
        << "padding at element " << e;
  }
}

} // namespace

struct Call::Storage {
  std::vector<GuardedBuffer> operands;

  std::vector<std::byte *> addresses() {
    std::vector<std::byte *> result;
    for (auto &operand : operands) {
      result.push_back(operand.element0());
    }
    return result;
  }
};

Call::Call(std::string_view kind, Attributes attributes,
           std::vector<Input> inputs)
    : kind_(&findKind(kind)), attributes_(std::move(attributes)) {
  std::vector<TensorType> types;
  for (auto &input : inputs) {
    auto spec = OperandSpec::rowMajor(input.tensor);
    if (!input.strides.empty()) {
      spec.strides = input.strides;
    }
    operands_.inputs.push_back(std::move(spec));
    types.push_back(input.tensor);
    given_.push_back(std::move(input.values));
  }
  outputTypes_ = kind_->infer(attributes_, types);
  for (const auto &type : outputTypes_) {
    operands_.outputs.push_back(OperandSpec::rowMajor(type));
  }
  makeValues();
}

Call &Call::outputStrides(std::size_t output, Strides strides) {
  operands_.outputs[output].strides = std::move(strides);
  reference_.clear();
  return *this;
}

Call &Call::found(std::size_t input, Layout layout) {
  operands_.inputs[input].found = layout;
  return *this;
}

Call &Call::kept(std::size_t input) {
  operands_.inputs[input].isKept = true;
  return *this;
}

void Call::makeValues() {
  std::mt19937 random(1);
  for (std::size_t i = 0; i < operands_.inputs.size(); ++i) {
    const auto &spec = operands_.inputs[i];
    const auto count =
        static_cast<std::size_t>(support::elementCount(spec.shape));
    std::vector<double> values(count);
    for (std::size_t e = 0; e < count; ++e) {
      if (!given_[i].empty()) {
        values[e] = given_[i][e % given_[i].size()];
      } else if (support::isFloatingPoint(spec.type)) {
        values[e] = std::uniform_real_distribution<double>(-1, 1)(random);
      } else {
        values[e] = static_cast<double>(random() %
                                        (spec.type == DataType::Bool ? 2 : 4));
      }
      values[e] = rounded(spec.type, values[e]);
    }
    repeatBroadcast(spec, values);
    values_.push_back(std::move(values));
  }
}

Call::Storage Call::makeStorage(const Operands &operands) const {
  Storage storage;
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
    const auto &spec = operands.inputs[i];
    storage.operands.emplace_back(spec);
    GuardedBuffer &buffer = storage.operands.back();
    if (spec.layout != Layout::Plain) { // lanes beyond the batch are 0
      std::fill_n(buffer.lowest(), buffer.bytes(), std::byte{0});
    }
    const auto size = static_cast<std::int64_t>(sizeOf(spec.type));
    for (std::size_t e = 0; e < values_[i].size(); ++e) {
      storeElement(spec.type,
                   buffer.element0() + size * offsetOf(spec, std::int64_t(e)),
                   values_[i][e]);
    }
  }
  for (const auto &output : operands.outputs) {
    storage.operands.emplace_back(output);
  }
  return storage;
}

Call::Results Call::read(const Operands &operands, const Storage &storage) {
  Results results;
  for (std::size_t i = 0; i < operands.outputs.size(); ++i) {
    const auto &spec = operands.outputs[i];
    GuardedBuffer buffer = storage.operands[operands.inputs.size() + i];
    const auto size = static_cast<std::int64_t>(sizeOf(spec.type));
    std::vector<double> values;
    for (std::int64_t e = 0; e < support::elementCount(spec.shape); ++e) {
      values.push_back(
          loadElement(spec.type, buffer.element0() + size * offsetOf(spec, e)));
    }
    results.push_back(std::move(values));
  }
  return results;
}

Call::Results Call::reference() const {
  if (reference_.empty()) {
    Storage storage = makeStorage(operands_);
    const auto addresses = storage.addresses();
    kind_->reference({operands_.signature(attributes_), addresses});
    reference_ = read(operands_, storage);
  }
  return reference_;
}

Call::Planned Call::makePlan(std::size_t entry) const {
  if (entry >= kind_->kernels.size()) {
    return {};
  }
  const auto &kernel = kind_->kernels[entry];
  const auto layouts = kernel.layouts(operands_.signature(attributes_));
  if (!layouts) {
    return {};
  }
  Planned planned{operands_, nullptr};
  auto &[inputs, outputs] = planned.operands;
  for (std::size_t i = 0; i < layouts->size(); ++i) {
    auto &spec = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
    spec.layout = (*layouts)[i];
  }
  planned.plan = kernel.plan(planned.operands.signature(attributes_));
  return planned;
}

std::size_t Call::kernelNamed(std::string_view name) const {
  const auto &kernels = kind_->kernels;
  const auto found = std::find_if(
      kernels.begin(), kernels.end(),
      [&](const KernelEntry &entry) { return entry.name == name; });
  if (found == kernels.end()) {
    throw std::invalid_argument("no kernel is called " + std::string(name));
  }
  return static_cast<std::size_t>(found - kernels.begin());
}

bool Call::isTaken(std::size_t entry) const {
  return makePlan(entry).plan != nullptr;
}

std::size_t Call::taskCount(std::size_t entry) const {
  return makePlan(entry).plan->tasks().size();
}

void Call::runInPlace(const Planned &planned,
                      const std::vector<std::uint32_t> &order, Storage &storage,
                      PlanMemory &memory) const {
  const std::size_t inputCount = planned.operands.inputs.size();
  auto addresses = storage.addresses();
  std::vector<bool> isShared(planned.operands.outputs.size(), false);
  for (const auto &[input, output] : kind_->inPlace) {
    if (input < inputCount && output < isShared.size() && !isShared[output]) {
      isShared[output] = true;
      auto &target = storage.operands[inputCount + output];
      std::copy_n(storage.operands[input].lowest(), target.bytes(),
                  target.lowest());
      addresses[input] = addresses[inputCount + output];
    }
  }
  for (auto task : order) {
    planned.plan->run(task, addresses.data(), memory.beginTask());
  }
}

void Call::runChecked(const Planned &planned,
                      const std::vector<std::uint32_t> &order, Storage &storage,
                      PlanMemory &memory) const {
  const std::size_t inputCount = planned.operands.inputs.size();
  for (auto index : order) {
    const Task &task = planned.plan->tasks()[index];
    Storage limited = storage;
    for (std::uint32_t i = 0; i < inputCount; ++i) {
      poisonUndeclared(limited.operands[i], i, task);
    }
    const Storage before = limited;
    const auto addresses = limited.addresses();
    planned.plan->run(index, addresses.data(), memory.beginTask());
    for (std::uint32_t i = 0; i < limited.operands.size(); ++i) {
      EXPECT_TRUE(limited.operands[i].isGuardIntact())
          << kind_->name << ": outside operand " << i;
      expectOnlyDeclaredWrites(before.operands[i], limited.operands[i], i,
                               task);
      if (i >= inputCount) {
        std::copy_n(limited.operands[i].lowest(), limited.operands[i].bytes(),
                    storage.operands[i].lowest());
      }
    }
  }
}

Call::Results Call::fast(std::size_t entry, bool overwrites) const {
  const auto planned = makePlan(entry);
  if (planned.plan == nullptr) {
    ADD_FAILURE() << kind_->name << ": the kernel does not take the call";
    return {};
  }
  const auto &tasks = planned.plan->tasks();
  Storage storage = makeStorage(planned.operands);
  PlanMemory memory(*planned.plan);
  std::vector<std::uint32_t> order(tasks.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return tasks[a].stage < tasks[b].stage;
  });
  // A run before leaves nothing behind that the next one may rely on.
  Storage other = storage;
  const auto addresses = other.addresses();
  for (auto task : order) {
    planned.plan->run(task, addresses.data(), memory.beginTask());
  }
  memory.beginRun();
  if (overwrites) {
    runInPlace(planned, order, storage, memory);
  } else {
    runChecked(planned, order, storage, memory);
  }
  for (std::size_t i = 0; i < planned.operands.outputs.size(); ++i) {
    const auto &spec = planned.operands.outputs[i];
    if (spec.layout == Layout::BatchLanes16) {
      expectZeroPadding(spec,
                        storage.operands[planned.operands.inputs.size() + i]);
    }
  }
  return read(planned.operands, storage);
}

double Call::microseconds(std::size_t entry) const {
  using Clock = std::chrono::steady_clock;
  const auto planned = makePlan(entry);
  Storage storage = makeStorage(planned.operands);
  const PlanMemory memory(*planned.plan);
  const auto addresses = storage.addresses();
  double best = 1e9;
  constexpr int repetitions = 20;
  for (int round = 0; round < 30; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < repetitions; ++i) {
      for (std::uint32_t task = 0; task < planned.plan->tasks().size();
           ++task) {
        planned.plan->run(task, addresses.data(), memory.both());
      }
    }
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    best = std::min(best, time.count() / repetitions);
  }
  return best;
}

} // namespace kernels::testing
