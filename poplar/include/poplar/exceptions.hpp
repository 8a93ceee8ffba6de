// Everything that Poplar throws. All derive from poplar_error, which says its
// own class name in `type`.
#pragma once

#include <stdexcept>
#include <string>

namespace poplar {

struct poplar_error : std::runtime_error {
  explicit poplar_error(const std::string &message)
      : poplar_error("poplar_error", message) {}
  explicit poplar_error(const char *message)
      : poplar_error("poplar_error", message) {}

  std::string type;

protected:
  poplar_error(const char *typeName, const std::string &message)
      : std::runtime_error(message), type(typeName) {}
};

// An error that differs from `base` only in what it is called.
#define POPLAR_DECLARE_ERROR(name, base)                                       \
  struct name : base {                                                         \
    explicit name(const std::string &message) : base(#name, message) {}        \
    explicit name(const char *message) : base(#name, message) {}               \
                                                                               \
  protected:                                                                   \
    name(const char *typeName, const std::string &message)                     \
        : base(typeName, message) {}                                           \
  }

// Codelets.
POPLAR_DECLARE_ERROR(graph_program_compilation_error, poplar_error);
POPLAR_DECLARE_ERROR(graph_object_creation_error, poplar_error);
struct graph_object_load_error : poplar_error {
  graph_object_load_error(const std::string &path, const std::string &message)
      : poplar_error("graph_object_load_error", path + ": " + message) {}
};
struct file_load_error : poplar_error {
  explicit file_load_error(const std::string &path)
      : poplar_error("file_load_error", "Cannot load file " + path) {}
};

// Building a graph.
struct unknown_vertex_type : poplar_error {
  explicit unknown_vertex_type(const std::string &name)
      : poplar_error("unknown_vertex_type", "Unknown vertex type " + name) {}
};
struct unknown_field : poplar_error {
  unknown_field(const std::string &vertex, const std::string &field)
      : poplar_error("unknown_field",
                     "Vertex " + vertex + " has no field " + field) {}
};
struct index_error : poplar_error {
  index_error(const std::string &reference, std::size_t index)
      : poplar_error("index_error", "Index " + std::to_string(index) +
                                        " is out of range of " + reference) {}
};
POPLAR_DECLARE_ERROR(type_error, poplar_error);
POPLAR_DECLARE_ERROR(no_size_specified, poplar_error);
POPLAR_DECLARE_ERROR(overflow_error, poplar_error);
POPLAR_DECLARE_ERROR(symbol_error, poplar_error);
POPLAR_DECLARE_ERROR(parse_error, poplar_error);
POPLAR_DECLARE_ERROR(tensor_creation_error, poplar_error);
POPLAR_DECLARE_ERROR(tensor_io_state_error, poplar_error);
POPLAR_DECLARE_ERROR(tensor_metadata_error, poplar_error);

// Compiling it.
POPLAR_DECLARE_ERROR(graph_connection_error, poplar_error);
POPLAR_DECLARE_ERROR(graph_cycle_error, poplar_error);
POPLAR_DECLARE_ERROR(graph_recursion_error, poplar_error);
POPLAR_DECLARE_ERROR(graph_replication_error, poplar_error);
POPLAR_DECLARE_ERROR(control_program_error, poplar_error);
POPLAR_DECLARE_ERROR(invalid_tile_mapping, poplar_error);
POPLAR_DECLARE_ERROR(memory_elem_constraints_error, poplar_error);
POPLAR_DECLARE_ERROR(invalid_option, poplar_error);
POPLAR_DECLARE_ERROR(invalid_machine_model, poplar_error);
POPLAR_DECLARE_ERROR(no_environment, poplar_error);
struct graph_memory_allocation_error : poplar_error {
  explicit graph_memory_allocation_error(const std::string &message,
                                         const std::string &profile = "")
      : poplar_error("graph_memory_allocation_error", message),
        profilePath(profile) {}
  // The profile that shows what did not fit, if one was written.
  std::string profilePath;
};
struct link_error : poplar_error {
  explicit link_error(const std::string &message,
                      const std::string &linkerOutput = "")
      : poplar_error("link_error", message), output(linkerOutput) {}
  std::string output;
};

// Streams and profiles.
POPLAR_DECLARE_ERROR(stream_connection_error, poplar_error);
POPLAR_DECLARE_ERROR(stream_memory_allocation_error, poplar_error);
POPLAR_DECLARE_ERROR(profiling_disabled, poplar_error);
POPLAR_DECLARE_ERROR(missing_profile_data, poplar_error);
POPLAR_DECLARE_ERROR(missing_graph_profile, poplar_error);
POPLAR_DECLARE_ERROR(missing_perf_estimate, poplar_error);

// Running.
POPLAR_DECLARE_ERROR(runtime_error, poplar_error);
POPLAR_DECLARE_ERROR(application_runtime_error, runtime_error);
POPLAR_DECLARE_ERROR(system_runtime_error, runtime_error);
POPLAR_DECLARE_ERROR(unrecoverable_runtime_error, system_runtime_error);
POPLAR_DECLARE_ERROR(unknown_runtime_error, system_runtime_error);

#undef POPLAR_DECLARE_ERROR

enum class RecoveryAction {
  IPU_RESET,
  LINK_RESET,
  PARTITION_RESET,
  FULL_RESET
};
std::string toString(RecoveryAction action);

// What went wrong on a device.
enum class ErrorCode {
  NONE,
  UNKNOWN,
  TRAP,
  FLOATING_POINT_INVALID_OPERATION,
  FLOATING_POINT_DIVIDE_BY_ZERO,
  FLOATING_POINT_OVERFLOW,
  TILE_MEMORY_BANK_CONFLICT,
  INVALID_EXCHANGE_CONFIGURATION,
  INVALID_ADDRESS,
  INVALID_OPERAND,
  INVALID_PROGRAM_COUNTER,
  INVALID_INSTRUCTION,
  EXCHANGE_ERROR,
  MEMORY_ERROR,
  IPUSOFTERR,
  LINK_DOWN,
  HOST_LINK_DOWN,
  HOST_SYNC_TIMEOUT,
  IPU_MEMORY_FAILURE
};

struct recoverable_runtime_error : system_runtime_error {
  recoverable_runtime_error(RecoveryAction action, const std::string &message)
      : system_runtime_error("recoverable_runtime_error", message),
        action_(action) {}
  RecoveryAction getRecoveryAction() const { return action_; }

private:
  RecoveryAction action_;
};

} // namespace poplar
