#include "Session.hpp"

#include <popdist/context.hpp>
#include <popdist/internal/Instances.hpp>
#include <support/Error.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace popdist {
namespace {

using support::requireUser;

// Beside this library.
std::string defaultBackendFile() {
  Dl_info info{};
  dladdr(reinterpret_cast<void *>(&registerDefaultBackend), &info);
  return std::filesystem::path(info.dli_fname)
      .replace_filename("libpopdist_mpi.so")
      .string();
}

// An instance that ends in whatever way takes leave of the others.
void finalizeAtExit() {
  if (Session::get().isInitialized()) {
    Session::get().finalize();
  }
}

} // namespace

Session &Session::get() {
  static Session session;
  return session;
}

void Session::registerBackend(const std::string &file) {
  requireUser<popdist_error>(!isRegistered(),
                             "A backend is registered already; '{}' comes too "
                             "late",
                             file);
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  requireUser<popdist_error>(library != nullptr,
                             "The backend '{}' cannot be loaded: {}", file,
                             library ? "" : dlerror());
  void *function = dlsym(library, "popdistBackend");
  requireUser<popdist_error>(function != nullptr,
                             "'{}' is not a backend: it has no function "
                             "popdistBackend",
                             file);
  backend_ = reinterpret_cast<Backend *(*)()>(function)();
}

void Session::initialize() {
  requireUser<popdist_error>(
      isRegistered(), "Call registerDefaultBackend before initializeBackend");
  requireUser<popdist_error>(state_ == State::New,
                             "The backend was initialised before; that can be "
                             "done once");
  backend_->initialize();
  state_ = State::Initialized;
  std::atexit(finalizeAtExit);
  for (std::uint32_t i = 0; i < backend_->instances(); ++i) {
    all_.insert(i);
  }
  if (!isPopdistEnvSet()) {
    return; // mpirun without poprun
  }
  requireUser<popdist_error>(
      all_.size() == getNumInstances() &&
          backend_->index() == getInstanceIndex(),
      "This is process {} of {} for the backend, and instance {} of {} for "
      "PopDist's environment; start all of them with one poprun, which needs "
      "mpirun on the PATH",
      backend_->index(), all_.size(), getInstanceIndex(), getNumInstances());
}

void Session::finalize() {
  require("finalizeBackend");
  state_ = State::Finalized;
  backend_->finalize();
}

Backend &Session::require(const char *function) const {
  requireUser<popdist_error>(isInitialized(),
                             "[{}] there is no initialised backend; call "
                             "popdist.init() once, first",
                             function);
  return *backend_;
}

void Session::registerCommunicator(const std::set<std::uint32_t> &participants,
                                   const std::string &id) {
  Backend &backend = require("registerCommunicator");
  requireUser<popdist_error>(!participants.empty() &&
                                 *participants.rbegin() < all_.size(),
                             "[registerCommunicator] the participants must be "
                             "some of the {} instances",
                             all_.size());
  if (participants.count(backend.index()) > 0) {
    backend.registerCommunicator(participants, id);
  }
  participants_[id] = participants;
}

const std::set<std::uint32_t> &
Session::participants(const std::string &id) const {
  const auto found = participants_.find(id);
  requireUser<popdist_error>(found != participants_.end() ||
                                 id == defaultCommunicatorId(),
                             "There is no communicator '{}'", id);
  return found == participants_.end() ? all_ : found->second;
}

void registerDefaultBackend() {
  Session::get().registerBackend(defaultBackendFile());
}

void registerBackend(const std::string &file) {
  Session::get().registerBackend(file);
}

void initializeBackend() {
  Session::get().initialize();
}

bool isBackendInitialized() {
  return Session::get().isInitialized();
}

void finalizeBackend() {
  Session::get().finalize();
}

void registerCommunicator(const std::set<std::uint32_t> &participants,
                          const std::string &id) {
  Session::get().registerCommunicator(participants, id);
}

void internal::ensureBackend() {
  if (isBackendInitialized()) {
    return;
  }
  if (!Session::get().isRegistered()) {
    registerDefaultBackend();
  }
  initializeBackend();
}

std::uint32_t internal::index() {
  return Session::get().require("index").index();
}

std::uint32_t internal::participants(const std::string &id) {
  return static_cast<std::uint32_t>(Session::get().participants(id).size());
}

} // namespace popdist
