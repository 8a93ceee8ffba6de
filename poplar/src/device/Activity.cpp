#include "Activity.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>

namespace poplar::internal {
namespace {

using Counter = std::atomic_ref<std::uint64_t>;

constexpr std::uint64_t recentSlots = 8; // besides the current one
constexpr unsigned slotNumberShift = 32;

// The number is cut to 32 bits: it comes round after 17 years.
std::uint32_t slotNumber(std::uint64_t time) {
  return static_cast<std::uint32_t>(time / Activity::slotNs);
}

void addToSlot(Activity &activity, std::uint64_t slotStart,
               std::uint64_t busy) {
  const std::uint64_t number = slotNumber(slotStart);
  const Counter slot(activity.slots[number % activity.slots.size()]);
  const std::uint64_t old = slot.load(std::memory_order_relaxed);
  const bool isCurrent = old >> slotNumberShift == number;
  slot.store(isCurrent ? old + busy : (number << slotNumberShift) + busy,
             std::memory_order_relaxed);
}

// How much of [begin, end) is not before `start`.
std::uint64_t lengthAfter(std::uint64_t start, std::uint64_t begin,
                          std::uint64_t end) {
  begin = std::max(begin, start);
  return begin < end ? end - begin : 0;
}

double share(std::uint64_t busy, std::uint64_t whole) {
  return whole == 0 ? 0
                    : std::min(1.0, static_cast<double>(busy) /
                                        static_cast<double>(whole));
}

} // namespace

std::uint64_t coarseNow() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  constexpr std::uint64_t nsPerSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(time.tv_sec) * nsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void beginBusy(Activity &activity, std::uint64_t now) {
  Counter(activity.runningSince).store(now, std::memory_order_relaxed);
}

void endBusy(Activity &activity, std::uint64_t now) {
  const Counter since(activity.runningSince);
  const std::uint64_t begin = since.load(std::memory_order_relaxed);
  since.store(0, std::memory_order_relaxed);
  if (begin == 0 || begin >= now) {
    return; // most runs end within the tick that they began in
  }
  Counter(activity.busyNs).fetch_add(now - begin, std::memory_order_relaxed);
  constexpr std::uint64_t shownNs = Activity::slotNs * (recentSlots + 1);
  const std::uint64_t first = std::max(begin, now - std::min(now, shownNs));
  for (std::uint64_t start = first - first % Activity::slotNs; start < now;
       start += Activity::slotNs) {
    addToSlot(
        activity, start,
        lengthAfter(first, start, std::min(now, start + Activity::slotNs)));
  }
}

Utilisation utilisationOf(const Activity &activity, std::uint64_t attachedAt,
                          std::uint64_t now) {
  if (now <= attachedAt) {
    return {};
  }
  const std::uint64_t current = now / Activity::slotNs;
  const std::uint64_t oldest = current - std::min(current, recentSlots);
  const std::uint64_t start = std::max(attachedAt, oldest * Activity::slotNs);
  const bool isRunning = activity.runningSince != 0;
  const std::uint64_t begin = std::max(activity.runningSince, attachedAt);
  std::uint64_t recent = isRunning ? lengthAfter(start, begin, now) : 0;
  for (const std::uint64_t slot : activity.slots) {
    const auto age =
        static_cast<std::uint32_t>(slotNumber(now) - (slot >> slotNumberShift));
    if (age <= current - oldest) {
      recent += slot & ((std::uint64_t(1) << slotNumberShift) - 1);
    }
  }
  const std::uint64_t running = isRunning ? lengthAfter(0, begin, now) : 0;
  return {.recent = share(recent, now - start),
          .session = share(activity.busyNs + running, now - attachedAt)};
}

} // namespace poplar::internal
