#include <poputil/DebugInfo.hpp>

namespace poputil {

using poplar::ProfileValue;

ProfileValue toProfileValue(const poplar::Tensor &t) {
  if (!t.valid()) {
    return ProfileValue("<none>");
  }
  return ProfileValue::Map{{"type", toProfileValue(t.elementType())},
                           {"shape", toProfileValue(t.shape())},
                           {"variables", ProfileValue(t.getVarStr())}};
}

ProfileValue toProfileValue(const poplar::Type &type) {
  return ProfileValue(type.toString());
}

ProfileValue toProfileValue(const poplar::OptionFlags &options) {
  ProfileValue::Map map;
  for (const auto &option : options) {
    map.emplace(option.first, ProfileValue(option.second));
  }
  return map;
}

void OpDebugInfo::add(std::string name, const std::vector<ArgType> &args) {
  ProfileValue::Map map;
  for (const auto &arg : args) {
    map.emplace(arg.first, arg.second);
  }
  setValue(std::move(name), std::move(map));
}

} // namespace poputil
