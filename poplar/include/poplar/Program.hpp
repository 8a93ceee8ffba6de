// Programs: what the device does with a graph, as values. Copying or slicing a
// program into Program keeps its meaning.
#pragma once

#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/PrintTensor.hpp>
#include <poplar/RemoteBuffer.hpp>
#include <poplar/StandardIncludes.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/SyncType.hpp>
#include <poplar/Tensor.hpp>

namespace poplar {

namespace internal {
struct Access;
struct ProgramNode;
} // namespace internal

namespace program {

class Program {
public:
  Program(); // does nothing
  // Copies share what they refer to; a moved-from program stays as it was.
  Program(const Program &) = default;
  Program &operator=(const Program &) = default;
  bool isEmpty() const;

  friend bool operator==(const Program &a, const Program &b) {
    return a.node_ == b.node_;
  }
  friend bool operator!=(const Program &a, const Program &b) {
    return !(a == b);
  }

protected:
  // A template, so that no braced list becomes a program: {{0, body}} is a case
  // of a Switch.
  template <typename Node>
  explicit Program(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  // Never null.
  std::shared_ptr<const internal::ProgramNode> node_;

private:
  friend struct internal::Access;
};

// Runs programs one after another. A copy is independent: what is added to a
// sequence later does not reach the programs that it was added to before.
class Sequence : public Program {
public:
  Sequence(const DebugContext &debugContext = {});
  Sequence(std::initializer_list<Program> programs,
           const DebugContext &debugContext = {});

  void add(const Program &program);

  template <typename... Programs> void add_many(const Programs &...programs) {
    for (const Program &program : std::initializer_list<Program>{programs...}) {
      add(program);
    }
  }
};

// Runs the vertices of a compute set.
class Execute : public Program {
public:
  explicit Execute(ComputeSet computeSet,
                   const DebugContext &debugContext = {});
  // The BOOL scalar becomes whether every vertex returned true.
  Execute(ComputeSet computeSet, const Tensor &exitStatus,
          const DebugContext &debugContext = {});
};

// Copies elements between tensors, or between a tensor and the host. Types and
// element counts must match; the destination must be parallel-writeable.
class Copy : public Program {
public:
  Copy(const Tensor &source, const Tensor &destination,
       bool dontOutline = false, const DebugContext &debugContext = {});
  Copy(const DataStream &stream, const Tensor &destination,
       bool optimiseMemory = false, const DebugContext &debugContext = {});
  Copy(const Tensor &source, const DataStream &stream,
       bool optimiseMemory = false, const DebugContext &debugContext = {});
  // Rows of a remote buffer: row 0, or one row of the tensor for each of the
  // UNSIGNED_INT offsets.
  Copy(const RemoteBuffer &buffer, const Tensor &destination,
       const DebugContext &debugContext = {});
  Copy(const RemoteBuffer &buffer, const Tensor &destination,
       const Tensor &offsets, const DebugContext &debugContext = {});
  Copy(const Tensor &source, const RemoteBuffer &buffer,
       const DebugContext &debugContext = {});
  Copy(const Tensor &source, const RemoteBuffer &buffer, const Tensor &offsets,
       const DebugContext &debugContext = {});
};

class Repeat : public Program {
public:
  Repeat(unsigned count, const Program &body,
         const DebugContext &debugContext = {});
};

// Runs the body until the engine is stopped or an error ends the program.
class Loop : public Program {
public:
  explicit Loop(const Program &body, const DebugContext &debugContext = {});
};

// Runs the condition, ends if the predicate is false (true), runs the body and
// begins again. Predicates have one element of BOOL, INT or UNSIGNED_INT.
class RepeatWhileTrue : public Program {
public:
  RepeatWhileTrue(const Program &condition, const Tensor &predicate,
                  const Program &body, const DebugContext &debugContext = {});
};
class RepeatWhileFalse : public Program {
public:
  RepeatWhileFalse(const Program &condition, const Tensor &predicate,
                   const Program &body, const DebugContext &debugContext = {});
};

class If : public Program {
public:
  If(const Tensor &predicate, const Program &trueBody, const Program &falseBody,
     const DebugContext &debugContext = {});
};

// Runs the case whose number the control tensor holds (one INT or UNSIGNED_INT
// element), or else the default, which is to do nothing.
class Switch : public Program {
public:
  using Cases = std::vector<std::pair<std::int32_t, Program>>;

