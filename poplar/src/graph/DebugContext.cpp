#include <poplar/DebugContext.hpp>

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
DebugContext::DebugContext(const DebugContext &parent, StringRef name)
    : path_(joinPath(parent.path_, name)), parentId_(parent.parentId_),
      location_(parent.location_) {}

DebugInfo::DebugInfo(const DebugContext &context, std::string layer)
    : id_(nextDebugId()), path_(context.getPathName()),
      layer_(std::move(layer)) {}
DebugInfo::~DebugInfo() = default;

} // namespace poplar
