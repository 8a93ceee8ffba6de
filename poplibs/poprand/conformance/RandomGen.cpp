// Random numbers for the conformance tests.
#include "Libraries.hpp"

#include <poprand/RandomGen.hpp>
#include <poprand/codelets.hpp>

#include <popops/codelets.hpp>

namespace conformance {
namespace {

// What every operation takes: where the numbers go and what they are drawn
// from. A row without a seed draws from the hardware seeds.
struct Draw {
  explicit Draw(Call &call) : call(call) {
    poprand::addCodelets(call.graph());
    popops::addCodelets(call.graph());
  }

  const poplar::Tensor *seed() const {
    return call.hasTensor("seed") ? &call.tensor("seed") : nullptr;
  }
  std::uint32_t modifier() const { return call.get<unsigned>("modifier", 0U); }
  poplar::Type type() const { return call.get<poplar::Type>("type"); }
  double number(const std::string &name) const {
    return call.get<double>(name);
  }

  Call &call;
};

void uniform(Call &call) {
  const Draw draw(call);
  call.output("out", poprand::uniform(call.graph(), draw.seed(),
                                      draw.modifier(), call.tensor("like"),
                                      draw.type(), draw.number("min"),
                                      draw.number("max"), call.program()));
}

void normal(Call &call) {
  const Draw draw(call);
  call.output("out", poprand::normal(call.graph(), draw.seed(), draw.modifier(),
                                     call.tensor("like"), draw.type(),
                                     draw.number("mean"), draw.number("stdDev"),
                                     call.program()));
}

void truncatedNormal(Call &call) {
  const Draw draw(call);
  call.output("out",
              poprand::truncatedNormal(
                  call.graph(), draw.seed(), draw.modifier(),
                  call.tensor("like"), draw.type(), draw.number("mean"),
                  draw.number("stdDev"), draw.number("alpha"), call.program()));
}

void bernoulli(Call &call) {
  const Draw draw(call);
  call.output("out",
              poprand::bernoulli(call.graph(), draw.seed(), draw.modifier(),
                                 call.tensor("like"), draw.type(),
                                 draw.number("prob"), call.program()));
}

void logUniform(Call &call) {
  const Draw draw(call);
  call.output("out", poprand::logUniform(call.graph(), draw.seed(),
                                         draw.modifier(), call.tensor("like"),
                                         draw.type(), draw.number("min"),
                                         draw.number("max"), call.program()));
}

void dropout(Call &call) {
  const Draw draw(call);
  call.output("out", poprand::dropout(call.graph(), draw.seed(),
                                      draw.modifier(), call.tensor("in"),
                                      call.tensor("in"), draw.number("keep"),
                                      draw.number("scale"), call.program()));
}

void shapedDropout(Call &call) {
  const Draw draw(call);
  call.output("out",
              poprand::shapedDropout(call.graph(), draw.seed(), draw.modifier(),
                                     call.tensor("in"), call.tensor("like"),
                                     draw.number("keep"), draw.number("scale"),
                                     call.program()));
}

} // namespace

void addPoprand(Operations &operations) {
  operations["poprand.uniform"] = uniform;
  operations["poprand.normal"] = normal;
  operations["poprand.truncatedNormal"] = truncatedNormal;
  operations["poprand.bernoulli"] = bernoulli;
  operations["poprand.logUniform"] = logUniform;
  operations["poprand.dropout"] = dropout;
  operations["poprand.shapedDropout"] = shapedDropout;
}

} // namespace conformance
