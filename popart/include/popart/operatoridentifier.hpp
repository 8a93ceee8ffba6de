// The name of an operator: domain, type and version.
#pragma once

#include <ostream>
#include <string>
#include <tuple>
#include <utility>

namespace popart {

using OpDomain = std::string;
using OpType = std::string;
using OpVersion = int;

// How many inputs an operator takes.
struct NumInputs {
  NumInputs() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a range of one
  NumInputs(int count) : min(count), max(count) {}
  NumInputs(int least, int most) : min(least), max(most) {}

  int min = 0;
  int max = 0;
};

struct OperatorIdentifier {
  OperatorIdentifier() = default;
  OperatorIdentifier(std::string domain, std::string type, int version = 1,
                     NumInputs inputs = {}, int outputs = 0)
      : domain(domain.empty() ? "ai.onnx" : std::move(domain)),
        type(std::move(type)), version(version), numInputs(inputs),
        numOutputs(outputs) {}

  std::string domain; // "ai.onnx", "ai.graphcore", "aspen" for internal ones
  std::string type;
  int version = 1;
  // What a custom operator says of itself; they are no part of its name.
  NumInputs numInputs;
  int numOutputs = 0;

  friend bool operator==(const OperatorIdentifier &a,
                         const OperatorIdentifier &b) {
    return a.key() == b.key();
  }
  friend bool operator!=(const OperatorIdentifier &a,
                         const OperatorIdentifier &b) {
    return !(a == b);
  }
  friend bool operator<(const OperatorIdentifier &a,
                        const OperatorIdentifier &b) {
    return a.key() < b.key();
  }
  friend std::ostream &operator<<(std::ostream &out,
                                  const OperatorIdentifier &opid) {
    return out << opid.domain << '.' << opid.type << ':' << opid.version;
  }

private:
  std::tuple<const std::string &, const std::string &, int> key() const {
    return std::tuple<const std::string &, const std::string &, int>(
        domain, type, version);
  }
};

} // namespace popart
