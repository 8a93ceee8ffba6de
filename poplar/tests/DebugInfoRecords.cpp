// Debug contexts and the records that DebugInfo objects leave.
#include "ExpectError.hpp"

#include <nlohmann/json.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/exceptions.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace poplar {
namespace {

TEST(DebugContext, NamesJoinToPaths) {
  const DebugContext parent("parent");
  EXPECT_EQ(DebugContext(parent, "x").getPathName(), "parent/x");
  EXPECT_EQ(DebugContext(DebugNameAndId("n"), "x").getPathName(), "n/x");
  const DebugInfo info({parent, "call"}, "test");
  EXPECT_EQ(info.getPathName(), "parent/call");
  EXPECT_EQ(DebugContext(info).getPathName(), "parent/call");
  const DebugNameAndId both(info, "x");
  EXPECT_EQ(both.getPathName(), "parent/call/x");
  EXPECT_EQ(both.getParentId(), info.getId());
  EXPECT_EQ(DebugNameAndId("c", 3, "a/b").getPathName(), "a/b/c");
  EXPECT_EQ(DebugNameAndId(both, "y").getPathName(), "parent/call/x/y");
}

DebugContext here(const DebugContext &context = {}) {
  return context;
}

TEST(DebugContext, KnowsItsLine) {
  const DebugContext parent("parent");
  const DebugContext context = here({parent, "name"});
  const unsigned line = __LINE__ - 1;
  EXPECT_EQ(context.getSourceLocation().getLineNumber(), line);
  EXPECT_EQ(std::filesystem::path(context.getSourceLocation().getFileName())
                .filename(),
            "DebugInfoRecords.cpp");
}

class DebugInfoRecords : public testing::Test {
protected:
  ~DebugInfoRecords() override {
    DebugInfo::closeStreamer();
    std::filesystem::remove(path_);
  }

  std::string bytes() const {
    std::ostringstream content;
    content << std::ifstream(path_, std::ios::binary).rdbuf();
    return content.str();
  }

  std::string path_ = std::filesystem::temp_directory_path() /
                      ("debug_info_" + std::to_string(getpid()));
};

// Two records: the inner one ends first.
DebugId writeTwo() {
  const DebugInfo outer({"outer", SourceLocation("run", "main.cpp", 12)},
                        "test");
  DebugInfo inner({outer, "inner"}, "poplar");
  EXPECT_TRUE(inner.setValue("shape", ProfileValue::Vector{2, 3}));
  EXPECT_TRUE(inner.setValue("type", "half"));
  EXPECT_FALSE(inner.setValue("type", "float"));
  return outer.getId();
}

void expectTwo(const nlohmann::json &records, DebugId outerId) {
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0]["name"], "outer/inner");
  EXPECT_EQ(records[0]["layer"], "poplar");
  EXPECT_EQ(records[0]["parentId"], outerId);
  EXPECT_EQ(records[0]["values"],
            nlohmann::json::parse(R"({"shape":[2,3],"type":"float"})"));
  EXPECT_EQ(records[1]["id"], outerId);
  EXPECT_EQ(records[1]["parentId"], 0);
  EXPECT_EQ(records[1]["location"],
            nlohmann::json::parse(
                R"({"file":"main.cpp","function":"run","line":12})"));
}

TEST_F(DebugInfoRecords, AreAnArrayInJson) {
  DebugInfo::initializeStreamer(path_, DebugSerializationFormat::JSON);
  const DebugId id = writeTwo();
  DebugInfo::closeStreamer();
  writeTwo(); // not recorded
  expectTwo(nlohmann::json::parse(bytes()), id);
}

TEST_F(DebugInfoRecords, AreAnArrayInCbor) {
  DebugInfo::initializeStreamer(path_);
  const DebugId id = writeTwo();
  DebugInfo::initializeStreamer(path_); // goes on
  DebugInfo::closeStreamer();
  expectTwo(
      nlohmann::json::from_cbor(bytes(), true, true,
                                nlohmann::json::cbor_tag_handler_t::ignore),
      id);
}

TEST_F(DebugInfoRecords, MayBeNone) {
  DebugInfo::initializeStreamer(path_, DebugSerializationFormat::JSON);
  DebugInfo::closeStreamer();
  EXPECT_EQ(nlohmann::json::parse(bytes()), nlohmann::json::array());
  DebugInfo::closeStreamer(); // no harm
}

TEST_F(DebugInfoRecords, NeedAFileThatCanBeWritten) {
  expectError<poplar_error>(
      [] { DebugInfo::initializeStreamer("/dev/null/file"); },
      "'/dev/null/file'");
}

} // namespace
} // namespace poplar
