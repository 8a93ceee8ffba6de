// INTERFACE: the value-IR node. The engine's form of a program: SSA over whole
// values, with explicit region updates and loops with carried values. Lifted
// from the program tree by Lift.cpp, rewritten by the passes of Pipeline.cpp,
// checked by Verify.cpp, turned into tasks by the engine.
#pragma once

#include <kernels/Kind.hpp>
#include <poplar/internal/GraphData.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace poplar::compiler {

using ValueId = support::Id<struct ValueTag>;

// One version of a variable, or a temporary that a pass made. A value is a flat
// array of elements in `layout`; it is defined once and never changes.
struct Value {
  support::DataType type = support::DataType::Float;
  support::Shape shape; // elements are row-major over it when layout is Plain
  kernels::Layout layout = kernels::Layout::Plain;
  internal::VariableId variable; // whose version it is; invalid: a temporary
  std::string name;
};

// A strided window onto a value. With a layout other than Plain it must be the
// whole value.
struct Window {
  ValueId value;
  std::int64_t offset = 0;
  support::Shape shape;
  support::Strides strides;
};

// A result: defines `window.value`. Elements outside the window are those of
// `base`, which dies here; an invalid base means that the window is the whole
// value or that the rest is undefined.
struct Definition {
  Window window;
  ValueId base;
};

struct Loop;

enum class NodeOp : std::uint8_t {
  Kernel,    // kind and attributes, reading `inputs`, defining `outputs`
  Copy,      // inputs[0] to outputs[0]; also reorders between layouts
  StreamIn,  // host stream to outputs[0]
  StreamOut, // inputs[0] to host stream
  Vertices,  // the user vertices of `computeSet`: whole variables, row-major; a
             // variable that is written is an output whose base is its input.
             // One more output, if there is one, is the exit status.
  Host,      // `program`, a leaf that the host serves: contiguous operands
  Loop,      // `loop`; its carried values are the inputs and outputs
};

struct Node {
  NodeOp op = NodeOp::Kernel;
  const kernels::Kind *kind = nullptr;
  kernels::Attributes attributes;
  std::vector<Window> inputs;
  std::vector<Definition> outputs;
  internal::StreamId stream;
  unsigned replica = 0; // of the stream
  internal::ComputeSetId computeSet;
  bool hasExitStatus = false;
  std::shared_ptr<const internal::ProgramNode> program;
  std::unique_ptr<Loop> loop;
  std::string name; // debug path of what it came from
  // How it will run: set by chooseKernels for Kernel nodes. The kernel's name
  // is what step profiles show.
  std::shared_ptr<const kernels::Plan> plan;
  const char *kernelName = "";
};

struct Region {
  std::vector<Node> nodes;
};

// Runs `body` count (at least one) times. Iteration 0 sees `initial` as
// `argument`; later ones see the previous iteration's `next`; after the loop it
// is `result`. An invalid initial is undefined; an invalid argument means that
// the body does not look at earlier iterations. The four share their storage.
struct Carried {
  ValueId initial;
  ValueId argument;
  ValueId next;
  ValueId result;
};
struct Loop {
  std::uint64_t count = 0;
  std::vector<Carried> carried;
  Region body;
};

// A variable that outlives the program: its value on entry and on exit. Both
// live in the variable's own row-major storage.
struct Binding {
  internal::VariableId variable;
  ValueId entry;
  ValueId exit;
  // By another stretch of a program that this one belongs to.
  bool isChangedElsewhere = false;

  // Whether only the host changes it, between runs.
  bool isKept() const { return entry == exit && !isChangedElsewhere; }
};

struct ValueProgram {
  std::vector<Value> values;
  std::vector<Binding> bindings;
  Region body;

  Value &operator[](ValueId id) { return values[id.index()]; }
  const Value &operator[](ValueId id) const { return values[id.index()]; }
};

} // namespace poplar::compiler
