// Starting the instances of a program: the command line of mpirun, and what
// stands in for it where there is none.
#pragma once

#include "InstancePlan.hpp"

#include <string>
#include <vector>

namespace tools {

struct LaunchOptions {
  std::vector<std::string> globalArguments; // of mpirun
  std::vector<std::string> localArguments;  // of mpirun, for each instance
  Environment shared;                       // variables of every instance
  std::vector<std::string> exported;        // the user's own to hand on
  bool allowRunAsRoot = false;
};

std::vector<std::string> mpiCommand(const InstancePlan &plan,
                                    const LaunchOptions &options,
                                    const std::vector<std::string> &program);

// All instances on this host, their lines tagged as mpirun tags them. When one
// fails, the others are ended; the result is the first failure's exit code.
int runWithoutMpi(const InstancePlan &plan, const LaunchOptions &options,
                  const std::vector<std::string> &program);

} // namespace tools
