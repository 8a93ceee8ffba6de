// A codelet file (.gp) as bytes: written by popc, read by libpoplar. Numbers
// are little endian:
//   magic (8 bytes), version (u32), units (u32),
//   per unit: machine, messages, code (each u64 size and bytes), tables (u32),
//   SHA-256 of everything before.
#pragma once

#include <support/Sha256.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace poplar::internal {

constexpr std::string_view codeletMagic = "ASPEN.gp";
constexpr std::uint32_t codeletVersion = 1;

// What popc returns.
enum class PopcExit { Success = 0, Failure = 1, NoCompiler = 2 };

// What one call of popc compiled.
struct CodeletUnit {
  std::string machine;      // the least that it runs on: see hostMachine()
  std::string messages;     // warnings of the compiler
  std::string code;         // a shared object
  std::uint32_t tables = 0; // how many it exports, see poplar/popc/Table.hpp
};

class CodeletFormatError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

#ifdef __x86_64__

// This machine's micro-architecture level, as the x86-64 psABI names them.
inline std::string_view hostMachine() {
  return __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
         : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
         : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                               : "x86-64";
}
// A level runs what the lower ones do, and their names sort by level.
inline bool runsHere(std::string_view machine) {
  return machine.starts_with("x86-64") && machine <= hostMachine();
}

#else

#ifdef __aarch64__
inline std::string_view hostMachine() {
  return "aarch64";
}
#else
inline std::string_view hostMachine() {
  return "other";
}
#endif
inline bool runsHere(std::string_view machine) {
  return machine == hostMachine();
}

#endif

class CodeletWriter {
public:
  void add(std::uint32_t value) { addNumber(value, 4); }
  void add(std::string_view text) {
    addNumber(text.size(), 8);
    addRaw(text);
  }
  void addRaw(std::string_view text) { bytes_ += text; }
  std::string finish() {
    const auto digest = support::Sha256::of(std::as_bytes(std::span(bytes_)));
    addRaw({reinterpret_cast<const char *>(digest.data()), digest.size()});
    return std::move(bytes_);
  }

private:
  void addNumber(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      bytes_ += static_cast<char>(value >> (8 * i));
    }
  }
  std::string bytes_;
};

inline std::string encodeCodelets(const std::vector<CodeletUnit> &units) {
  CodeletWriter writer;
  writer.addRaw(codeletMagic);
  writer.add(codeletVersion);
  writer.add(static_cast<std::uint32_t>(units.size()));
  for (const CodeletUnit &unit : units) {
    writer.add(unit.machine);
    writer.add(unit.messages);
    writer.add(unit.code);
    writer.add(unit.tables);
  }
  return writer.finish();
}

class CodeletReader {
public:
  explicit CodeletReader(std::string_view bytes) : rest_(bytes) {}

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      throw CodeletFormatError("it ends too early");
    }
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  std::uint64_t takeNumber(int size) {
    std::uint64_t value = 0;
    for (int i = 0; const char byte : take(static_cast<std::uint64_t>(size))) {
      value |= std::uint64_t(static_cast<unsigned char>(byte)) << (8 * i++);
    }
    return value;
  }
  std::uint32_t takeU32() { return static_cast<std::uint32_t>(takeNumber(4)); }
  std::string takeText() { return std::string(take(takeNumber(8))); }
  bool atEnd() const { return rest_.empty(); }

private:
  std::string_view rest_;
};

// Throws CodeletFormatError, which says what is wrong with the file.
inline std::vector<CodeletUnit> decodeCodelets(std::string_view bytes) {
  constexpr std::size_t digestSize = sizeof(support::Sha256::Digest);
  if (!bytes.starts_with(codeletMagic)) {
    throw CodeletFormatError("it is not a codelet file");
  }
  CodeletReader header(bytes.substr(codeletMagic.size()));
  if (const std::uint32_t version = header.takeU32();
      version != codeletVersion) {
    throw CodeletFormatError("it has version " + std::to_string(version) +
                             " of the format, this SDK reads version " +
                             std::to_string(codeletVersion) +
                             "; compile it again");
  }
  if (bytes.size() < codeletMagic.size() + digestSize) {
    throw CodeletFormatError("it ends too early");
  }
  const std::string_view content = bytes.substr(0, bytes.size() - digestSize);
  const auto digest = support::Sha256::of(std::as_bytes(std::span(content)));
  if (!std::ranges::equal(std::as_bytes(std::span(bytes)).last(digestSize),
                          digest)) {
    throw CodeletFormatError("it is damaged: its checksum is wrong");
  }
  CodeletReader reader(content.substr(codeletMagic.size() + 4));
  std::vector<CodeletUnit> units;
  for (std::uint32_t left = reader.takeU32(); left > 0; --left) {
    CodeletUnit &unit = units.emplace_back();
    unit.machine = reader.takeText();
    unit.messages = reader.takeText();
    unit.code = reader.takeText();
    unit.tables = reader.takeU32();
  }
  if (!reader.atEnd()) {
    throw CodeletFormatError("it has bytes after its end");
  }
  return units;
}

} // namespace poplar::internal
