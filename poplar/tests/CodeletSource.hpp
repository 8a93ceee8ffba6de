// Codelets written in a test, compiled into a cache of its own, and objects
// filled by hand as the engine fills them.
#pragma once

#include "codelets/Codelets.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

class CodeletTest : public testing::Test {
public:
  CodeletTest() {
    std::string name =
        std::filesystem::temp_directory_path() / "codelets-XXXXXX";
    folder = mkdtemp(name.data());
    setenv("ASPEN_CACHE_DIR", folder.c_str(), 1);
  }
  ~CodeletTest() override { std::filesystem::remove_all(folder); }

protected:
  poplar::codelets::CodeletFilePtr compile(const std::string &source,
                                           const std::string &flags = "") {
    std::ostringstream output;
    auto file =
        poplar::codelets::compileSource(source, ".cpp", flags, "ipu2", output);
    messages = output.str();
    return file;
  }

  std::filesystem::path folder; // removed with the test
  std::string messages;         // of the last compilation
};

// The type called `name`; fails the test if there is none.
inline const poplar::internal::VertexType &
typeOf(const poplar::codelets::CodeletFilePtr &file, const std::string &name) {
  static const poplar::internal::VertexType none;
  std::string names;
  for (const auto &type : file->types) {
    if (type.name == name) {
      return type;
    }
    names += " " + type.name;
  }
  ADD_FAILURE() << "no vertex " << name << " among" << names;
  return none;
}

// Objects of a type, one after the other.
class VertexObjects {
public:
  explicit VertexObjects(const poplar::internal::VertexType &type,
                         std::size_t count = 1)
      : type_(type), count_(count), words_(stride() * count / wordSize) {}

  template <typename T>
  void set(const std::string &field, T value, std::size_t object = 0) {
    const std::size_t index = type_.findField(field);
    ASSERT_LT(index, type_.fields.size()) << "no field " << field;
    std::memcpy(bytes() + object * stride() + type_.fields[index].offset,
                &value, sizeof value);
  }
  template <typename T>
  void setVector(const std::string &field, std::vector<T> &values,
                 std::size_t object = 0) {
    set(field, poplar::internal::HostSpan{values.data(), values.size()},
        object);
  }
  bool run() { return type_.run(bytes(), stride(), count_); }

private:
  static constexpr std::size_t wordSize = 16;
  std::size_t stride() const {
    return (type_.size + wordSize - 1) / wordSize * wordSize;
  }
  std::byte *bytes() { return reinterpret_cast<std::byte *>(words_.data()); }

  struct alignas(wordSize) Word {
    std::byte bytes[wordSize];
  };
  const poplar::internal::VertexType &type_;
  std::size_t count_;
  std::vector<Word> words_;
};
