// The name of an operator as a constant that costs a program nothing: there are
// hundreds of them in popart/operators.hpp.
#pragma once

#include <popart/operatoridentifier.hpp>

namespace popart {

struct KnownOperator {
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for one
  operator OperatorIdentifier() const {
    return OperatorIdentifier(domain, type, version);
  }

  const char *domain;
  const char *type;
  int version;
};

} // namespace popart
