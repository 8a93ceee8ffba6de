// Codelet files, the cache of them, and what is wrong with those that are not
// whole.
#include "CodeletSource.hpp"
#include "ExpectError.hpp"

#include "codelets/CallPopc.hpp"

#include <poplar/exceptions.hpp>
#include <poplar/internal/CodeletFormat.hpp>
#include <support/Process.hpp>

#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;
using poplar::codelets::compileFiles;
using poplar::codelets::loadBytes;
using poplar::codelets::loadFile;
using Names = std::vector<std::string>;

constexpr const char *source = R"(
#include <poplar/Vertex.hpp>
#ifndef VALUE
#define VALUE 1
#endif
struct Store : poplar::Vertex {
  poplar::Output<int> out;
  bool compute() { *out = VALUE; return true; }
};)";

int runStore(const poplar::codelets::CodeletFilePtr &file,
             const std::string &name = "Store") {
  VertexObjects objects(typeOf(file, name));
  int value = 0;
  objects.set("out", &value);
  EXPECT_TRUE(objects.run());
  return value;
}

class CodeletsFiles : public CodeletTest {
protected:
  std::string write(const std::string &name, const std::string &text) {
    const fs::path path = folder / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::vector<fs::path> cached() {
    std::vector<fs::path> paths;
    for (const auto &entry : fs::directory_iterator(folder / "codelets")) {
      paths.push_back(entry.path());
    }
    return paths;
  }
  static std::string textOf(const poplar::codelets::CodeletFilePtr &file) {
    return {reinterpret_cast<const char *>(file->bytes.data()),
            file->bytes.size()};
  }
  static poplar::codelets::CodeletFilePtr load(const std::string &text) {
    const auto *begin = reinterpret_cast<const std::byte *>(text.data());
    return loadBytes("bytes", {begin, begin + text.size()});
  }

  std::ostringstream output;
};

TEST_F(CodeletsFiles, AFileOfManySourcesAndFlags) {
  const std::string first = write("a b.cpp", source);
  const std::string second = write("second.cpp", R"(
#include <poplar/Vertex.hpp>
extern "C" int three(void);
struct Second : poplar::Vertex {
  poplar::Output<int> out;
  bool compute() { *out = three(); return true; }
};)");
  const std::string third =
      write("third.c", "#include <stdio.h>\n"
                       "int three(void) { printf(\"%d\", 3); return 3; }");
  const auto file =
      compileFiles({first, second, third}, "-DVALUE='(2 + 5)' -O1 -std=c++11",
                   "ipu2", output);
  EXPECT_EQ(runStore(file), 7);
  EXPECT_TRUE(typeOf(file, "Second").isPrinting);
  {
    const poplar::codelets::PrintScope scope(output);
    EXPECT_EQ(runStore(file, "Second"), 3);
  }
  EXPECT_EQ(output.str(), "3");
  const auto linked = loadFile(write("linked.gp", textOf(file)));
  EXPECT_EQ(runStore(linked), 7);
  // Linked with another source into one file.
  const auto both =
      compileFiles({folder / "linked.gp",
                    write("fourth.cpp", "#include <poplar/Vertex.hpp>\n"
                                        "struct Fourth : poplar::Vertex "
                                        "{ poplar::Output<int> out; bool "
                                        "compute() { *out = 4; return "
                                        "true; } };")},
                   "", "ipu2", output);
  EXPECT_EQ(both->types.size(), 3u);
  EXPECT_EQ(runStore(both, "Second"), 3);
  EXPECT_EQ(runStore(both, "Fourth"), 4);
}

TEST_F(CodeletsFiles, CodeStaysWhileAnyoneHasTheFile) {
  std::vector<poplar::codelets::CodeletFilePtr> files;
  for (int i = 0; i < 5; ++i) { // each its own code, not the first one's
    files.push_back(compile(source, "-DVALUE=" + std::to_string(i)));
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(runStore(files[static_cast<std::size_t>(i)]), i);
  }
}

TEST_F(CodeletsFiles, TheCacheKnowsWhatTheCodeDependsOn) {
  compile(source);
  ASSERT_EQ(cached().size(), 1u);
  const auto written = fs::last_write_time(cached()[0]);
  EXPECT_EQ(runStore(compile(std::string(source) + " // a comment")), 1);
  EXPECT_EQ(cached().size(), 1u); // found
  EXPECT_EQ(fs::last_write_time(cached()[0]), written);
  EXPECT_EQ(runStore(compile(source, "-DVALUE=2")), 2);
  EXPECT_EQ(cached().size(), 2u);
  compile(source, "-O0");
  EXPECT_EQ(cached().size(), 3u);
}

TEST_F(CodeletsFiles, AHeaderThatChangesIsSeen) {
  write("value.hpp", "#define VALUE 5\n");
  const std::string including =
      "#include \"value.hpp\"\n" + std::string(source);
  const std::string path = write("main.cpp", including);
  EXPECT_EQ(runStore(compileFiles({path}, "", "ipu2", output)), 5);
  write("value.hpp", "#define VALUE 6\n");
  EXPECT_EQ(runStore(compileFiles({path}, "", "ipu2", output)), 6);
}

TEST_F(CodeletsFiles, WarningsComeWithEveryCompilation) {
  const std::string warns =
      std::string(source) + "\nint unused() { int x; return x; }";
  compile(warns, "-Wall");
  const std::string first = messages;
  EXPECT_NE(first.find("warning: variable 'x' is uninitialized"),
            std::string::npos)
      << first;
  compile(warns, "-Wall");
  EXPECT_EQ(messages, first); // from the cache
}

TEST_F(CodeletsFiles, ADamagedCacheEntryIsReplaced) {
  const std::string whole = textOf(compile(source));
  const fs::path entry = cached().at(0);
  std::ofstream(entry) << "ASPEN.gp";
  EXPECT_EQ(runStore(compile(source)), 1);
  std::ifstream file(entry, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), whole);
}

