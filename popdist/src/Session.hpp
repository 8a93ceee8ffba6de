// The backend of this process, from its registration to its end.
#pragma once

#include <popdist/plugin.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace popdist {

class Session {
public:
  // The process has one.
  static Session &get();

  void registerBackend(const std::string &file);
  void initialize();
  void finalize();
  bool isRegistered() const { return backend_ != nullptr; }
  bool isInitialized() const { return state_ == State::Initialized; }

  // Initialised; else says what to call.
  Backend &require(const char *function) const;

  void registerCommunicator(const std::set<std::uint32_t> &participants,
                            const std::string &id);
  // The instances that an id names.
  const std::set<std::uint32_t> &participants(const std::string &id) const;

private:
  enum class State : std::uint8_t { New, Initialized, Finalized };

  Backend *backend_ = nullptr; // of a shared object that stays loaded
  State state_ = State::New;
  std::set<std::uint32_t> all_;
  std::map<std::string, std::set<std::uint32_t>> participants_; // by id
};

} // namespace popdist
