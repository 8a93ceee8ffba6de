// Instances that have ended: none waits for ever for one that will not come.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <mpi.h>

namespace popdist {

// Every instance counts the collectives that it has begun with each other one,
// and says the number when it leaves.
class Farewells {
public:
  explicit Farewells(MPI_Comm all);

  // A collective among these instances begins.
  void begin(const std::set<std::uint32_t> &participants);
  // An instance that has left without coming to a collective that this one has
  // begun with it.
  std::optional<std::uint32_t> findMissing();
  // Tells the others and waits until all have left.
  void leave();

private:
  void receive();

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::uint32_t index_ = 0;
  std::vector<std::uint64_t> begun_;               // with each instance
  std::vector<std::optional<std::uint64_t>> left_; // what each said
};

// Between two looks at what other instances do: short first, then long enough
// to leave the processor to them.
class Pause {
public:
  void wait();

private:
  unsigned count_ = 0;
};

} // namespace popdist
