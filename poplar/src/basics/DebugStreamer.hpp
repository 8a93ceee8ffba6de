// The file that DebugInfo objects leave their records in: one array, which is
// complete once the streamer is closed.
#pragma once

#include <poplar/DebugContext.hpp>

#include <atomic>
#include <fstream>
#include <mutex>
#include <string>

namespace poplar::internal {

class DebugStreamer {
public:
  void open(const std::string &fileName, DebugSerializationFormat format);
  void close();
  // Cheap, and asked of every DebugInfo.
  bool isOpen() const { return isOpen_; }
  // Nothing if the streamer has been closed in between.
  void write(const ProfileValue &record);

private:
  void closeLocked();

  std::atomic<bool> isOpen_ = false;
  std::mutex mutex_; // of all below
  std::string fileName_;
  DebugSerializationFormat format_ = DebugSerializationFormat::CBOR;
  std::ofstream file_;
  bool isFirst_ = true; // no record so far
};

// The streamer of this process. It is never destroyed, because DebugInfo
// objects may be as late as any static one.
DebugStreamer &debugStreamer();

} // namespace poplar::internal
