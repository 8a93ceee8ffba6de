// Numbers for operations: equal ones do the same work in the same place.
#pragma once

#include <popart/graph.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace popart {

class OpSignatures {
public:
  // Kind, attributes, types, shapes, constants and the IPU all count; names,
  // stages and phases, and the variables that are read do not.
  int of(const Op &op);
  // A number that no operation has.
  int none() { return next_++; }

private:
  struct Known {
    const Op *op;
    int number;
  };

  std::map<std::string, std::vector<Known>> known_;
  int next_ = 0;
};

} // namespace popart