  explicit Switch(const Tensor &control, const DebugContext &debugContext = {});
  Switch(const Tensor &control, const Program &defaultCase,
         const DebugContext &debugContext = {});
  Switch(const Tensor &control, const Cases &cases,
         const DebugContext &debugContext = {});
  Switch(const Tensor &control, const Cases &cases, const Program &defaultCase,
         const DebugContext &debugContext = {});

  // A number without a case is an error while the program runs.
  static Switch switchWithBoundsChecking(const Tensor &control,
                                         const Cases &cases,
                                         const DebugContext &debugContext = {});
  // The program promises that every number has a case.
  static Switch
  switchWithUnreachableDefault(const Tensor &control, const Cases &cases = {},
                               const DebugContext &debugContext = {});

  Switch &add(std::int32_t value, const Program &body);
};

// Runs a function of the graph.
class Call : public Program {
public:
  explicit Call(Function function, const DebugContext &debugContext = {});
};

// A named stretch of a program, for profiles.
class Block : public Program {
public:
  explicit Block(const Program &body, const DebugContext &debugContext = {});
};

// Prints a tensor to the engine's stream, after its title.
class PrintTensor : public Program {
public:
  explicit PrintTensor(const Tensor &tensor,
                       const DebugContext &debugContext = {});
  PrintTensor(const Tensor &tensor, const PrintTensorFmt &format,
              const DebugContext &debugContext = {});
  PrintTensor(StringRef title, const Tensor &tensor,
              const DebugContext &debugContext = {});
  PrintTensor(StringRef title, const Tensor &tensor,
              const PrintTensorFmt &format,
              const DebugContext &debugContext = {});
};

// Waits until all tiles, or all IPUs, have come this far.
class Sync : public Program {
public:
  explicit Sync(SyncType type, const DebugContext &debugContext = {});
};

// The destination on replica replicaMap.at(r) becomes the source of replica r.
class CrossReplicaCopy : public Program {
public:
  CrossReplicaCopy(const Tensor &source, const Tensor &destination,
                   const std::map<unsigned, unsigned> &replicaMap,
                   const DebugContext &debugContext = {});
};

// Promises that a tensor is the same on all replicas; does nothing.
class AssumeEqualAcrossReplicas : public Program {
public:
  explicit AssumeEqualAcrossReplicas(const Tensor &tensor,
                                     const DebugContext &debugContext = {});
};

// Ends the run with application_runtime_error.
class Abort : public Program {
public:
  explicit Abort(const DebugContext &debugContext = {});
  explicit Abort(const std::string &message,
                 const DebugContext &debugContext = {});
  explicit Abort(const char *message, const DebugContext &debugContext = {})
      : Abort(std::string(message), debugContext) {}
};

// The same if the one element of the predicate is not zero.
class AbortOnCondition : public Program {
public:
  explicit AbortOnCondition(const Tensor &predicate,
                            const DebugContext &debugContext = {});
  AbortOnCondition(const Tensor &predicate, const std::string &message,
                   const DebugContext &debugContext = {});
  AbortOnCondition(const Tensor &predicate, const char *message,
                   const DebugContext &debugContext = {})
      : AbortOnCondition(predicate, std::string(message), debugContext) {}
};

// Prints the message and the tensor, then ends the run like Abort.
class ErrorProgram : public Program {
public:
  ErrorProgram(StringRef message, const Tensor &tensor,
               const DebugContext &debugContext = {});
};

// Says that the values of a tensor are no longer needed.
class WriteUndef : public Program {
public:
  explicit WriteUndef(const Tensor &tensor,
                      const DebugContext &debugContext = {});
};

} // namespace program
} // namespace poplar
