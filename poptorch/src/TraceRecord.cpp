#include "TraceRecord.hpp"

namespace poptorch {

std::vector<TensorNumber> tensorArguments(const TracedCall &call) {
  std::vector<TensorNumber> numbers;
  for (const TraceArgument &argument : call.arguments) {
    if (const auto *one = std::get_if<TensorReference>(&argument)) {
      numbers.push_back(one->number);
    } else if (const auto *many =
                   std::get_if<std::vector<TensorReference>>(&argument)) {
      for (TensorReference reference : *many) {
        if (reference.number >= 0) {
          numbers.push_back(reference.number);
        }
      }
    }
  }
  return numbers;
}

} // namespace poptorch
