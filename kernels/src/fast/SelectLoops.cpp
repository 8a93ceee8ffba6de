#include "loops/Loops.hpp"

#include <cstdlib>
#include <string_view>

namespace kernels {

namespace {

bool hasV3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("movbe");
}

bool hasV4() {
  return hasV3() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

const Loops &select() {
  const char *variable = std::getenv("ASPEN_ISA");
  const std::string_view limit = variable != nullptr ? variable : "v4";
  if (limit != "base" && limit != "v3" && hasV4()) {
    return loops::v4::table();
  }
  if (limit != "base" && hasV3()) {
    return loops::v3::table();
  }
  return loops::base::table();
}

} // namespace

const Loops &selectedLoops() {
  static const Loops &selected = select();
  return selected;
}

bool hasWideRegisters() {
  return std::string_view(selectedLoops().level) == "v4";
}

} // namespace kernels
