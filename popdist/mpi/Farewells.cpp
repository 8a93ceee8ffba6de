#include "Farewells.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace popdist {

Farewells::Farewells(MPI_Comm all) {
  MPI_Comm_dup(all, &comm_);
  int size = 0;
  int rank = 0;
  MPI_Comm_size(comm_, &size);
  MPI_Comm_rank(comm_, &rank);
  index_ = static_cast<std::uint32_t>(rank);
  begun_.resize(static_cast<std::size_t>(size));
  left_.resize(static_cast<std::size_t>(size));
}

void Farewells::begin(const std::set<std::uint32_t> &participants) {
  for (std::uint32_t instance : participants) {
    ++begun_[instance];
  }
}

void Farewells::receive() {
  int isThere = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &isThere, &status);
  while (isThere != 0) {
    std::uint64_t count = 0;
    MPI_Recv(&count, 1, MPI_UINT64_T, status.MPI_SOURCE, 0, comm_,
             MPI_STATUS_IGNORE);
    left_[static_cast<std::size_t>(status.MPI_SOURCE)] = count;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &isThere, &status);
  }
}

std::optional<std::uint32_t> Farewells::findMissing() {
  receive();
  for (std::size_t i = 0; i < left_.size(); ++i) {
    if (left_[i] && *left_[i] < begun_[i]) {
      return static_cast<std::uint32_t>(i);
    }
  }
  return std::nullopt;
}

void Farewells::leave() {
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    if (i != index_) {
      MPI_Isend(&begun_[i], 1, MPI_UINT64_T, static_cast<int>(i), 0, comm_,
                &requests.emplace_back());
    }
  }
  left_[index_] = begun_[index_];
  Pause pause;
  while (!std::all_of(left_.begin(), left_.end(),
                      [](const auto &count) { return count.has_value(); })) {
    pause.wait();
    receive();
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(),
              MPI_STATUSES_IGNORE);
  MPI_Comm_free(&comm_);
}

void Pause::wait() {
  constexpr unsigned shortPauses = 200;
  if (++count_ < shortPauses) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

} // namespace popdist
