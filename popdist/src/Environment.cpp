#include <popdist/context.hpp>

#include <support/Error.hpp>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace popdist {
namespace {

using support::requireUser;

const char *find(const char *name) {
  return std::getenv((std::string("POPDIST_") + name).c_str());
}

std::uint32_t number(const char *name, std::uint32_t otherwise) {
  const char *text = find(name);
  if (text == nullptr) {
    return otherwise;
  }
  const std::string_view view(text);
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(view.data(), view.data() + view.size(), value);
  requireUser<popdist_error>(
      error == std::errc() && end == view.data() + view.size(),
      "POPDIST_{} is '{}'; it must be a whole number", name, view);
  return value;
}

// Of each instance; the same for all.
std::uint32_t uniformReplicas() {
  const std::uint32_t local = getNumLocalReplicas();
  requireUser<popdist_error>(
      number("UNIFORM_REPLICAS_PER_INSTANCE", 1) == 1 && local > 0 &&
          getNumTotalReplicas() % local == 0 &&
          getReplicaIndexOffset() % local == 0,
      "{} replicas are not shared out evenly: this instance has {} from "
      "number {} on",
      getNumTotalReplicas(), local, getReplicaIndexOffset());
  return local;
}

} // namespace

bool isPopdistEnvSet() {
  return find("NUM_TOTAL_REPLICAS") != nullptr;
}

std::uint32_t getNumTotalReplicas() {
  return number("NUM_TOTAL_REPLICAS", 1);
}

std::uint32_t getNumLocalReplicas() {
  return number("NUM_LOCAL_REPLICAS", 1);
}

std::uint32_t getNumIpusPerReplica() {
  return number("NUM_IPUS_PER_REPLICA", 1);
}

bool checkNumIpusPerReplica(std::uint32_t ipus) {
  return number("NUM_IPUS_PER_REPLICA", ipus) == ipus;
}

std::uint32_t getReplicaIndexOffset() {
  return number("REPLICA_INDEX_OFFSET", 0);
}

std::uint32_t getNumInstances() {
  return getNumTotalReplicas() / uniformReplicas();
}

std::uint32_t getInstanceIndex() {
  return getReplicaIndexOffset() / uniformReplicas();
}

std::uint32_t getLocalInstanceIndex() {
  return number("LOCAL_INSTANCE_INDEX", 0);
}

} // namespace popdist
