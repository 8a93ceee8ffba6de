// The engine cache: a folder with what sessions compiled, by fingerprint. It
// saves time and nothing else: where it cannot be read or written, a session
// says so and compiles.
#include <session/Implementation.hpp>

#include <support/Logging.hpp>

#include <cstdlib>
#include <filesystem>

namespace popart {
namespace {

namespace fs = std::filesystem;

constexpr support::Logger logger(support::LogChannel::Popart, "session");

// Where the cache has, or will have, the program; empty without a cache.
std::string cacheFile(const Session::Implementation &session) {
  const SessionOptions &options = session.ir->sessionOptions;
  const char *folder = std::getenv("POPART_CACHE_DIR");
  if (const char *other = std::getenv("POPXL_CACHE_DIR")) {
    if (folder && std::string_view(folder) != other) {
      logger.warn("POPXL_CACHE_DIR ({}) is used, not POPART_CACHE_DIR ({})",
                  other, folder);
    }
    folder = other;
  }
  if (!folder && !options.enableEngineCaching) {
    return {};
  }
  fs::path path = folder ? folder : options.cachePath;
  fs::create_directories(path);
  return (path / (fingerprint(session) + ".popef")).string();
}

void report(Session::Implementation &session, std::string problem) {
  logger.warn("{}", problem);
  session.cacheProblems.push_back(std::move(problem));
}

} // namespace

bool findInCache(Session::Implementation &session) {
  try {
    std::string file = cacheFile(session);
    if (file.empty() || !fs::exists(file)) {
      return false;
    }
    readExecutable(session, file, /*takesVariables=*/false);
    return true;
  } catch (const std::exception &e) {
    report(session, fmt::format("The executable cache has nothing that can be "
                                "used, so the model is compiled: {}",
                                e.what()));
  }
  return false;
}

void addToCache(Session::Implementation &session) {
  try {
    std::string file = cacheFile(session);
    if (!file.empty()) {
      writeExecutable(session, file, /*hasVariables=*/false);
    }
  } catch (const std::exception &e) {
    report(session, fmt::format("The compiled model does not go to the "
                                "executable cache, so the next run compiles it "
                                "again: {}",
                                e.what()));
  }
}

void Session::updateEngineCache() {
  addToCache(*implementation_);
}

const std::vector<std::string> &Session::cacheProblems() const {
  return implementation_->cacheProblems;
}

} // namespace popart
