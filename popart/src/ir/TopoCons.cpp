// Constraints on schedules.
#include <popart/topocons.hpp>

namespace popart {

void TopoCons::insert(Op *before, Op *after, bool tied) {
  bool &isTied = afters_[before][after];
  isTied = isTied || tied;
}

void TopoCons::insert(const OpMap<std::vector<Op *>> &befores, bool tied) {
  for (const auto &[after, all] : befores) {
    for (Op *before : all) {
      insert(before, after, tied);
    }
  }
}

void TopoCons::remove(Op *before, Op *after) {
  auto found = afters_.find(before);
  if (found != afters_.end()) {
    found->second.erase(after);
    if (found->second.empty()) {
      afters_.erase(found);
    }
  }
}

void TopoCons::remove(Op *op) {
  for (Op *before : getBefores(op)) {
    remove(before, op);
  }
  afters_.erase(op);
}

void TopoCons::transfer(Op *from, Op *to, bool removeOld) {
  transferToMultiple(from, {to}, removeOld);
}

void TopoCons::transferToMultiple(Op *from, const std::vector<Op *> &to,
                                  bool removeOld) {
  for (Op *op : to) {
    for (Op *before : getBefores(from)) {
      bool isTied = afters_.at(before).at(from);
      insert(before, op, isTied);
    }
    for (Op *after : getAfters(from)) {
      bool isTied = afters_.at(from).at(after);
      insert(op, after, isTied);
    }
  }
  if (removeOld) {
    remove(from);
  }
}

bool TopoCons::contains(Op *before, Op *after) const {
  auto found = afters_.find(before);
  return found != afters_.end() && found->second.count(after) > 0;
}

bool TopoCons::hasConstraint(Op *op) const {
  return afters_.count(op) > 0 || !getBefores(op).empty();
}

std::vector<Op *> TopoCons::getAfters(Op *before) const {
  std::vector<Op *> ops;
  auto found = afters_.find(before);
  if (found != afters_.end()) {
    for (const auto &[after, isTied] : found->second) {
      ops.push_back(after);
    }
  }
  return ops;
}

std::vector<Op *> TopoCons::getBefores(Op *after) const {
  std::vector<Op *> ops;
  for (const auto &[before, afters] : afters_) {
    if (afters.count(after) > 0) {
      ops.push_back(before);
    }
  }
  return ops;
}

std::vector<Op *> TopoCons::getTiedAfters(Op *before) const {
  std::vector<Op *> ops;
  for (Op *after : getAfters(before)) {
    if (afters_.at(before).at(after)) {
      ops.push_back(after);
    }
  }
  return ops;
}

std::vector<Op *> TopoCons::getTiedBefores(Op *after) const {
  std::vector<Op *> ops;
  for (Op *before : getBefores(after)) {
    if (afters_.at(before).at(after)) {
      ops.push_back(before);
    }
  }
  return ops;
}

std::vector<Op *> TopoCons::getAllBefores(Op *after) const {
  OpSet seen;
  std::vector<Op *> waiting = getBefores(after);
  while (!waiting.empty()) {
    Op *op = waiting.back();
    waiting.pop_back();
    if (seen.insert(op).second) {
      for (Op *before : getBefores(op)) {
        waiting.push_back(before);
      }
    }
  }
  return {seen.begin(), seen.end()};
}

} // namespace popart
