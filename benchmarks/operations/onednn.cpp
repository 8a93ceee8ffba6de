// oneDNN's side of the operations' benchmark: bare primitives, with operands in
// the layouts that oneDNN asks for; bringing them there is not timed.
#include "PrimitiveCase.hpp"

#include <map>
#include <memory>
#include <stdexcept>

namespace {

using namespace operations;

const std::map<std::string, Maker> makers{
    {"matmul", makeMatmul},
    {"convolution", makeConvolution},
    {"convolutionDataGrad", makeConvolutionDataGrad},
    {"convolutionWeightGrad", makeConvolutionWeightGrad},
    {"elementwise", makeElementwise},
    {"softmax", makeSoftmax},
    {"logSoftmax", makeLogSoftmax},
    {"reduce", makeReduce},
    {"maxPool", makePool},
    {"maxPoolGrad", makePoolGrad},
    {"pool", makePool},
    {"poolGrad", makePoolGrad},
    {"batchNorm", makeBatchNorm},
    {"batchNormGrad", makeBatchNormGrad},
    {"groupNorm", makeLayerNorm}};

class Worker {
public:
  Json prepare(const Json &description) {
    const auto kind = description.at("kind").get<std::string>();
    const auto found = makers.find(kind);
    if (found == makers.end()) {
      throw std::runtime_error("not timed with oneDNN: " + kind);
    }
    for (const Json &input : description.at("inputs")) {
      if (input.contains("type")) {
        throw std::runtime_error("timed with oneDNN in float only");
      }
    }
    case_ = std::make_unique<PrimitiveCase>(description);
    found->second(*case_);
    case_->call(1);
    repeats_ = repeatsFor(bestOf(1e-3, [&] { case_->call(1); }));
    Json answer = Json::array();
    for (const auto &result : case_->results) {
      answer.push_back(samplesOf(case_->read(result)));
    }
    return {{"outputs", answer}};
  }

  double time(double seconds) {
    return bestOf(seconds, [&] { case_->call(repeats_); }) / repeats_;
  }

private:
  std::unique_ptr<PrimitiveCase> case_;
  unsigned repeats_ = 1;
};

} // namespace

int main() {
  Worker worker;
  serve([&](const Json &description) { return worker.prepare(description); },
        [&](double seconds) { return worker.time(seconds); });
}
