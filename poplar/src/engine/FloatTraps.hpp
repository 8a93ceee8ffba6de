// debug.floatPointOpException and debug.nanOverflowException: a calculation
// that is invalid, divides by zero or overflows ends the run.
#pragma once

#include <poplar/OptionFlags.hpp>

#include <string>

namespace poplar::engine {

class FloatTraps {
public:
  FloatTraps() = default;
  explicit FloatTraps(const OptionFlags &options);

  bool isOn() const { return watched_ != 0; }
  // Around a calculation, on the thread that does it.
  void begin() const;
  // Throws application_runtime_error, naming the calculation and what happened.
  void end(const std::string &name) const;

private:
  int watched_ = 0; // of <cfenv>
};

} // namespace poplar::engine
