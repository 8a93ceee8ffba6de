#include "LaunchInstances.hpp"

namespace tools {

std::vector<std::string> mpiCommand(const InstancePlan &plan,
                                    const LaunchOptions &options,
                                    const std::vector<std::string> &program) {
  // Emulated IPUs compute on the host's cores, of which there may be fewer than
  // instances.
  std::vector<std::string> command = {"mpirun", "--tag-output", "--bind-to",
                                      "none", "--oversubscribe"};
  const auto add = [&](const std::vector<std::string> &words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  add(options.globalArguments);
  if (options.allowRunAsRoot) {
    add({"--allow-run-as-root"});
  }
  for (unsigned i = 0; i < plan.instances; ++i) {
    if (i > 0) {
      add({":"});
    }
    add({"-np", "1"});
    if (plan.hosts.size() > 1) {
      add({"--host", plan.hosts[i / plan.instancesOfHost()]});
    }
    Environment variables = environmentOf(plan, i);
    variables.insert(variables.end(), options.shared.begin(),
                     options.shared.end());
    for (const auto &[name, value] : variables) {
      add({"-x", name + "=" + value});
    }
    for (const std::string &name : options.exported) {
      add({"-x", name});
    }
    add(options.localArguments);
    if (plan.onlyOutputFrom.value_or(i) != i) {
      add({"sh", "-c", "exec \"$@\" >/dev/null 2>&1", "sh"});
    }
    add(program);
  }
  return command;
}

} // namespace tools
