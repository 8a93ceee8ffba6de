// A compiled graph and its programs: what an Engine runs, and what files hold.
#pragma once

#include <poplar/ArrayRef.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>

#include <functional>
#include <istream>
#include <memory>
#include <ostream>

namespace poplar {

class ExecutableImpl; // of Aspen's own libraries

// Called with the steps done and the number of steps in all.
using ProgressFunc = std::function<void(int, int)>;

class Executable {
public:
  Executable();
  // For Aspen's own libraries.
  explicit Executable(std::shared_ptr<const ExecutableImpl> impl);
  ~Executable();
  Executable(const Executable &);
  Executable(Executable &&) noexcept;
  Executable &operator=(const Executable &);
  Executable &operator=(Executable &&) noexcept;

  // The stream may hold other data before and after. What is not a whole,
  // undamaged executable of this version is refused with poplar_error;
  // `checkPackageHash` also refuses those of other releases.
  void serialize(std::ostream &stream) const;
  static Executable deserialize(std::istream &stream,
                                bool checkPackageHash = true);
  static Executable deserialize(std::unique_ptr<std::istream> stream,
                                bool checkPackageHash = true);

  // For Aspen's own libraries; null when default-constructed.
  const std::shared_ptr<const ExecutableImpl> &impl() const { return impl_; }

private:
  std::shared_ptr<const ExecutableImpl> impl_;
};

Executable compileGraph(const Graph &graph, ArrayRef<program::Program> programs,
                        const OptionFlags &options = {},
                        ProgressFunc progress = ProgressFunc(),
                        const DebugContext &debugContext = {});
Executable compileGraph(Graph &&graph, ArrayRef<program::Program> programs,
                        const OptionFlags &options = {},
                        ProgressFunc progress = ProgressFunc(),
                        const DebugContext &debugContext = {});

} // namespace poplar
