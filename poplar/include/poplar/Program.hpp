// Programs: what the device does with a graph, as values. Copying or slicing a
// program into Program keeps its meaning.
#pragma once

#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/StandardIncludes.hpp>
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
  explicit Program(std::shared_ptr<const internal::ProgramNode> node)
      : node_(std::move(node)) {}

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
};

// Runs the vertices of a compute set.
class Execute : public Program {
public:
  explicit Execute(ComputeSet computeSet,
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
};

class Repeat : public Program {
public:
  Repeat(unsigned count, const Program &body,
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
