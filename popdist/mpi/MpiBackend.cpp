// The backend that comes with the SDK: OpenMPI. A shared object of its own, so
// that only programs of several instances load MPI.
#include "Farewells.hpp"

#include <popdist/backend.hpp>
#include <popdist/plugin.hpp>

#include <climits>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <mpi.h>

namespace popdist {
namespace {

struct Communicator {
  MPI_Comm comm = MPI_COMM_NULL;
  std::set<std::uint32_t> participants;
};

int countOf(std::size_t bytes) {
  if (bytes > INT_MAX) {
    throw popdist_error("MPI takes less than 2 GiB at a time; " +
                        std::to_string(bytes) + " bytes were given");
  }
  return static_cast<int>(bytes);
}

class MpiBackend : public Backend {
public:
  // Whoever has initialised MPI before, such as mpi4py, also finalises it.
  void initialize() override {
    int isInitialized = 0;
    MPI_Initialized(&isInitialized);
    isOwner_ = isInitialized == 0;
    if (isOwner_) {
      // Collectives run on whichever thread of the engine comes to them.
      int provided = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &all_.comm);
    for (std::uint32_t i = 0; i < instances(); ++i) {
      all_.participants.insert(i);
    }
    farewells_ = std::make_unique<Farewells>(all_.comm);
  }

  // What failed may have left a collective half done: MPI cannot end in order.
  void finalize() override {
    if (hasFailed_) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    farewells_->leave();
    if (isOwner_) {
      MPI_Finalize();
    }
  }

  std::uint32_t instances() const override {
    int size = 0;
    MPI_Comm_size(all_.comm, &size);
    return static_cast<std::uint32_t>(size);
  }
  std::uint32_t index() const override {
    int rank = 0;
    MPI_Comm_rank(all_.comm, &rank);
    return static_cast<std::uint32_t>(rank);
  }

  void registerCommunicator(const std::set<std::uint32_t> &participants,
                            const std::string &id) override {
    if (participants == all_.participants) {
      ids_[id] = &all_;
      return;
    }
    Communicator &part = parts_[participants];
    if (part.comm == MPI_COMM_NULL) {
      part.participants = participants;
      std::vector<int> ranks(participants.begin(), participants.end());
      MPI_Group all, some;
      MPI_Comm_group(all_.comm, &all);
      MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
      MPI_Comm_create_group(all_.comm, some, 0, &part.comm);
      MPI_Group_free(&some);
      MPI_Group_free(&all);
    }
    ids_[id] = &part;
  }

  void allGather(const void *own, void *all, std::size_t bytes,
                 const std::string &id) override {
    const Communicator &among = find(id);
    const int count = countOf(bytes);
    MPI_Request request;
    farewells_->begin(among.participants);
    MPI_Iallgather(own != nullptr ? own : MPI_IN_PLACE, count, MPI_BYTE, all,
                   count, MPI_BYTE, among.comm, &request);
    wait(request);
  }

  void broadcast(void *data, std::size_t bytes, std::uint32_t root,
                 const std::string &id) override {
    const Communicator &among = find(id);
    const auto rank = std::distance(among.participants.begin(),
                                    among.participants.find(root));
    MPI_Request request;
    farewells_->begin(among.participants);
    MPI_Ibcast(data, countOf(bytes), MPI_BYTE, static_cast<int>(rank),
               among.comm, &request);
    wait(request);
  }

private:
  const Communicator &find(const std::string &id) const {
    const auto found = ids_.find(id);
    return found == ids_.end() ? all_ : *found->second;
  }

  void wait(MPI_Request request) {
    Pause pause;
    int isDone = 0;
    MPI_Test(&request, &isDone, MPI_STATUS_IGNORE);
    while (isDone == 0) {
      if (const auto missing = farewells_->findMissing()) {
        hasFailed_ = true;
        throw popdist_error("Instance " + std::to_string(*missing) +
                            " has ended; instance " + std::to_string(index()) +
                            " was waiting for it in a collective");
      }
      pause.wait();
      MPI_Test(&request, &isDone, MPI_STATUS_IGNORE);
    }
  }

  bool isOwner_ = false;
  bool hasFailed_ = false;
  Communicator all_;
  std::map<std::set<std::uint32_t>, Communicator> parts_; // of all
  std::map<std::string, const Communicator *> ids_;
  std::unique_ptr<Farewells> farewells_;
};

} // namespace
} // namespace popdist

extern "C" popdist::Backend *popdistBackend() {
  static popdist::MpiBackend backend;
  return &backend;
}
