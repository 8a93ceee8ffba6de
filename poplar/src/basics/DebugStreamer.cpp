#include "basics/DebugStreamer.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <cstdlib>

namespace poplar::internal {

void DebugStreamer::open(const std::string &fileName,
                         DebugSerializationFormat format) {
  std::lock_guard lock(mutex_);
  if (isOpen_ && fileName == fileName_) {
    return;
  }
  closeLocked();
  file_.open(fileName, std::ios::binary | std::ios::trunc);
  support::requireUser<poplar_error>(
      file_.is_open(),
      "[poplar::DebugInfo::initializeStreamer] cannot write to '{}'; its "
      "folder must exist and be writable",
      fileName);
  fileName_ = fileName;
  format_ = format;
  isFirst_ = true;
  // In CBOR: the tag of the format, then an array whose length is not known.
  file_ << (format == DebugSerializationFormat::JSON ? "["
                                                     : "\xd9\xd9\xf7\x9f");
  isOpen_ = true;
}

void DebugStreamer::close() {
  std::lock_guard lock(mutex_);
  closeLocked();
}

void DebugStreamer::closeLocked() {
  if (isOpen_) {
    file_ << (format_ == DebugSerializationFormat::JSON ? "\n]\n" : "\xff");
    file_.close();
    isOpen_ = false;
  }
}

void DebugStreamer::write(const ProfileValue &record) {
  std::lock_guard lock(mutex_);
  if (!isOpen_) {
    return;
  }
  if (format_ == DebugSerializationFormat::JSON) {
    file_ << (isFirst_ ? "\n" : ",\n");
    serializeToJSON(file_, record);
  } else {
    serializeToCBOR(file_, record, false);
  }
  isFirst_ = false;
}

DebugStreamer &debugStreamer() {
  static DebugStreamer &streamer = [&]() -> DebugStreamer & {
    std::atexit([] { debugStreamer().close(); });
    return *new DebugStreamer;
  }();
  return streamer;
}

} // namespace poplar::internal
