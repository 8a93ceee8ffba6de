// Where a piece of a graph comes from: names that join to paths with '/', the
// caller's source location, and the API layers in between.
#pragma once

#include <poplar/ProfileValue.hpp>
#include <poplar/StringRef.hpp>

#include <cstdint>
#include <string>

namespace poplar {

using DebugId = std::uint64_t;

class SourceLocation {
public:
  SourceLocation() = default;
  SourceLocation(const char *function, const char *file, unsigned line)
      : function_(function), file_(file), line_(line) {}

  // The location of the call that this is a default argument of.
  static SourceLocation Current(const char *function = __builtin_FUNCTION(),
                                const char *file = __builtin_FILE(),
                                unsigned line = __builtin_LINE()) {
    return SourceLocation(function, file, line);
  }

  const char *getFunctionName() const { return function_; }
  const char *getFileName() const { return file_; }
  unsigned getLineNumber() const { return line_; }
  bool isValid() const { return line_ != 0; }

private:
  const char *function_ = "";
  const char *file_ = "";
  unsigned line_ = 0;
};

class DebugInfo;

// A path, and the DebugInfo that it hangs under.
class DebugNameAndId {
public:
  DebugNameAndId(std::string name = "", DebugId id = {},
                 std::string parentPath = "");
  DebugNameAndId(const char *name);
  DebugNameAndId(DebugId id);
  DebugNameAndId(const DebugInfo &info, std::string name = "");
  DebugNameAndId(const DebugNameAndId &parent, StringRef name);

  std::string getPathName() const { return path_; }
  DebugId getParentId() const { return id_; }

private:
  std::string path_;
  DebugId id_;
};

class DebugContext {
public:
  DebugContext(SourceLocation location = SourceLocation::Current());
  DebugContext(const char *name,
               SourceLocation location = SourceLocation::Current());
  DebugContext(StringRef name,
               SourceLocation location = SourceLocation::Current());
  DebugContext(std::string name,
               SourceLocation location = SourceLocation::Current());
  DebugContext(const DebugInfo &info, StringRef name = "",
               SourceLocation location = SourceLocation::Current());
  DebugContext(const DebugNameAndId &parent, StringRef name = "",
               SourceLocation location = SourceLocation::Current());
  DebugContext(const DebugContext &parent, StringRef name,
               SourceLocation location = SourceLocation::Current());

  std::string getPathName() const { return path_; }
  DebugId getParentId() const { return parentId_; }
  const SourceLocation &getSourceLocation() const { return location_; }

private:
  std::string path_;
  DebugId parentId_ = 0;
  SourceLocation location_;
};

enum class DebugSerializationFormat { JSON, CBOR };

// One call of an API function: `layer` names the library it belongs to. While a
// streamer is open, each one leaves a record in its file when it ends: id,
// parentId, layer, name, location (file, function, line) and values.
class DebugInfo {
public:
  DebugInfo(const DebugContext &context, std::string layer);
  DebugInfo(const DebugInfo &) = delete;
  DebugInfo &operator=(const DebugInfo &) = delete;
  virtual ~DebugInfo();

  DebugId getId() const { return id_; }
  std::string getPathName() const { return path_; }
  std::string getLayer() const { return layer_; }

  // Adds to what the record says; true if `name` had no value so far, else the
  // new value takes the place of the old one.
  bool setValue(std::string name, ProfileValue value);

  // Starts to write records, one array of them, to a file; one that is open for
  // another file is closed first. Throws poplar_error if the file cannot be
  // made. The end of the process closes it too.
  static void initializeStreamer(
      const std::string &fileName,
      const DebugSerializationFormat &format = DebugSerializationFormat::CBOR);
  static void closeStreamer();

private:
  DebugId id_;
  DebugId parentId_;
  std::string path_;
  std::string layer_;
  // The location's strings, which may end before this does.
  std::string function_;
  std::string file_;
  unsigned line_;
  ProfileValue::Map values_;
};

} // namespace poplar