TEST_F(CodeletsFiles, ACacheThatCannotBeUsedIsNoError) {
  for (const std::string place : {"/proc/nothing", "/dev/null", ""}) {
    setenv("ASPEN_CACHE_DIR", place.c_str(), 1);
    if (place.empty()) {
      setenv("XDG_CACHE_HOME", "/dev/full", 1);
    }
    EXPECT_EQ(runStore(compile(source)), 1) << place;
  }
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(CodeletsFiles, ErrorsShowTheUsersLines) {
  const std::string path = write("wrong.cpp", "#include <poplar/Vertex.hpp>\n"
                                              "#define TWICE(x) x x\n"
                                              "struct V : poplar::Vertex {\n"
                                              "  int a = undeclared;\n"
                                              "};\n");
  const auto action = [&] { compileFiles({path}, "", "ipu2", output); };
  expectError<poplar::graph_program_compilation_error>(
      action, path + ":4:11: error: use of undeclared identifier 'undeclared'",
      "\n  int a = undeclared;\n          ^\n");
  EXPECT_NE(output.str().find("wrong.cpp:4:11"), std::string::npos);

  expectError<poplar::graph_program_compilation_error>(
      [&] { compile("#include <nowhere.hpp>\n"); },
      "<stdin>:1:10: fatal error: 'nowhere.hpp' file not found");
  expectError<poplar::graph_program_compilation_error>(
      [&] { compile("class A { int x; };\nint f(A a) { return a.x; }"); },
      "<stdin>:2:23: error: 'x' is a private member of 'A'");
  expectError<poplar::graph_program_compilation_error>(
      [&] { compile("int f() { int x; return 0; }", "-Wall -Werror"); },
      "unused variable 'x'");
  expectError<poplar::graph_program_compilation_error>(
      [&] { compile(source, "-no-such-flag"); }, "unknown option",
      "-no-such-flag");
  expectError<poplar::graph_program_compilation_error>(
      [&] {
        compile("#include <poplar/Vertex.hpp>\n"
                "struct V : poplar::Vertex { bool compute(); };");
      },
      "undefined reference to `V::compute()'");
  expectError<poplar::file_load_error>(
      [&] { compileFiles({folder / "none.cpp"}, "", "ipu2", output); },
      "none.cpp");
  expectError<poplar::file_load_error>([&] { loadFile(folder / "none.gp"); },
                                       "none.gp");
  expectError<poplar::file_load_error>([&] { loadFile(folder); }, folder);
}

TEST_F(CodeletsFiles, EveryTruncatedFileIsRefused) {
  const std::string whole = textOf(compile(source, "-O1"));
  EXPECT_EQ(runStore(load(whole)), 1);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(load(whole.substr(0, size)), poplar::graph_object_load_error)
        << size;
  }
  expectError<poplar::graph_object_load_error>([&] { load(whole + "x"); },
                                               "bytes: ", "checksum");
}

TEST_F(CodeletsFiles, EveryFlippedByteIsRefused) {
  const std::string whole = textOf(compile(source, "-O1"));
  for (std::size_t i = 0; i < whole.size(); i += i < 100 ? 1 : 37) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    EXPECT_THROW(load(damaged), poplar::graph_object_load_error) << i;
  }
}

TEST_F(CodeletsFiles, FilesOfOthersAreRefused) {
  expectError<poplar::graph_object_load_error>(
      [&] {
        load("\x7f"
             "ELF and more");
      },
      "not a codelet file");
  using poplar::internal::CodeletUnit;
  using poplar::internal::encodeCodelets;
  expectError<poplar::graph_object_load_error>(
      [&] {
        load(encodeCodelets({{"x86-64-v9", "", "code", 1}}));
      },
      "compiled for x86-64-v9");
  const std::string here(poplar::internal::hostMachine());
  expectError<poplar::graph_object_load_error>(
      [&] {
        load(encodeCodelets({{here, "", "no code", 1}}));
      },
      "cannot be loaded");
  auto units = poplar::internal::decodeCodelets(textOf(compile(source)));
  units.at(0).tables = 2;
  expectError<poplar::graph_object_load_error>(
      [&] { load(encodeCodelets(units)); }, "lacks table 1");
  EXPECT_TRUE(load(encodeCodelets({}))->types.empty());
}

TEST(CodeletFlags, AreSplitAsByAShell) {
  using poplar::codelets::splitFlags;
  EXPECT_EQ(splitFlags(""), Names{});
  EXPECT_EQ(splitFlags("  -O3  -I dir\t-DN=1\n"),
            (Names{"-O3", "-I", "dir", "-DN=1"}));
  EXPECT_EQ(splitFlags(R"(-D'A B'="c d" '' a\ b "\"" 'x\')"),
            (Names{"-DA B=c d", "", "a b", "\"", "x\\"}));
}

} // namespace
