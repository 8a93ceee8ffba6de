#include <poplar/DebugContext.hpp>

#include "basics/DebugStreamer.hpp"

#include <atomic>

namespace poplar {
namespace {

std::string joinPath(std::string parent, const std::string &name) {
  if (parent.empty()) {
    return name;
  }
  if (!name.empty()) {
    parent += '/';
    parent += name;
  }
  return parent;
}

// Ids are unique in a process; 0 means none.
DebugId nextDebugId() {
  static std::atomic<DebugId> last = 0;
  return ++last;
}

} // namespace

DebugNameAndId::DebugNameAndId(std::string name, DebugId id,
                               std::string parentPath)
    : path_(joinPath(std::move(parentPath), name)), id_(id) {}
DebugNameAndId::DebugNameAndId(const char *name) : path_(name), id_(0) {}
DebugNameAndId::DebugNameAndId(DebugId id) : id_(id) {}
DebugNameAndId::DebugNameAndId(const DebugInfo &info, std::string name)
    : path_(joinPath(info.getPathName(), name)), id_(info.getId()) {}
DebugNameAndId::DebugNameAndId(const DebugNameAndId &parent, StringRef name)
    : path_(joinPath(parent.path_, name)), id_(parent.id_) {}

DebugContext::DebugContext(SourceLocation location) : location_(location) {}
DebugContext::DebugContext(const char *name, SourceLocation location)
    : path_(name), location_(location) {}
DebugContext::DebugContext(StringRef name, SourceLocation location)
    : path_(name), location_(location) {}
DebugContext::DebugContext(std::string name, SourceLocation location)
    : path_(std::move(name)), location_(location) {}
DebugContext::DebugContext(const DebugInfo &info, StringRef name,
                           SourceLocation location)
    : path_(joinPath(info.getPathName(), name)), parentId_(info.getId()),
      location_(location) {}
DebugContext::DebugContext(const DebugNameAndId &parent, StringRef name,
                           SourceLocation location)
    : path_(joinPath(parent.getPathName(), name)),
      parentId_(parent.getParentId()), location_(location) {}
DebugContext::DebugContext(const DebugContext &parent, StringRef name,
                           SourceLocation location)
    : path_(joinPath(parent.path_, name)), parentId_(parent.parentId_),
      location_(location) {}

DebugInfo::DebugInfo(const DebugContext &context, std::string layer)
    : id_(nextDebugId()), parentId_(context.getParentId()),
      path_(context.getPathName()), layer_(std::move(layer)),
      function_(context.getSourceLocation().getFunctionName()),
      file_(context.getSourceLocation().getFileName()),
      line_(context.getSourceLocation().getLineNumber()) {}

DebugInfo::~DebugInfo() {
  internal::DebugStreamer &streamer = internal::debugStreamer();
  if (streamer.isOpen()) {
    streamer.write(ProfileValue::Map{
        {"id", id_},
        {"parentId", parentId_},
        {"layer", layer_},
        {"name", path_},
        {"location", ProfileValue::Map{{"file", file_},
                                       {"function", function_},
                                       {"line", line_}}},
        {"values", values_}});
  }
}

bool DebugInfo::setValue(std::string name, ProfileValue value) {
  return values_.insert_or_assign(std::move(name), std::move(value)).second;
}

void DebugInfo::initializeStreamer(const std::string &fileName,
                                   const DebugSerializationFormat &format) {
  internal::debugStreamer().open(fileName, format);
}

void DebugInfo::closeStreamer() {
  internal::debugStreamer().close();
}

} // namespace poplar
