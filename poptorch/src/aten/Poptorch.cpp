// PopTorch's own operators.
#include "AtenTable.hpp"
#include "Parts.hpp"

#include <fmt/format.h>
#include <support/Shape.hpp>

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// Annotations: the values pass through.
void lowerIdentity(CallLowering &call) {
  call.setResult(0, call.tensor(0));
}

// recomputation_checkpoint(x)
void lowerCheckpoint(CallLowering &call) {
  call.keep(call.tensor(0));
  call.setResult(0, call.tensor(0));
}

// set_available_memory(x, proportion)
void lowerAvailableMemory(CallLowering &call) {
  call.setAvailableMemory(call.tensor(0), static_cast<float>(call.real(1)));
  call.setResult(0, call.tensor(0));
}

// set_matmul_serialization(x, mode, factor, keep_precision)
void lowerSerialization(CallLowering &call) {
  call.serializeMatMul(call.tensor(0), call.string(1), call.integer(2),
                       call.boolean(3));
  call.setResult(0, call.tensor(0));
}

void lowerNop(CallLowering &call) {
  call.setResult(0, call.addGraphcore("Nop", {call.tensor(0)}));
}

// internal_cast(x, type): the result has that type already.
void lowerInternalCast(CallLowering &call) {
  call.setResult(0, call.tensor(0));
}

// ipu_print_tensor(x, title, print_gradient, summarise_threshold, edge_items,
// max_line_width, digits, float_format, separator, open_bracket,
// close_bracket); Poplar's printer puts one character between elements.
void lowerPrint(CallLowering &call) {
  auto first = [&](std::size_t i) { return call.string(i).substr(0, 1); };
  call.setResult(
      0, call.addGraphcore("PrintTensor", {call.tensor(0)},
                           Attributes()
                               .set("title", call.string(1))
                               .set("print_gradient", call.integer(2))
                               .set("summariseThreshold", call.integer(3))
                               .set("edgeItems", call.integer(4))
                               .set("maxLineWidth", call.integer(5))
                               .set("digits", call.integer(6))
                               .set("floatFormat", call.integer(7))
                               .set("separator", first(8))
                               .set("openBracket", first(9))
                               .set("closeBracket", first(10))));
}

Attributes sliceOf(std::int64_t dim, std::int64_t size) {
  return Attributes().set("axes", Ints{dim}).set("sizes", Ints{size});
}

TensorId offsetOf(CallLowering &call, std::size_t i) {
  return call.reshape(call.tensorAs(i, DataType::INT32), {1});
}

// dynamic_slice(x, dim, start, size, step)
void lowerDynamicSlice(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto dim = dimOf(call, 1, call.rank(x));
  auto size = call.integer(3);
  TensorId y = call.addGraphcore("DynamicSlice", {x, offsetOf(call, 2)},
                                 sliceOf(dim, size));
  call.setResult(0, sliced(call, y, dim, 0, size, call.integer(4)));
}

// dynamic_update(x, source, dim, start, size)
void lowerDynamicUpdate(CallLowering &call) {
  TensorId x = call.tensor(0);
  auto dim = dimOf(call, 2, call.rank(x));
  call.setResult(0, call.addGraphcore(
                        "DynamicUpdate",
                        {x, offsetOf(call, 3), call.tensorAs(1, call.type(x))},
                        sliceOf(dim, call.integer(4))));
}

// ctc_beam_search_decoder(x, lengths, blank, beam_width, top_paths)
void lowerCtcSearch(CallLowering &call) {
  auto results =
      call.addSeveral("ai.graphcore", "CtcBeamSearchDecoder",
                      {call.tensor(0), call.tensorAs(1, DataType::INT32)}, 3,
                      Attributes()
                          .set("blank", call.integer(2))
                          .set("beam_width", call.integer(3))
                          .set("top_paths", call.integer(4)));
  for (std::size_t i = 0; i < results.size(); ++i) {
    call.setResult(i, results[i]);
  }
}

// custom_operation(inputs, name, domain, domain_version, num_outputs, outputs,
// attributes): the operator says what its results are like; the tensors in
// `outputs` are what the model sees in their place while it is traced.
void lowerCustomOperation(CallLowering &call) {
  auto count = static_cast<unsigned>(call.integer(4));
  auto results =
      call.addSeveral(call.string(2), call.string(1), call.tensors(0), count,
                      call.attributes(6), static_cast<int>(call.integer(3)));
  for (std::size_t i = 0; i < count; ++i) {
    call.setResult(i, results[i]);
  }
}

} // namespace

std::vector<AtenRow> poptorchRows() {
  std::vector<AtenRow> rows = {
      {"poptorch::nop", lowerNop},
      {"poptorch::recomputation_checkpoint", lowerCheckpoint},
      {"poptorch::set_available_memory", lowerAvailableMemory},
      {"poptorch::set_matmul_serialization", lowerSerialization},
      {"poptorch::set_overlap_for_input", lowerIdentity},
      {"poptorch::set_overlap_for_output", lowerIdentity},
      {"poptorch::internal_cast", lowerInternalCast},
      {"poptorch::dynamic_slice", lowerDynamicSlice},
      {"poptorch::dynamic_update", lowerDynamicUpdate},
      {"poptorch::custom_operation", lowerCustomOperation},
      {"poptorch::ctc_beam_search_decoder", lowerCtcSearch},
      {"poptorch::ipu_print_tensor", lowerPrint},
  };
  rows.back().hasEffect = true;
  return rows;
}

} // namespace poptorch
