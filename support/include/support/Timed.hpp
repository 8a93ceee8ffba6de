// How long the stages of a compilation take, in the log.
#pragma once

#include <support/Logging.hpp>

#include <chrono>
#include <string_view>
#include <type_traits>
#include <utility>

namespace support {

// Does `work` and returns its result; at Debug, logs "<stage>: <time> ms".
template <typename Work>
auto timed(const Logger &logger, std::string_view stage, Work &&work) {
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&] {
    const std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    logger.debug("{}: {:.2f} ms", stage, time.count());
  };
  if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
    std::forward<Work>(work)();
    report();
  } else {
    auto result = std::forward<Work>(work)();
    report();
    return result;
  }
}

} // namespace support
