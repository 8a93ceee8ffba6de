// Logging in child processes, because the environment is read once a process.
#include <support/Logging.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

// Says so when it is formatted.
struct Unformattable {};
template <> struct fmt::formatter<Unformattable> {
  constexpr auto parse(fmt::format_parse_context &context) {
    return context.begin();
  }
  auto format(const Unformattable &, fmt::format_context &context) const {
    std::fputs("formatted", stderr);
    return context.out();
  }
};

using support::LogChannel;
using support::Logger;

namespace {

constexpr Logger engineLogger(LogChannel::Poplar, "ENGINE");
constexpr Logger graphLogger(LogChannel::Poplar, "GRAPH");
constexpr Logger poplinLogger(LogChannel::Poplibs, "POPLIN");
constexpr Logger poptorchLogger(LogChannel::Poptorch, "");

// Runs `action` in a child with these variables set; returns what it wrote to
// standard error.
template <typename Action>
std::string
inChild(std::initializer_list<std::pair<const char *, const char *>> variables,
        Action &&action) {
  std::FILE *file = std::tmpfile();
  pid_t child = fork();
  if (child == 0) {
    for (auto [name, value] : variables) {
      setenv(name, value, 1);
    }
    dup2(fileno(file), STDERR_FILENO);
    try {
      action();
    } catch (const std::exception &error) {
      std::fprintf(stderr, "thrown: %s", error.what());
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    text += static_cast<char>(c);
  }
  std::fclose(file);
  return text;
}

TEST(Logging, PoplarIsSilentByDefault) {
  EXPECT_EQ(inChild({}, [] { engineLogger.err("lost"); }), "");
}

TEST(Logging, LinesHaveTheDocumentedForm) {
  std::string text = inChild({{"POPLIBS_LOG_LEVEL", "DEBUG"}}, [] {
    poplinLogger.debug("{} tiles", 12);
    poplinLogger.trace("unseen");
  });
  EXPECT_TRUE(std::regex_match(
      text, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z )"
                       R"(PL:POPLIN \d+\.\d+ D: 12 tiles\n)")))
      << text;
}

TEST(Logging, PopArtReadsLevelsAndFormatFromItsOwnVariables) {
  auto path = std::filesystem::temp_directory_path() /
              ("logging_levels_" + std::to_string(getpid()));
  std::ofstream(path) << R"({"devicex": "TRACE", "all": "ERR"})";
  constexpr Logger devicex(LogChannel::Popart, "devicex");
  constexpr Logger session(LogChannel::Popart, "session");
  EXPECT_EQ(inChild({{"POPART_LOG_CONFIG", path.c_str()},
                     {"POPART_LOG_LEVEL", "INFO"},
                     {"POPART_LOG_FORMAT", "%n %L: %v"}},
                    [&] {
                      devicex.trace("one");
                      session.info("unseen");
                      session.err("two");
                      support::setLogLevel(LogChannel::Popart, "session",
                                           support::LogLevel::Info);
                      session.info("three");
                    }),
            "popart:devicex T: one\npopart:session E: two\n"
            "popart:session I: three\n");
  std::filesystem::remove(path);
  EXPECT_EQ(inChild({}, [&] { session.err("lost"); }), "");
}

TEST(Logging, PopTorchWarnsByDefault) {
  std::string text = inChild({}, [] {
    poptorchLogger.warn("slow");
    poptorchLogger.info("unseen");
  });
  EXPECT_TRUE(std::regex_match(
      text, std::regex(R"(\[\d\d:\d\d:\d\d\.\d{3}\] \[poptorch:cpp\] )"
                       R"(\[warning\] slow\n)")))
      << text;
}

TEST(Logging, AModuleMayHaveItsOwnLevel) {
  std::string text = inChild(
      {{"POPLAR_LOG_LEVEL", "ERR"}, {"POPLAR_GRAPH_LOG_LEVEL", "INFO"}}, [] {
        engineLogger.info("unseen");
        graphLogger.info("seen");
        engineLogger.err("also");
      });
  EXPECT_EQ(text.find("unseen"), std::string::npos);
  EXPECT_NE(text.find("PO:GRAPH"), std::string::npos);
  EXPECT_NE(text.find("E: also"), std::string::npos);
}

TEST(Logging, UnknownLevelsAreRefused) {
  EXPECT_EQ(inChild({{"POPLIBS_LOG_LEVEL", "loud"}},
                    [] { poplinLogger.err("lost"); }),
            "thrown: Unknown POPLIBS_LOG_LEVEL 'loud'. Valid values are TRACE, "
            "DEBUG, INFO, WARN, ERR and OFF.");
}

TEST(Logging, ChannelsMayShareAFile) {
  auto path = std::filesystem::temp_directory_path() /
              ("logging_test_" + std::to_string(getpid()));
  std::ofstream(path) << "old\n";
  inChild({{"POPLAR_LOG_LEVEL", "INFO"},
           {"POPLIBS_LOG_LEVEL", "INFO"},
           {"POPLAR_LOG_DEST", path.c_str()},
           {"POPLIBS_LOG_DEST", path.c_str()}},
          [] {
            engineLogger.info("one");
            poplinLogger.info("two");
            engineLogger.info("three");
          });
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  EXPECT_TRUE(std::regex_match(
      text.str(), std::regex(".*PO:ENGINE.* one\n.*PL:POPLIN.* two\n"
                             ".*PO:ENGINE.* three\n")))
      << text.str();
}

TEST(Logging, MessagesThatAreOffAreNotFormatted) {
  EXPECT_EQ(inChild({}, [] { engineLogger.trace("{}", Unformattable()); }), "");
}

} // namespace
