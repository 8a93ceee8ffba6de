// One operation as a oneDNN primitive with its operands: what the functions
// that make primitives share.
#pragma once

#include "Worker.hpp"

#include <dnnl.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace operations {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;

inline memory::desc plainDesc(const Shape &shape, bool isTransposed = false) {
  memory::dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  memory::dims dims = shape;
  if (isTransposed) {
    std::swap(*dims.rbegin(), *(dims.rbegin() + 1));
    std::swap(*strides.rbegin(), *(strides.rbegin() + 1));
  }
  return {dims, memory::data_type::f32, strides};
}

inline memory::desc anyDesc(const Shape &shape) {
  return {shape, memory::data_type::f32, Tag::any};
}

class PrimitiveCase {
public:
  explicit PrimitiveCase(Json described,
                         dnnl::engine shared = {dnnl::engine::kind::cpu, 0})
      : description(std::move(described)), engine(std::move(shared)) {}

  void call(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      primitive.execute(stream, operands);
    }
    stream.wait();
  }

  Shape shape(std::size_t input) const {
    return description.at("inputs").at(input).at("shape").get<Shape>();
  }
  memory::dims ints(const char *name) const {
    return description.at("attributes").at(name).get<memory::dims>();
  }
  // oneDNN counts the gaps between a kernel's elements.
  memory::dims dilations() const {
    memory::dims gaps = ints("dilations");
    for (auto &gap : gaps) {
      --gap;
    }
    return gaps;
  }

  // Input `number` in its layout.
  memory bring(std::size_t number, const memory::desc &desc) {
    const Json &input = description.at("inputs").at(number);
    auto values = inputValues(input, static_cast<std::uint32_t>(number));
    memory plain(plainDesc(shape(number), input.value("transposed", false)),
                 engine, values.data());
    memory brought(desc, engine);
    dnnl::reorder(plain, brought).execute(stream, plain, brought);
    stream.wait();
    return brought;
  }

  memory addResult(const memory::desc &desc) {
    results.emplace_back(desc, engine);
    return results.back();
  }

  // In row-major order.
  std::vector<float> read(const memory &result) {
    const auto dims = result.get_desc().dims();
    std::vector<float> values(static_cast<std::size_t>(elements(dims)));
    memory plain(plainDesc(dims), engine, values.data());
    memory source = result;
    dnnl::reorder(source, plain).execute(stream, source, plain);
    stream.wait();
    return values;
  }

  Json description;
  dnnl::engine engine;
  dnnl::stream stream{engine};
  dnnl::primitive primitive;
  std::unordered_map<int, memory> operands;
  std::vector<memory> results; // as the case lists its outputs
};

// Makes the primitive of a kind; throws where oneDNN has none.
using Maker = void (*)(PrimitiveCase &);
void makeMatmul(PrimitiveCase &made);
void makeConvolution(PrimitiveCase &made);
void makeConvolutionDataGrad(PrimitiveCase &made);
void makeConvolutionWeightGrad(PrimitiveCase &made);
void makeElementwise(PrimitiveCase &made);
void makeSoftmax(PrimitiveCase &made);
void makeLogSoftmax(PrimitiveCase &made);
void makeReduce(PrimitiveCase &made);
void makePool(PrimitiveCase &made);
void makePoolGrad(PrimitiveCase &made);
void makeBatchNorm(PrimitiveCase &made);
void makeBatchNormGrad(PrimitiveCase &made);
void makeLayerNorm(PrimitiveCase &made);

} // namespace operations
