#include <popdist/collectives.hpp>

#include "Session.hpp"

#include <popdist/internal/Instances.hpp>
#include <support/Error.hpp>
#include <support/Half.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

namespace popdist::collectives {
namespace {

using Code = poplar::Type::Code;
using support::requireUser;

// Of an element on the host.
std::size_t sizeOf(poplar::Type type) {
  switch (type.code()) {
  case Code::Bool:
  case Code::Char:
  case Code::SignedChar:
  case Code::UnsignedChar:
  case Code::Quarter:
  case Code::QuarterMetadata:
    return 1;
  case Code::Short:
  case Code::UnsignedShort:
  case Code::Half:
    return 2;
  case Code::Int:
  case Code::UnsignedInt:
  case Code::Float:
    return 4;
  case Code::Long:
  case Code::UnsignedLong:
  case Code::LongLong:
  case Code::UnsignedLongLong:
  case Code::Double:
    return 8;
  }
  return 0;
}

support::Half sum(support::Half a, support::Half b) {
  return support::Half(static_cast<float>(a) + static_cast<float>(b));
}

template <typename T> T sum(T a, T b) {
  return a + b;
}

// From the first participant's values to the last's.
template <typename T>
void addUp(const std::vector<std::byte> &all, std::size_t count, void *to) {
  std::vector<T> result(count);
  std::memcpy(result.data(), all.data(), count * sizeof(T));
  for (std::size_t at = count * sizeof(T); at < all.size();
       at += count * sizeof(T)) {
    for (std::size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, all.data() + at + i * sizeof(T), sizeof(T));
      result[i] = sum(result[i], value);
    }
  }
  std::memcpy(to, result.data(), count * sizeof(T));
}

// The backend, if this instance is among those that `id` names.
Backend &backendOf(const char *function, const std::string &id) {
  Backend &backend = Session::get().require(function);
  requireUser<popdist_error>(
      Session::get().participants(id).count(backend.index()) > 0,
      "[{}] instance {} is not part of communicator '{}'", function,
      backend.index(), id);
  return backend;
}

} // namespace

void allReduceSum(void *inout, std::size_t count, poplar::Type type,
                  const std::string &id) {
  std::vector<std::byte> all(internal::participants(id) * count * sizeOf(type));
  allGather(inout, all.data(), count, type, id);
  switch (type.code()) {
  case Code::Half:
    return addUp<support::Half>(all, count, inout);
  case Code::Float:
    return addUp<float>(all, count, inout);
  case Code::Double:
    return addUp<double>(all, count, inout);
  case Code::Int:
    return addUp<std::int32_t>(all, count, inout);
  case Code::UnsignedInt:
    return addUp<std::uint32_t>(all, count, inout);
  case Code::Long:
  case Code::LongLong:
    return addUp<std::int64_t>(all, count, inout);
  case Code::UnsignedLong:
  case Code::UnsignedLongLong:
    return addUp<std::uint64_t>(all, count, inout);
  default:
    throw popdist_error(fmt::format("[allReduceSum] elements of type {} cannot "
                                    "be added",
                                    std::string(type.toString())));
  }
}

void allGather(const void *in, void *out, std::size_t count, poplar::Type type,
               const std::string &id, bool inplace) {
  requireUser<popdist_error>(in != nullptr || inplace,
                             "[allGather] needs data, or 'inplace'");
  backendOf("allGather", id)
      .allGather(inplace ? nullptr : in, out, count * sizeOf(type), id);
}

void broadcast(void *data, std::size_t count, poplar::Type type, int root,
               const std::string &id) {
  Backend &backend = backendOf("broadcast", id);
  const auto from = static_cast<std::uint32_t>(root);
  requireUser<popdist_error>(
      root >= 0 && Session::get().participants(id).count(from) > 0,
      "[broadcast] instance {} is not part of communicator '{}'; {} instances "
      "are",
      root, id, internal::participants(id));
  backend.broadcast(data, count * sizeOf(type), from, id);
}

} // namespace popdist::collectives
