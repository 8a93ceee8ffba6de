// What the shared object of a backend has: a function that returns its only
// object.
//   extern "C" popdist::Backend *popdistBackend();
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace popdist {

// Throws popdist_error when it cannot go on, for example because an instance
// that a collective waits for has ended.
class Backend {
public:
  virtual ~Backend() = default;

  virtual void initialize() = 0;
  virtual void finalize() = 0;
  virtual std::uint32_t instances() const = 0;
  virtual std::uint32_t index() const = 0; // of this instance

  // From now on `id` names these instances, which all make the call; with an id
  // that was never registered, collectives are among all instances.
  virtual void registerCommunicator(const std::set<std::uint32_t> &participants,
                                    const std::string &id) = 0;
  // `bytes` from each participant, in their order. `own` may be null: `all` has
  // them at their place already.
  virtual void allGather(const void *own, void *all, std::size_t bytes,
                         const std::string &id) = 0;
  virtual void broadcast(void *data, std::size_t bytes, std::uint32_t root,
                         const std::string &id) = 0;
};

} // namespace popdist
