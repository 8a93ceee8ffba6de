#include <poplar/RuntimeOptions.hpp>

#include "engine/EngineOptions.hpp"

namespace poplar {

RuntimeOptions::RuntimeOptions(const OptionFlags &options)
    : options_(engine::resolveRuntimeOptions(options)) {}

} // namespace poplar
