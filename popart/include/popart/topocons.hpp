// Which operations come after which, besides what their tensors say. Schedules
// that are made after patterns were applied keep to it
// (transforms/ApplyUserPatterns.cpp).
#pragma once

#include <popart/op.hpp>

#include <map>
#include <vector>

namespace popart {

class TopoCons {
public:
  // `tied`: right after it, where that is possible.
  void insert(Op *before, Op *after, bool tied = false);
  // By operations, those that come before them.
  void insert(const OpMap<std::vector<Op *>> &befores, bool tied = false);
  void remove(Op *before, Op *after);
  void remove(Op *op); // from all of them
  // One operation in the place of another, or several.
  void transfer(Op *from, Op *to, bool removeOld = true);
  void transferToMultiple(Op *from, const std::vector<Op *> &to,
                          bool removeOld = true);

  bool contains(Op *before, Op *after) const;
  bool hasConstraint(Op *op) const;
  bool empty() const { return afters_.empty(); }
  std::vector<Op *> getAfters(Op *before) const;
  std::vector<Op *> getBefores(Op *after) const;
  std::vector<Op *> getTiedAfters(Op *before) const;
  std::vector<Op *> getTiedBefores(Op *after) const;
  // All operations before `after`, over any number of constraints.
  std::vector<Op *> getAllBefores(Op *after) const;

private:
  // By the first, those after it and whether they are tied to it.
  OpMap<OpMap<bool>> afters_;
};

} // namespace popart
