// oneDNN's side of the operations' benchmark: bare primitives, with operands in
// the layouts that oneDNN asks for; bringing them there is not timed.
#include "Worker.hpp"

#include <dnnl.hpp>

#include <cmath>
#include <map>
#include <stdexcept>

namespace {

using namespace operations;
using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;

memory::desc plainDesc(const Shape &shape, bool isTransposed = false) {
  memory::dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  memory::dims dims = shape;
  if (isTransposed) {
    std::reverse(dims.begin(), dims.end());
    std::reverse(strides.begin(), strides.end());
  }
  return {dims, memory::data_type::f32, strides};
}

memory::desc anyDesc(const Shape &shape) {
  return {shape, memory::data_type::f32, Tag::any};
}

class Worker {
public:
  Json prepare(const Json &description) {
    description_ = description;
    operands_.clear();
    results_.clear();
    const auto kind = description.at("kind").get<std::string>();
    const auto found = makers().find(kind);
    if (found == makers().end()) {
      throw std::runtime_error("not timed with oneDNN: " + kind);
    }
    (this->*found->second)();
    call(1);
    const double estimate = bestOf(1e-3, [&] { call(1); });
    repeats_ = repeatsFor(estimate);
    Json answer = Json::array();
    for (const auto &result : results_) {
      answer.push_back(samplesOf(read(result)));
    }
    return {{"outputs", answer}};
  }

  double time(double seconds) {
    return bestOf(seconds, [&] { call(repeats_); }) / repeats_;
  }

private:
  using Maker = void (Worker::*)();
  static const std::map<std::string, Maker> &makers() {
    static const std::map<std::string, Maker> all{
        {"matmul", &Worker::makeMatmul},
        {"convolution", &Worker::makeConvolution},
        {"convolutionDataGrad", &Worker::makeConvolutionDataGrad},
        {"convolutionWeightGrad", &Worker::makeConvolutionWeightGrad},
        {"elementwise", &Worker::makeElementwise},
        {"softmax", &Worker::makeSoftmax},
        {"logSoftmax", &Worker::makeLogSoftmax},
        {"reduce", &Worker::makeReduce},
        {"maxPool", &Worker::makeMaxPool},
        {"maxPoolGrad", &Worker::makeMaxPoolGrad}};
    return all;
  }

  void call(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      primitive_.execute(stream_, operands_);
    }
    stream_.wait();
  }

  Shape shape(std::size_t input) const {
    return description_.at("inputs").at(input).at("shape").get<Shape>();
  }
  memory::dims ints(const char *name) const {
    return description_.at("attributes").at(name).get<memory::dims>();
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
    const Json &input = description_.at("inputs").at(number);
    auto values = inputValues(input, static_cast<std::uint32_t>(number));
    memory plain(plainDesc(shape(number), input.value("transposed", false)),
                 engine_, values.data());
    memory brought(desc, engine_);
    dnnl::reorder(plain, brought).execute(stream_, plain, brought);
    stream_.wait();
    return brought;
  }

  memory addResult(const memory::desc &desc) {
    results_.emplace_back(desc, engine_);
    return results_.back();
  }

  // In row-major order.
  std::vector<float> read(const memory &result) {
    const auto dims = result.get_desc().dims();
    std::vector<float> values(static_cast<std::size_t>(elements(dims)));
    memory plain(plainDesc(dims), engine_, values.data());
    memory source = result;
    dnnl::reorder(source, plain).execute(stream_, source, plain);
    stream_.wait();
    return values;
  }

  void makeMatmul() {
    const Json &inputs = description_.at("inputs");
    const auto desc = [&](std::size_t number) {
      return plainDesc(shape(number),
                       inputs.at(number).value("transposed", false));
    };
    const memory::desc a = desc(0);
    const memory::desc b = desc(1);
    const memory::desc c = plainDesc({a.dims()[0], b.dims()[1]});
    const dnnl::matmul::primitive_desc made({a, b, c}, engine_);
    primitive_ = dnnl::matmul(made);
    operands_ = {{DNNL_ARG_SRC, bring(0, a)},
                 {DNNL_ARG_WEIGHTS, bring(1, b)},
                 {DNNL_ARG_DST, addResult(c)}};
  }

