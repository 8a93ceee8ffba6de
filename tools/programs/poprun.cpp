// poprun: starts the instances of a program under mpirun, each with its share
// of the replicas.
#include "InstancePlan.hpp"
#include "LaunchInstances.hpp"
#include "Program.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <thread>

#include <unistd.h>

namespace {

using poplar::poplar_error;
using support::requireUser;
using tools::InstancePlan;
using tools::LaunchOptions;

struct Arguments {
  InstancePlan plan;
  std::string hosts;
  unsigned onlyOutputFrom = 0;
  std::string globalArguments;
  std::string localArguments;
  bool printsTopology = false;
  bool allowRunAsRoot = geteuid() == 0; // mpirun refuses otherwise
  std::string ignored;
};

// HH:MM:SS.mmm PID POPRUN [I] text
void log(char level, const std::string &text) {
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const auto rest =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - seconds);
  std::cerr << fmt::format(
      "{:%H:%M:%S}.{:03} {} POPRUN [{}] {}\n",
      fmt::localtime(std::chrono::system_clock::to_time_t(now)), rest.count(),
      getpid(), level, text);
}

std::vector<std::string> words(const std::string &text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) {
    result.push_back(word);
  }
  return result;
}

void addOptions(CLI::App &app, Arguments &arguments) {
  InstancePlan &plan = arguments.plan;
  app.add_option("--num-replicas", plan.replicas,
                 "Replicas of all instances together")
      ->type_name("N");
  app.add_option("--num-instances", plan.instances, "Processes")
      ->type_name("N");
  app.add_option("--ipus-per-replica", plan.ipusPerReplica, "IPUs of a replica")
      ->type_name("N");
  app.add_option("-H,--host", arguments.hosts,
                 "Hosts that instances are divided over: a,b or host[0-2,4]")
      ->type_name("LIST");
  app.add_option("--executable-cache-path", plan.executableCachePath,
                 "Where compiled programs are kept, for all instances")
      ->type_name("DIR");
  app.add_option("--mpi-global-args", arguments.globalArguments,
                 "Options of mpirun")
      ->type_name("TEXT");
  app.add_option("--mpi-local-args", arguments.localArguments,
                 "Options of mpirun for each instance, such as -x NAME=value")
      ->type_name("TEXT");
  app.add_option("--only-output-from-instance", arguments.onlyOutputFrom,
                 "Drop what the other instances print")
      ->type_name("I");
  app.add_option("--print-topology", arguments.printsTopology,
                 "Draw which instance has which replicas")
      ->type_name("yes/no");
  app.add_option("--allow-run-as-root", arguments.allowRunAsRoot,
                 "Let mpirun run as root; the default for root")
      ->type_name("yes/no");
}

// What only matters to real IPUs, their partitions and their hosts.
void addIgnoredOptions(CLI::App &app, Arguments &arguments) {
  for (const char *name :
       {"--num-ilds", "--vipu-server-host", "--vipu-server-port",
        "--vipu-server-timeout", "--vipu-partition",
        "--vipu-partition-attempts", "--update-partition", "--reset-partition",
        "--remove-partition", "--vipu-allocation", "--vipu-cluster",
        "--sync-type", "--numa-aware", "--offline-mode"}) {
    app.add_option(name, arguments.ignored, "Accepted, without an effect here")
        ->group("Of partitions and hosts");
  }
}

bool isOnPath(const char *program) {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

LaunchOptions launchOptions(const Arguments &arguments) {
  LaunchOptions options;
  options.globalArguments = words(arguments.globalArguments);
  options.localArguments = words(arguments.localArguments);
  options.allowRunAsRoot = arguments.allowRunAsRoot;
  for (const char *name : {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH"}) {
    if (std::getenv(name) != nullptr) {
      options.exported.emplace_back(name);
    }
  }
  // The instances of a host share its cores; values are the same with any
  // number of threads.
  if (std::getenv("ASPEN_THREADS") == nullptr) {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const unsigned threads = cores / arguments.plan.instancesOfHost();
    options.shared.emplace_back("ASPEN_THREADS",
                                std::to_string(std::max(1U, threads)));
  }
  return options;
}

int launch(const Arguments &arguments, int verbosity,
           const std::vector<std::string> &program) {
  const InstancePlan &plan = arguments.plan;
  if (arguments.printsTopology || verbosity > 1) {
    std::cout << tools::topologyTable(plan) << std::flush;
  }
  const LaunchOptions options = launchOptions(arguments);
  if (!isOnPath("mpirun")) {
    log('W', "There is no mpirun on the PATH: instances are started without "
             "it and cannot exchange data");
    return tools::runWithoutMpi(plan, options, program);
  }
  std::vector<std::string> command = tools::mpiCommand(plan, options, program);
  if (verbosity > 0) {
    log(verbosity > 1 ? 'D' : 'I',
        fmt::format("Running command: {}", fmt::join(command, " ")));
  }
  std::vector<char *> pointers;
  for (std::string &word : command) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  throw poplar_error(fmt::format("mpirun: {}", std::strerror(errno)));
}

int run(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("poprun [options] program [arguments]: starts instances of a "
               "program that share replicas.",
               "poprun");
  app.prefix_command();
  app.set_version_flag("--version", tools::versionLine(), "Print the version");
  addOptions(app, arguments);
  addIgnoredOptions(app, arguments);
  const auto *verbose = tools::addFlag(app, "-v,--verbose",
                                       "Say what is done; twice: with details");
  const auto *veryVerbose = tools::addFlag(app, "--vv", "The same as -v -v");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  const std::vector<std::string> program = app.remaining();
  requireUser<poplar_error>(!program.empty(),
                            "no program was given: poprun [options] program");
  requireUser<poplar_error>(program.front().front() != '-',
                            "there is no option '{}'; --help shows all",
                            program.front());
  if (!arguments.hosts.empty()) {
    arguments.plan.hosts = tools::parseHosts(arguments.hosts);
  }
  if (app.get_option("--only-output-from-instance")->count() > 0) {
    arguments.plan.onlyOutputFrom = arguments.onlyOutputFrom;
  }
  tools::checkPlan(arguments.plan);
  const auto verbosity =
      static_cast<int>(verbose->count() + 2 * veryVerbose->count());
  return launch(arguments, verbosity, program);
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    std::cerr << "poprun: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
