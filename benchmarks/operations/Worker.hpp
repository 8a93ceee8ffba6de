// What the C++ workers of the operations' benchmark share: inputs made from the
// index of each element, samples of outputs, the loop over commands.
//   {"prepare": case}   makes the operation ready and runs it once: samples of
//                       its outputs, or {"skip": why}
//   {"seconds": s}      times it for about s seconds: the best seconds per call
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace operations {

using Json = nlohmann::json;
using Shape = std::vector<std::int64_t>;

inline std::int64_t elements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1},
                         std::multiplies<>());
}

// Input `number` of a case. cases.py says what the fields mean, pytorch.py has
// the same hash.
inline std::vector<float> inputValues(const Json &input, std::uint32_t number) {
  const auto count = elements(input.at("shape").get<Shape>());
  std::vector<float> values(static_cast<std::size_t>(count));
  const float low = input.value("low", -0.5F);
  const float high = input.value("high", 0.5F);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t hash =
        static_cast<std::uint32_t>(i) * 2654435761U + number * 0x9e3779b9U + 1;
    hash ^= hash >> 16;
    hash *= 0x45d9f3bU;
    hash ^= hash >> 16;
    const float unit = static_cast<float>(hash >> 8) * 0x1p-24F;
    values[i] = low + (high - low) * unit;
  }
  return values;
}

// Some elements of an output, and the mean size of all.
inline Json samplesOf(const std::vector<float> &values) {
  constexpr std::size_t count = 64;
  std::vector<float> samples;
  double total = 0;
  for (const float value : values) {
    total += std::abs(value);
  }
  for (std::size_t i = 0; i < std::min(count, values.size()); ++i) {
    samples.push_back(values[i * 2654435761U % values.size()]);
  }
  return {{"samples", samples},
          {"meanSize", total / static_cast<double>(values.size())}};
}

// Seconds of the fastest of the calls made for about `seconds`.
inline double bestOf(double seconds, const std::function<void()> &call) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  double best = 1e9;
  for (bool isFirst = true; isFirst || Clock::now() < end; isFirst = false) {
    const auto start = Clock::now();
    call();
    best = std::min(
        best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// How often to run an operation between two looks at the clock.
inline unsigned repeatsFor(double secondsOfOne) {
  constexpr double chunk = 5e-3;
  return static_cast<unsigned>(
      std::clamp(chunk / std::max(secondsOfOne, 1e-7), 1.0, 10000.0));
}

// Answers the commands on standard input until it ends.
inline void serve(const std::function<Json(const Json &)> &prepare,
                  const std::function<double(double)> &time) {
  for (std::string line; std::getline(std::cin, line);) {
    const Json command = Json::parse(line);
    Json answer;
    if (command.contains("prepare")) {
      try {
        answer = prepare(command["prepare"]);
      } catch (const std::exception &error) {
        answer = {{"skip", error.what()}};
      }
    } else {
      answer = time(command["seconds"].get<double>());
    }
    std::cout << answer << std::endl;
  }
}

} // namespace operations