  dnnl::convolution_forward::primitive_desc
  forwardConvolution(const Shape &x, const Shape &w, const Shape &y) const {
    return {{prop_kind::forward_training, algorithm::convolution_direct,
             anyDesc(x), anyDesc(w), anyDesc(y), ints("strides"), dilations(),
             ints("padLower"), ints("padUpper")},
            engine_};
  }

  // Of the result of a convolution.
  Shape resultShape(const Shape &x, const Shape &w) const {
    Shape y{x[0], w[0], 0, 0};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto kernel = (w[i + 2] - 1) * ints("dilations")[i] + 1;
      const auto padded = x[i + 2] + ints("padLower")[i] + ints("padUpper")[i];
      y[i + 2] = (padded - kernel) / ints("strides")[i] + 1;
    }
    return y;
  }

  void makeConvolution() {
    const auto made =
        forwardConvolution(shape(0), shape(1), resultShape(shape(0), shape(1)));
    primitive_ = dnnl::convolution_forward(made);
    operands_ = {{DNNL_ARG_SRC, bring(0, made.src_desc())},
                 {DNNL_ARG_WEIGHTS, bring(1, made.weights_desc())},
                 {DNNL_ARG_DST, addResult(made.dst_desc())}};
  }

  void makeConvolutionDataGrad() {
    const Shape x = ints("inputShape");
    const auto forward = forwardConvolution(x, shape(1), shape(0));
    const dnnl::convolution_backward_data::primitive_desc made(
        {algorithm::convolution_direct, anyDesc(x), anyDesc(shape(1)),
         anyDesc(shape(0)), ints("strides"), dilations(), ints("padLower"),
         ints("padUpper")},
        engine_, forward);
    primitive_ = dnnl::convolution_backward_data(made);
    operands_ = {{DNNL_ARG_DIFF_DST, bring(0, made.diff_dst_desc())},
                 {DNNL_ARG_WEIGHTS, bring(1, made.weights_desc())},
                 {DNNL_ARG_DIFF_SRC, addResult(made.diff_src_desc())}};
  }

  void makeConvolutionWeightGrad() {
    const auto kernel = ints("kernelShape");
    const Shape w{shape(0)[1], shape(1)[1], kernel[0], kernel[1]};
    const auto forward = forwardConvolution(shape(1), w, shape(0));
    const dnnl::convolution_backward_weights::primitive_desc made(
        {algorithm::convolution_direct, anyDesc(shape(1)), anyDesc(w),
         anyDesc(shape(0)), ints("strides"), dilations(), ints("padLower"),
         ints("padUpper")},
        engine_, forward);
    primitive_ = dnnl::convolution_backward_weights(made);
    operands_ = {{DNNL_ARG_DIFF_DST, bring(0, made.diff_dst_desc())},
                 {DNNL_ARG_SRC, bring(1, made.src_desc())},
                 {DNNL_ARG_DIFF_WEIGHTS, addResult(made.diff_weights_desc())}};
  }

  void makeElementwise() {
    static const std::map<std::string, algorithm> unary{
        {"relu(a)", algorithm::eltwise_relu},
        {"exp(a)", algorithm::eltwise_exp},
        {"tanh(a)", algorithm::eltwise_tanh},
        {"sigmoid(a)", algorithm::eltwise_logistic}};
    static const std::map<std::string, algorithm> binary{
        {"a+b", algorithm::binary_add}, {"a*b", algorithm::binary_mul}};
    const auto expression = description_.at("expression").get<std::string>();
    const memory::desc a = plainDesc(shape(0));
    operands_[DNNL_ARG_DST] = addResult(a);
    if (const auto found = unary.find(expression); found != unary.end()) {
      primitive_ = dnnl::eltwise_forward(
          {{prop_kind::forward_inference, found->second, a}, engine_});
      operands_[DNNL_ARG_SRC] = bring(0, a);
      return;
    }
    const auto found = binary.find(expression);
    if (found == binary.end()) {
      throw std::runtime_error("not timed with oneDNN: " + expression);
    }
    // oneDNN broadcasts between operands of the same rank.
    Shape second = shape(1);
    second.insert(second.begin(), a.dims().size() - second.size(), 1);
    description_["inputs"][1]["shape"] = second;
    const memory::desc b = plainDesc(second);
    primitive_ = dnnl::binary({{found->second, a, b, a}, engine_});
    operands_[DNNL_ARG_SRC_0] = bring(0, a);
    operands_[DNNL_ARG_SRC_1] = bring(1, b);
  }

  void makeSoftmax() {
    const memory::desc x = plainDesc(shape(0));
    const auto axis = static_cast<int>(x.dims().size()) - 1;
    primitive_ = dnnl::softmax_forward(
        {{prop_kind::forward_training, x, axis}, engine_});
    operands_ = {{DNNL_ARG_SRC, bring(0, x)}, {DNNL_ARG_DST, addResult(x)}};
  }

  void makeLogSoftmax() {
    const memory::desc x = plainDesc(shape(0));
    const auto axis = static_cast<int>(x.dims().size()) - 1;
    primitive_ = dnnl::logsoftmax_forward(
        {{prop_kind::forward_training, x, axis}, engine_});
    operands_ = {{DNNL_ARG_SRC, bring(0, x)}, {DNNL_ARG_DST, addResult(x)}};
  }

  void makeReduce() {
    static const std::map<std::string, algorithm> all{
        {"ADD", algorithm::reduction_sum}, {"MAX", algorithm::reduction_max}};
    const Json &attributes = description_.at("attributes");
    Shape reduced = shape(0);
    for (const auto dim : ints("dims")) {
      reduced[static_cast<std::size_t>(dim)] = 1;
    }
    const memory::desc x = plainDesc(shape(0));
    const memory::desc y = plainDesc(reduced);
    primitive_ = dnnl::reduction(
        {{all.at(attributes.at("op").get<std::string>()), x, y, 0, 0},
         engine_});
    operands_ = {{DNNL_ARG_SRC, bring(0, x)}, {DNNL_ARG_DST, addResult(y)}};
  }

  dnnl::pooling_forward::primitive_desc forwardPool(const Shape &x) const {
    Shape y = x;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto padded = x[i + 2] + ints("padLower")[i] + ints("padUpper")[i];
      y[i + 2] = (padded - ints("kernel")[i]) / ints("strides")[i] + 1;
    }
    // oneDNN gives the layout back that it is given: channels in blocks are
    // its fastest from 16 on.
    const memory::desc source(x, memory::data_type::f32,
                              x[1] % 16 == 0 ? Tag::nChw16c : Tag::nchw);
    return {{prop_kind::forward_training, algorithm::pooling_max, source,
             anyDesc(y), ints("strides"), ints("kernel"), ints("padLower"),
             ints("padUpper")},
            engine_};
  }

  void makeMaxPool() {
    const auto made = forwardPool(shape(0));
    primitive_ = dnnl::pooling_forward(made);
    operands_ = {{DNNL_ARG_SRC, bring(0, made.src_desc())},
                 {DNNL_ARG_WORKSPACE, memory(made.workspace_desc(), engine_)},
                 {DNNL_ARG_DST, addResult(made.dst_desc())}};
  }

  void makeMaxPoolGrad() {
    const Shape x = ints("inputShape");
    const auto forward = forwardPool(x);
    const memory source = [&] {
      const Json gradient = description_;
      description_ = description_.at("before");
      memory brought = bring(0, forward.src_desc());
      description_ = gradient;
      return brought;
    }();
    memory workspace(forward.workspace_desc(), engine_);
    memory pooled(forward.dst_desc(), engine_);
    dnnl::pooling_forward(forward).execute(stream_,
                                           {{DNNL_ARG_SRC, source},
                                            {DNNL_ARG_WORKSPACE, workspace},
                                            {DNNL_ARG_DST, pooled}});
    stream_.wait();
    const dnnl::pooling_backward::primitive_desc made(
        {algorithm::pooling_max, forward.src_desc(), forward.dst_desc(),
         ints("strides"), ints("kernel"), ints("padLower"), ints("padUpper")},
        engine_, forward);
    primitive_ = dnnl::pooling_backward(made);
    operands_ = {{DNNL_ARG_DIFF_DST, bring(0, made.diff_dst_desc())},
                 {DNNL_ARG_WORKSPACE, workspace},
                 {DNNL_ARG_DIFF_SRC, addResult(made.diff_src_desc())}};
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Json description_;
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> operands_;
  std::vector<memory> results_;
  unsigned repeats_ = 1;
};

} // namespace

int main() {
  Worker worker;
  serve([&](const Json &description) { return worker.prepare(description); },
        [&](double seconds) { return worker.time(seconds); });
}
