#include "Dependences.hpp"

#include "AtenTable.hpp"
#include "Error.hpp"

#include <algorithm>
#include <iterator>

namespace poptorch {
namespace {

bool isLoss(const TracedCall &call) {
  const AtenRow *row = findAtenRow(call.op);
  return row && row->isLoss;
}

// A loss that an autograd.Function's forward() computed is the function's: its
// backward() says what the gradient is.
CallIndex functionOf(const TraceRecord &record, CallIndex loss) {
  TensorNumber value = record.calls[loss].results.front();
  for (CallIndex i = loss + 1; i < record.calls.size(); ++i) {
    const TracedCall &call = record.calls[i];
    if (call.op == "poptorch::custom_gradient" &&
        tensorArguments(call).front() == value) {
      return i;
    }
  }
  return loss;
}

} // namespace

Dependences::Dependences(const TraceRecord &record)
    : record_(record), producer_(record.tensors.size(), noCall) {
  for (CallIndex i = 0; i < record.calls.size(); ++i) {
    for (TensorNumber number : record.calls[i].results) {
      if (number >= 0) {
        producer_[static_cast<std::size_t>(number)] = i;
      }
    }
  }
}

void Dependences::collect(TensorNumber number, std::set<TensorNumber> &tensors,
                          std::set<CallIndex> &calls) const {
  std::vector<TensorNumber> todo = {number};
  while (!todo.empty()) {
    TensorNumber next = todo.back();
    todo.pop_back();
    if (!tensors.insert(next).second) {
      continue;
    }
    CallIndex call = producer_[static_cast<std::size_t>(next)];
    if (call != noCall && calls.insert(call).second) {
      for (TensorNumber argument : tensorArguments(record_.calls[call])) {
        todo.push_back(argument);
      }
    }
  }
}

CallIndex findLoss(const TraceRecord &record, const Dependences &dependences) {
  std::set<CallIndex> losses;
  std::set<CallIndex> demoted;
  for (CallIndex i = 0; i < record.calls.size(); ++i) {
    if (!isLoss(record.calls[i])) {
      continue;
    }
    losses.insert(i);
    std::set<TensorNumber> tensors;
    std::set<CallIndex> calls;
    for (TensorNumber argument : tensorArguments(record.calls[i])) {
      dependences.collect(argument, tensors, calls);
    }
    std::set_intersection(losses.begin(), losses.end(), calls.begin(),
                          calls.end(), std::inserter(demoted, demoted.end()));
  }
  for (CallIndex i : demoted) {
    losses.erase(i);
  }
  if (losses.empty()) {
    throw Error("Couldn't find a loss in graph! Call a loss of torch.nn in "
                "forward(), or mark a tensor with poptorch.identity_loss.");
  }
  if (losses.size() > 1) {
    throw Error("Multiple independent losses found in graph. Combine them and "
                "wrap the final loss in poptorch.identity_loss.");
  }
  return functionOf(record, *losses.begin());
}

} // namespace poptorch
