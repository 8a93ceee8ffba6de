// Arrays for a step, one micro-batch after another.
#include <popart/stepio.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

namespace popart {
namespace {

template <typename Map>
auto &find(Map &map, const TensorId &id, const char *what) {
  auto found = map.find(id);
  support::requireUser<error>(
      found != map.end(), "[StepIO] no {} was given for tensor '{}'", what, id);
  return found->second;
}

// The next `count` elements; the array starts again when it is used up.
template <typename Cursor>
char *advance(Cursor &cursor, std::int64_t count, const TensorInfo &info) {
  auto total = static_cast<std::int64_t>(cursor.array->nelms());
  if (cursor.element + count > total) {
    cursor.element = 0;
  }
  char *data = static_cast<char *>(cursor.array->data()) +
               cursor.element * (info.nbytes() / count);
  cursor.element += count;
  return data;
}

} // namespace

StepIO::StepIO(const std::map<TensorId, IArray &> &inputs,
               const std::map<TensorId, IArray &> &outputs) {
  for (const auto &[id, array] : inputs) {
    inputs_[id] = {&array, 0};
  }
  for (const auto &[id, array] : outputs) {
    outputs_[id] = {&array, 0};
  }
}

ConstVoidData StepIO::in(TensorId id, std::int64_t numElements, bool, bool) {
  Cursor &cursor = find(inputs_, id, "input");
  TensorInfo info(cursor.array->dataType(), {numElements});
  return {advance(cursor, numElements, info), info};
}

void StepIO::inComplete(TensorId, std::int64_t, bool) {}

MutableVoidData StepIO::out(TensorId id, std::int64_t numElements) {
  Cursor &cursor = find(outputs_, id, "output");
  TensorInfo info(cursor.array->dataType(), {numElements});
  return {advance(cursor, numElements, info), info};
}

void StepIO::outComplete(TensorId) {}

IArray *StepIO::findInput(const TensorId &id) const {
  auto found = inputs_.find(id);
  return found == inputs_.end() ? nullptr : found->second.array;
}

IArray *StepIO::findOutput(const TensorId &id) const {
  auto found = outputs_.find(id);
  return found == outputs_.end() ? nullptr : found->second.array;
}

} // namespace popart
