// How poprun shares replicas out among instances of a program: what each is
// told, and a drawing of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tools {

struct InstancePlan {
  unsigned replicas = 1; // of all instances
  unsigned instances = 1;
  unsigned ipusPerReplica = 1;
  std::vector<std::string> hosts = {"localhost"};
  std::string executableCachePath; // may be empty
  std::optional<unsigned> onlyOutputFrom;

  unsigned replicasOfInstance() const { return replicas / instances; }
  unsigned instancesOfHost() const {
    return instances / static_cast<unsigned>(hosts.size());
  }
};

// Throws poplar_error unless replicas and instances can be shared out evenly.
void checkPlan(const InstancePlan &plan);

// "a,b" or "host[0-2,4]".
std::vector<std::string> parseHosts(const std::string &text);

using Environment = std::vector<std::pair<std::string, std::string>>;

// The variables that PopDist reads in an instance.
Environment environmentOf(const InstancePlan &plan, unsigned instance);

// Hosts, IPU-Link domains, instances and replicas, one above the other.
std::string topologyTable(const InstancePlan &plan);

} // namespace tools
