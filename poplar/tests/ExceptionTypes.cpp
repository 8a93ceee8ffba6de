// Every exception of the API: what it is called, what it says, and that it is a
// poplar_error.
#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace poplar {
namespace {

struct ErrorCase {
  std::string type;
  std::string message;
  std::function<void()> raise;
};

template <typename Error> ErrorCase plain(const char *type) {
  return {type, "what happened", [] { throw Error("what happened"); }};
}

std::vector<ErrorCase> allErrors() {
#define PLAIN(name) plain<name>(#name)
  return {
      PLAIN(poplar_error),
      PLAIN(graph_memory_allocation_error),
      PLAIN(link_error),
      PLAIN(graph_program_compilation_error),
      PLAIN(graph_object_creation_error),
      PLAIN(type_error),
      PLAIN(no_size_specified),
      PLAIN(overflow_error),
      PLAIN(symbol_error),
      PLAIN(parse_error),
      PLAIN(graph_connection_error),
      PLAIN(graph_cycle_error),
      PLAIN(graph_recursion_error),
      PLAIN(graph_replication_error),
      PLAIN(control_program_error),
      PLAIN(invalid_tile_mapping),
      PLAIN(memory_elem_constraints_error),
      PLAIN(tensor_creation_error),
      PLAIN(tensor_io_state_error),
      PLAIN(tensor_metadata_error),
      PLAIN(stream_connection_error),
      PLAIN(stream_memory_allocation_error),
      PLAIN(invalid_option),
      PLAIN(invalid_machine_model),
      PLAIN(no_environment),
      PLAIN(profiling_disabled),
      PLAIN(missing_profile_data),
      PLAIN(missing_graph_profile),
      PLAIN(missing_perf_estimate),
      PLAIN(runtime_error),
      PLAIN(application_runtime_error),
      PLAIN(system_runtime_error),
      PLAIN(unrecoverable_runtime_error),
      PLAIN(unknown_runtime_error),
      {"recoverable_runtime_error", "link lost",
       [] {
         throw recoverable_runtime_error(RecoveryAction::LINK_RESET,
                                         "link lost");
       }},
      {"graph_object_load_error", "a.gp: no vertices",
       [] { throw graph_object_load_error("a.gp", "no vertices"); }},
      {"file_load_error", "Cannot load file a.gp",
       [] { throw file_load_error("a.gp"); }},
      {"unknown_vertex_type", "Unknown vertex type Sum",
       [] { throw unknown_vertex_type("Sum"); }},
      {"unknown_field", "Vertex Sum has no field in",
       [] { throw unknown_field("Sum", "in"); }},
      {"index_error", "Index 7 is out of range of in",
       [] { throw index_error("in", 7); }},
  };
#undef PLAIN
}

TEST(Exceptions, AreAllPoplarErrorsThatSayTheirType) {
  for (const ErrorCase &error : allErrors()) {
    try {
      error.raise();
      ADD_FAILURE() << error.type << " was not thrown";
    } catch (const poplar_error &caught) {
      EXPECT_EQ(caught.type, error.type);
      EXPECT_EQ(caught.what(), error.message);
    }
  }
}

TEST(Exceptions, OfRunsHaveTheirOwnTree) {
  EXPECT_THROW(throw application_runtime_error("x"), runtime_error);
  EXPECT_THROW(throw unrecoverable_runtime_error("x"), system_runtime_error);
  EXPECT_THROW(throw unknown_runtime_error("x"), system_runtime_error);
  try {
    throw recoverable_runtime_error(RecoveryAction::PARTITION_RESET, "x");
  } catch (const system_runtime_error &caught) {
    const auto &error = dynamic_cast<const recoverable_runtime_error &>(caught);
    EXPECT_EQ(error.getRecoveryAction(), RecoveryAction::PARTITION_RESET);
  }
  EXPECT_EQ(toString(RecoveryAction::IPU_RESET), "IPU_RESET");
  EXPECT_EQ(toString(RecoveryAction::LINK_RESET), "LINK_RESET");
  EXPECT_EQ(toString(RecoveryAction::PARTITION_RESET), "PARTITION_RESET");
  EXPECT_EQ(toString(RecoveryAction::FULL_RESET), "FULL_RESET");
}

TEST(Exceptions, CarryWhatBelongsToThem) {
  EXPECT_EQ(graph_memory_allocation_error("m", "p/profile.pop").profilePath,
            "p/profile.pop");
  EXPECT_EQ(link_error("m", "undefined symbol").output, "undefined symbol");
}

} // namespace
} // namespace poplar
