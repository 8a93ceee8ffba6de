#include <poplar/internal/ReplicaExchange.hpp>

#include <poplar/Engine.hpp>

#include <fmt/core.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace poplar::internal {
namespace {

constexpr std::string_view prefix = "exchange between engines/";

} // namespace

ExchangeHandles exchangeHandles(std::size_t number, std::size_t bytes) {
  const std::string stem = fmt::format("{}{}/{}", prefix, bytes, number);
  return {stem + "/own", stem + "/all"};
}

void connectExchange(Engine &engine, const ReplicaExchange &exchange) {
  for (const std::string &handle : engine.listStreams()) {
    if (!handle.starts_with(prefix)) {
      continue;
    }
    const std::string fields = handle.substr(prefix.size());
    const std::size_t bytes = std::stoull(fields);
    const std::size_t number = std::stoull(fields.substr(fields.find('/') + 1));
    const ExchangeHandles handles = exchangeHandles(number, bytes);
    if (handle != handles.own) {
      continue;
    }
    const auto own = std::make_shared<std::vector<std::byte>>(bytes);
    engine.connectStreamToCallback(handles.own, [own](void *data) {
      std::memcpy(own->data(), data, own->size());
    });
    engine.connectStreamToCallback(handles.all, [own, exchange](void *data) {
      exchange(own->data(), data, own->size());
    });
  }
}

} // namespace poplar::internal
