// The option planConstraints: what a user fixes of a plan, as JSON.
#include <poplin/internal/ConvOptions.hpp>

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <nlohmann/json.hpp>

namespace poplin::internal {

using nlohmann::json;
using poplar::invalid_option;

namespace {

// Reads members of one object and remembers whether all were known.
class Reader {
public:
  Reader(const std::string &option, const json &object, const char *where)
      : option_(option), object_(object), where_(where) {
    require(object.is_object(), "is not an object");
  }

  template <typename T> void read(const char *name, std::optional<T> &value) {
    if (const auto at = object_.find(name); at != object_.end()) {
      ++found_;
      require(at->is_number_unsigned() || at->is_boolean(),
              "holds something that is not a count or a boolean");
      value = at->template get<T>();
    }
  }

  // A member that is an object itself.
  const json *object(const char *name) {
    const auto at = object_.find(name);
    if (at == object_.end()) {
      return nullptr;
    }
    ++found_;
    return &*at;
  }

  void finish() const {
    require(found_ == object_.size(), "has members that are not known");
  }

  void require(bool condition, const char *what) const {
    support::requireUser<invalid_option>(condition,
                                         "Invalid value for option '{}': {} {}",
                                         option_, where_, what);
  }

private:
  const std::string &option_;
  const json &object_;
  const char *where_;
  std::size_t found_ = 0;
};

ConvMethod methodOf(const Reader &reader, const std::string &name) {
  for (const auto method :
       {ConvMethod::AmpNx1, ConvMethod::Slic, ConvMethod::HorizontalMac,
        ConvMethod::VerticalMac, ConvMethod::OuterProduct}) {
    if (toString(method) == name) {
      return method;
    }
  }
  reader.require(false, "is not one of AMP, SLIC, HMAC, VMAC, OUTER_PRODUCT");
  return {};
}

void readChannels(const std::string &option, const json *object,
                  std::optional<std::uint64_t> &parallel,
                  std::optional<std::uint64_t> &serial) {
  if (object != nullptr) {
    Reader reader(option, *object, "a channel split");
    reader.read("parallel", parallel);
    reader.read("serial", serial);
    reader.finish();
  }
}

void readPartition(const std::string &option, const json &object,
                   PlanConstraints &fixed) {
  Reader reader(option, object, "partition");
  reader.read("batchSplit", fixed.batchSplit);
  reader.read("convGroupSplit", fixed.groupSplit);
  readChannels(option, reader.object("inChanSplit"), fixed.inChanSplit,
               fixed.serialInChans);
  readChannels(option, reader.object("outChanSplit"), fixed.outChanSplit,
               fixed.serialOutChans);
  if (const auto *field = reader.object("fieldSplit")) {
    Reader dims(option, *field, "fieldSplit");
    dims.read("0", fixed.rowSplit);
    dims.read("1", fixed.columnSplit);
    dims.finish();
  }
  if (const auto *kernel = reader.object("kernelSplit")) {
    Reader dims(option, *kernel, "kernelSplit");
    dims.read("0", fixed.kernelSplit);
    dims.finish();
  }
  reader.finish();
}

} // namespace

PlanConstraints parsePlanConstraints(const std::string &option,
                                     const std::string &text) {
  PlanConstraints fixed;
  if (text.empty()) {
    return fixed;
  }
  const auto parsed = json::parse(text, nullptr, false);
  support::requireUser<invalid_option>(
      !parsed.is_discarded(), "Invalid value '{}' for option '{}': Not JSON",
      text, option);
  Reader reader(option, parsed, "the plan");
  reader.read("convGroupsPerGroup", fixed.convGroupsPerGroup);
  reader.read("inChansPerGroup", fixed.inChansPerGroup);
  reader.read("partialChansPerGroup", fixed.outChansPerGroup);
  if (const auto *method = reader.object("method")) {
    reader.require(method->is_object() && method->contains("type") &&
                       (*method)["type"].is_string(),
                   "needs a method of the form {\"type\": \"AMP\"}");
    fixed.method = methodOf(reader, (*method)["type"].get<std::string>());
  }
  if (const auto *level = reader.object("0")) {
    Reader tiles(option, *level, "level 0");
    if (const auto *partition = tiles.object("partition")) {
      readPartition(option, *partition, fixed);
    }
    if (const auto *transform = tiles.object("transform")) {
      Reader transforms(option, *transform, "transform");
      transforms.read("swapOperands", fixed.swapsOperands);
      transforms.finish();
    }
    tiles.finish();
  }
  reader.finish();
  return fixed;
}

} // namespace poplin::internal
