#include <poplar/OptionFlags.hpp>

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

namespace poplar {

OptionFlags::OptionFlags(std::initializer_list<OptionFlag> flags) {
  set(flags);
}

void OptionFlags::set(StringRef name, StringRef value) {
  flags_[name] = value.cloneAsString();
}

void OptionFlags::set(std::initializer_list<OptionFlag> flags) {
  for (const OptionFlag &flag : flags) {
    flags_[flag.first] = flag.second;
  }
}

StringRef OptionFlags::at(StringRef name) const {
  auto found = flags_.find(name);
  support::requireUser<invalid_option>(
      found != flags_.end(), "[poplar::OptionFlags::at] no option \"{}\"",
      name.cloneAsString());
  return found->second;
}

OptionFlags::iterator OptionFlags::find(StringRef name) const {
  return flags_.find(name);
}

} // namespace poplar
