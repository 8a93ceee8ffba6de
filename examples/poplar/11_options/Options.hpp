// The command line of lesson 11.
#pragma once

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  bool onModel = false;    // the IPU model instead of an IPU
  unsigned steps = 30;     // how often the device runs a step
  std::string saveName;    // compile, write the executable there, stop
  std::string loadName;    // run what was saved there
  std::string profileName; // write the cost summary there

  static const char *usage() {
    return "options:\n"
           "  --model         use the IPU model instead of an IPU\n"
           "  --steps NUMBER  from 1 to 1000000, 30 if not given\n"
           "  --save FILE     compile and save, do not run\n"
           "  --load FILE     run what was saved\n"
           "  --profile FILE  write what the run would cost\n";
  }

  // Throws UsageError when the arguments do not make sense.
  static Options parse(int argc, char **argv) {
    Options options;
    std::string steps = std::to_string(options.steps);
    const std::map<std::string, std::string *> values{
        {"--steps", &steps},
        {"--save", &options.saveName},
        {"--load", &options.loadName},
        {"--profile", &options.profileName}};
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      if (name == "--model") {
        options.onModel = true;
        continue;
      }
      const auto found = values.find(name);
      if (found == values.end()) {
        throw UsageError("there is no option '" + name + "'");
      }
      if (++i == argc) {
        throw UsageError(name + " wants a value");
      }
      *found->second = argv[i];
    }
    options.steps = parseSteps(steps);
    if (!options.saveName.empty() && !options.loadName.empty()) {
      throw UsageError("--save and --load exclude each other");
    }
    return options;
  }

private:
  static unsigned parseSteps(const std::string &text) {
    char *end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || value < 1 || value > 1000000) {
      throw UsageError("--steps wants a number from 1 to 1000000, not '" +
                       text + "'");
    }
    return static_cast<unsigned>(value);
  }
};
