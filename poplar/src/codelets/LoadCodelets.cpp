#include "codelets/LoadCodelets.hpp"

#include "codelets/Hooks.hpp"

#include <poplar/exceptions.hpp>
#include <poplar/internal/CodeletFormat.hpp>
#include <poplar/popc/Table.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace poplar::codelets {

namespace {

using internal::CodeletFile;
using internal::CodeletFormatError;
using internal::CodeletUnit;
using internal::FieldShape;
using internal::HostSpan;
using internal::VertexField;
using internal::VertexType;
using support::DataType;

template <typename... Args>
void require(bool condition, fmt::format_string<Args...> message,
             Args &&...args) {
  if (!condition) {
    throw CodeletFormatError(fmt::format(message, std::forward<Args>(args)...));
  }
}

using Library = std::unique_ptr<void, int (*)(void *)>;

// The dynamic linker takes two libraries of the same path for one, even when
// the path has come to mean another file. "." and "" in a path change nothing:
// they spell the library's number, in binary.
std::string uniquePath(int descriptor) {
  static std::atomic<unsigned> next = 1;
  std::string path = "/proc/self/fd/";
  for (unsigned number = next++; number != 0; number /= 2) {
    path += number % 2 ? "./" : "/";
  }
  return path + std::to_string(descriptor);
}

// From a file in memory: nothing is left behind, and no folder needs to allow
// it.
Library openLibrary(const std::string &code) {
  const int file = memfd_create("codelets", MFD_CLOEXEC);
  require(file >= 0, "memfd_create: {}", std::strerror(errno));
  std::size_t written = 0;
  while (written < code.size()) {
    const ssize_t count =
        write(file, code.data() + written, code.size() - written);
    if (count < 0) {
      break;
    }
    written += static_cast<std::size_t>(count);
  }
  void *library = nullptr;
  if (written == code.size()) {
    library = dlopen(uniquePath(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  close(file);
  require(written == code.size(), "its code could not be copied");
  require(library != nullptr, "its code cannot be loaded: {}",
          library ? "" : dlerror());
  return {library, dlclose};
}

DataType toDataType(popc::ElementType type) {
  constexpr std::array types = {
      DataType::Bool,       DataType::Char,
      DataType::SignedChar, DataType::UnsignedChar,
      DataType::Short,      DataType::UnsignedShort,
      DataType::Int,        DataType::UnsignedInt,
      DataType::LongLong,   DataType::UnsignedLongLong,
      DataType::Quarter,    DataType::Half,
      DataType::Float,
  };
  const auto index = static_cast<std::size_t>(type) - 1; // after Unsupported
  require(index < types.size(), "it has a field of an unknown type");
  return types[index];
}

template <typename Enum> Enum checkEnum(Enum value, Enum last) {
  require(value <= last, "it has a field of an unknown kind");
  return value;
}

// Bytes that the field takes in the object.
std::size_t storageOf(const VertexField &field) {
  switch (field.shape) {
  case FieldShape::Value:
    return sizeOf(field.type) * field.count;
  case FieldShape::Scalar:
    return sizeof(void *);
  case FieldShape::ValueVector:
  case FieldShape::Vector:
  case FieldShape::ScalarList:
  case FieldShape::VectorList:
    break;
  }
  return sizeof(HostSpan);
}

VertexField readField(const popc::FieldRecord &record,
                      const VertexType &owner) {
  VertexField field;
  field.name = record.name;
  field.shape = checkEnum(record.shape, FieldShape::VectorList);
  field.direction = checkEnum(record.direction, internal::EdgeDirection::InOut);
  field.type = toDataType(record.type);
  field.offset = record.offset;
  field.count = record.count;
  field.layout = checkEnum(record.layout, internal::FieldLayout::CompactDeltaN);
  field.itemLayout =
      checkEnum(record.itemLayout, internal::FieldLayout::CompactDeltaN);
  field.alignment = record.alignment;
  field.isInterleaved = record.isInterleaved;
  require(field.offset + storageOf(field) <= owner.size,
          "field {} of {} lies outside of it", field.name, owner.name);
  const bool isValue = field.shape == FieldShape::Value ||
                       field.shape == FieldShape::ValueVector;
  require(isValue != field.isEdge(), "field {} of {} is half an edge",
          field.name, owner.name);
  return field;
}

// The compiler writes a space after a comma and Poplar none.
std::string spellName(const popc::TypeRecord &record) {
  std::string name = record.name;
  for (std::uint32_t i = 0; i < record.argumentCount; ++i) {
    name += i == 0 ? '<' : ',';
    const popc::Text &text = record.arguments[i];
    for (char c : std::string_view(text.data, text.size)) {
      if (c != ' ' || name.back() != ',') {
        name += c;
      }
    }
  }
  return record.argumentCount == 0 ? name : name + '>';
}

VertexType readType(const popc::TypeRecord &record) {
  VertexType type;
  type.name = spellName(record);
  type.base = checkEnum(record.base, internal::VertexBase::Supervisor);
  type.size = record.size;
  type.alignment = record.alignment;
  type.isPrinting = record.isPrinting;
  type.run = record.run;
  for (std::uint32_t i = 0; i < record.fieldCount; ++i) {
    type.fields.push_back(readField(record.fields[i], type));
  }
  return type;
}

void readTable(void *library, std::uint32_t number,
               std::vector<VertexType> &types) {
  const auto *table = static_cast<const popc::Table *>(
      dlsym(library, fmt::format("popcTable{}", number).c_str()));
  require(table != nullptr, "its code lacks table {}", number);
  require(table->version == popc::tableVersion,
          "it was compiled for another version of the SDK; compile it again");
  *table->host = &hostHooks();
  for (std::uint32_t i = 0; i < table->typeCount; ++i) {
    types.push_back(readType(table->types[i]));
  }
}

void loadUnit(const CodeletUnit &unit, CodeletFile &file,
              std::vector<Library> &libraries) {
  require(internal::runsHere(unit.machine),
          "it was compiled for {} and this machine is {}; compile it here",
          unit.machine, internal::hostMachine());
  libraries.push_back(openLibrary(unit.code));
  for (std::uint32_t i = 0; i < unit.tables; ++i) {
    readTable(libraries.back().get(), i, file.types);
  }
}

} // namespace

CodeletFilePtr loadCodelets(const std::string &name, std::string bytes) {
  auto file = std::make_shared<CodeletFile>();
  file->name = name;
  auto libraries = std::make_shared<std::vector<Library>>();
  try {
    for (const CodeletUnit &unit : internal::decodeCodelets(bytes)) {
      loadUnit(unit, *file, *libraries);
    }
  } catch (const CodeletFormatError &error) {
    throw graph_object_load_error(name, error.what());
  }
  const auto *begin = reinterpret_cast<const std::byte *>(bytes.data());
  file->bytes.assign(begin, begin + bytes.size());
  file->code = std::move(libraries);
  return file;
}

} // namespace poplar::codelets
