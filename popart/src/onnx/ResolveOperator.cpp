// Which version of which operator a node of a model means.
#include <onnx/Import.hpp>

#include <onnx/Schemas.hpp>
#include <ops/OpRule.hpp>
#include <popart/error.hpp>
#include <popart/opmanager.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <algorithm>

namespace popart {

OperatorIdentifier resolveOperator(const std::string &domain,
                                   const std::string &type, int opset,
                                   bool strictOpVersions,
                                   const std::string &node) {
  OperatorIdentifier opid{domain, type, std::max(opset, 1)};
  const OpRule *rule = findOpRule(opid);
  if (!rule) { // a shared object may have brought it
    if (const auto *custom = OpManager::find(domain, type, opid.version)) {
      return *custom;
    }
  }
  if (domain != "ai.onnx") {
    support::requireUser<error>(rule != nullptr && domain != "aspen",
                                "No class for {}.{}:{} at {}", domain, type,
                                opid.version, node);
    return opid;
  }
  auto schema = findOnnxOperator(type, opset);
  opid.version = schema ? schema->sinceVersion : opset;
  const std::vector<int> none;
  const std::vector<int> &known = rule ? rule->schema.versions : none;
  if (std::find(known.begin(), known.end(), opid.version) != known.end()) {
    return opid;
  }
  if (!strictOpVersions) {
    int lower = 0;
    for (int version : known) {
      lower = version < opid.version ? std::max(lower, version) : lower;
    }
    if (lower > 0) {
      opid.version = lower;
      return opid;
    }
  }
  support::requireUser<error>(
      known.empty(),
      "No class for {}.{}:{} at {}; its versions are "
      "{} (option strictOpVersions)",
      domain, type, opid.version, node,
      support::toString(std::vector<std::int64_t>(known.begin(), known.end())));
  throw error(fmt::format("No class for {}.{}:{} at {}", domain, type,
                          opid.version, node));
}

} // namespace popart
