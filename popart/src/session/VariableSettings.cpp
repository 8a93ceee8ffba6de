// Groups of replicas and the values that they share.
#include <popart/variablesettings.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <fmt/format.h>

#include <sstream>

namespace popart {

ReplicaGrouping::ReplicaGrouping(unsigned numReplicas)
    : ReplicaGrouping(numReplicas, 1, numReplicas) {}

ReplicaGrouping::ReplicaGrouping(unsigned numReplicas, unsigned stride,
                                 unsigned groupSize)
    : numReplicas_(numReplicas), stride_(groupSize == 1 ? 1 : stride),
      groupSize_(groupSize) {
  support::requireUser<error>(
      stride > 0 && groupSize > 0 && numReplicas > 0 &&
          numReplicas % (std::uint64_t{stride_} * groupSize) == 0,
      "[ReplicaGrouping] {} replicas cannot be in groups of {} with stride {}",
      numReplicas, groupSize, stride);
}

unsigned ReplicaGrouping::getGroupIndexOfReplica(unsigned replica) const {
  return replica / (stride_ * groupSize_) * stride_ + replica % stride_;
}

unsigned ReplicaGrouping::getIndexInGroupOfReplica(unsigned replica) const {
  return replica / stride_ % groupSize_;
}

unsigned ReplicaGrouping::getReplicaAt(unsigned group,
                                       unsigned indexInGroup) const {
  support::requireUser<error>(
      group < getNumGroups() && indexInGroup < groupSize_,
      "[ReplicaGrouping] there is no member {} of group {} in {}", indexInGroup,
      group, str());
  return group / stride_ * stride_ * groupSize_ + group % stride_ +
         indexInGroup * stride_;
}

std::vector<unsigned> ReplicaGrouping::getReplicasAt(unsigned group) const {
  std::vector<unsigned> replicas;
  for (unsigned i = 0; i < groupSize_; ++i) {
    replicas.push_back(getReplicaAt(group, i));
  }
  return replicas;
}

ReplicaGrouping ReplicaGrouping::getTranspose() const {
  unsigned groups = getNumGroups();
  support::requireUser<error>(
      stride_ == 1 || stride_ == groups,
      "[ReplicaGrouping] members of the same position in {} have no stride",
      str());
  return {numReplicas_, stride_ == 1 ? groupSize_ : 1, groups};
}

std::string ReplicaGrouping::str() const {
  return fmt::format("ReplicaGrouping(num_replicas={}, stride={}, "
                     "group_size={})",
                     numReplicas_, stride_, groupSize_);
}

ReplicaGrouping toReplicaGrouping(const CommGroup &group,
                                  unsigned numReplicas) {
  unsigned size = group.replicaGroupSize;
  switch (group.type) {
  case CommGroupType::All:
    return ReplicaGrouping(numReplicas);
  case CommGroupType::Consecutive:
    return {numReplicas, 1, size};
  case CommGroupType::Orthogonal:
    return {numReplicas, size == 0 ? 0 : numReplicas / size, size};
  case CommGroupType::None:
    return {numReplicas, 1, 1};
  }
  return ReplicaGrouping(numReplicas);
}

VariableSettings::VariableSettings(CommGroup sharedVariableDomain)
    : VariableSettings(sharedVariableDomain,
                       VariableRetrievalMode::OnePerGroup) {}

VariableSettings::VariableSettings(VariableRetrievalMode mode)
    : VariableSettings(CommGroup(), mode) {}

VariableSettings::VariableSettings(CommGroup sharedVariableDomain,
                                   VariableRetrievalMode mode)
    : domain_(sharedVariableDomain), mode_(mode) {
  verify();
}

VariableSettings::VariableSettings(unsigned stride, unsigned groupSize,
                                   VariableRetrievalMode mode)
    : stride_(stride), groupSize_(groupSize), mode_(mode) {
  support::requireUser<error>(stride > 0 && groupSize > 0,
                              "[VariableSettings] stride ({}) and group size "
                              "({}) must be at least 1",
                              stride, groupSize);
}

CommGroup VariableSettings::getSharedVariableDomain() const {
  support::requireUser<error>(isUsingCommGroup(),
                              "[VariableSettings] was made from a stride and "
                              "a group size and has no CommGroup");
  return domain_;
}

CommGroupType VariableSettings::getCommGroupType() const {
  return getSharedVariableDomain().type;
}

ReplicaGrouping
VariableSettings::getReplicaGrouping(unsigned numReplicas) const {
  return isUsingCommGroup() ? toReplicaGrouping(domain_, numReplicas)
                            : ReplicaGrouping(numReplicas, stride_, groupSize_);
}

unsigned VariableSettings::getGroupCount(unsigned replicaCount) const {
  return getReplicaGrouping(replicaCount).getNumGroups();
}

unsigned VariableSettings::getRealGroupSize(unsigned replicaCount) const {
  return getReplicaGrouping(replicaCount).getGroupSize();
}

unsigned VariableSettings::getGroupRepresentative(unsigned group) const {
  if (!isUsingCommGroup()) {
    return group / stride_ * stride_ * groupSize_ + group % stride_;
  }
  switch (domain_.type) {
  case CommGroupType::All:
    return 0;
  case CommGroupType::Consecutive:
    return group * domain_.replicaGroupSize;
  case CommGroupType::Orthogonal:
  case CommGroupType::None:
    break;
  }
  return group;
}

unsigned
VariableSettings::numReplicasReturningVariable(unsigned replicaCount) const {
  return mode_ == VariableRetrievalMode::AllReplicas
             ? replicaCount
             : getGroupCount(replicaCount);
}

Shape VariableSettings::shapeOnReplica(const Shape &fullShape,
                                       unsigned replicaCount,
                                       const TensorId &name) const {
  unsigned count = getGroupCount(replicaCount);
  if (count == 1) {
    return fullShape;
  }
  support::requireUser<error>(
      !fullShape.empty() && fullShape[0] == std::int64_t{count},
      "Variable '{}' has shape {}; its first dimension must be the number of "
      "groups of replicas, {}",
      name, support::toString(fullShape), count);
  return {fullShape.begin() + 1, fullShape.end()};
}

Shape VariableSettings::shapeOnHost(Shape replicaShape,
                                    unsigned replicaCount) const {
  unsigned count = getGroupCount(replicaCount);
  if (count > 1) {
    replicaShape.insert(replicaShape.begin(), std::int64_t{count});
  }
  return replicaShape;
}

std::vector<std::vector<std::int64_t>>
VariableSettings::groups(unsigned replicaCount) const {
  ReplicaGrouping grouping = getReplicaGrouping(replicaCount);
  std::vector<std::vector<std::int64_t>> result;
  for (unsigned group = 0; group < grouping.getNumGroups(); ++group) {
    std::vector<unsigned> replicas = grouping.getReplicasAt(group);
    result.emplace_back(replicas.begin(), replicas.end());
  }
  return result;
}

void VariableSettings::verify() const {
  bool needsSize =
      isUsingCommGroup() && (domain_.type == CommGroupType::Consecutive ||
                             domain_.type == CommGroupType::Orthogonal);
  support::requireUser<error>(!needsSize || domain_.replicaGroupSize > 0,
                              "[VariableSettings] groups of this kind have "
                              "at least 1 replica, not 0");
}

std::string VariableSettings::str() const {
  return fmt::format("{} {} {} {} {}", static_cast<int>(domain_.type),
                     domain_.replicaGroupSize, stride_, groupSize_,
                     static_cast<int>(mode_));
}

VariableSettings VariableSettings::fromString(const std::string &text) {
  std::istringstream in(text);
  int type = 0;
  int mode = 0;
  VariableSettings settings;
  in >> type >> settings.domain_.replicaGroupSize >> settings.stride_ >>
      settings.groupSize_ >> mode;
  support::requireUser<error>(
      bool(in) && type >= 0 && type <= static_cast<int>(CommGroupType::None) &&
          mode >= 0 &&
          mode <= static_cast<int>(VariableRetrievalMode::AllReplicas),
      "[VariableSettings] '{}' in the model is not understood", text);
  settings.domain_.type = static_cast<CommGroupType>(type);
  settings.mode_ = static_cast<VariableRetrievalMode>(mode);
  settings.verify();
  return settings;
}

} // namespace popart
