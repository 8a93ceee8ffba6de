// Codelets of a graph: files, sources, and the vertex types that they add.
#include "CodeletSource.hpp"
#include "ExpectError.hpp"

#include <poplar/Graph.hpp>
#include <poplar/internal/Access.hpp>

#include <gtest/gtest.h>

#include <fstream>

namespace {

using namespace poplar;

constexpr const char *doubling = R"(
#include <poplar/Vertex.hpp>
using namespace poplar;
template <typename A, typename B> class Double : public Vertex {
public:
  Input<Vector<A>> in;
  Output<B> out;
  bool compute() { *out = B(2 * in[0]); return true; }
};
template class Double<float, unsigned int>;
)";

class GraphCodelets : public CodeletTest {
protected:
  std::string write(const char *name, const std::string &text) {
    const auto path = folder / name;
    std::ofstream(path) << text;
    return path;
  }
  Graph graph{Target::createIPUTarget(1, "ipu2")};
};

TEST_F(GraphCodelets, SourcesAddTheirTypesOnce) {
  const std::string path = write("double.cpp", doubling);
  EXPECT_FALSE(graph.hasCodelet("Double<float,unsigned int>"));
  EXPECT_TRUE(graph.addCodelets(path));
  EXPECT_TRUE(graph.hasCodelet("Double<float, unsigned int>"));
  EXPECT_FALSE(graph.addCodelets(path));
  EXPECT_FALSE(graph.addCodelets(std::vector<std::string>{path}));
  ComputeSet computeSet = graph.addComputeSet();
  VertexRef vertex = graph.addVertex(computeSet, "Double<float, unsigned int>");
  expectError<type_error>(
      [&] { graph.connect(vertex["out"], graph.addVariable(FLOAT, {})); },
      "'out'", "unsigned int", "float");
  expectError<unknown_vertex_type>(
      [&] { graph.addVertex(computeSet, "Double<half,half>"); },
      "Double<half,half>");
}

TEST_F(GraphCodelets, SourcesNeedNoFile) {
  std::stringstream source(doubling);
  EXPECT_TRUE(graph.addCodelets(source));
  EXPECT_TRUE(graph.hasCodelet("Double<float,unsigned int>"));
}

TEST_F(GraphCodelets, ATypeMayBeGivenForAnyName) {
  write("body.hpp", doubling);
  const std::string path = write("codelets.txt", "#include \"body.hpp\"");
  expectError<poplar_error>([&] { graph.addCodelets(path); }, "codelets.txt",
                            "'.txt'", ".cpp");
  EXPECT_TRUE(graph.addCodelets(path, CodeletFileType::CppSource));
  EXPECT_TRUE(graph.hasCodelet("Double<float,unsigned int>"));
}

TEST_F(GraphCodelets, MistakesNameTheFile) {
  expectError<file_load_error>([&] { graph.addCodelets("nowhere.cpp"); },
                               "nowhere.cpp");
  expectError<file_load_error>([&] { graph.addCodelets("nowhere.gp"); },
                               "nowhere.gp");
  const std::string damaged = write("damaged.gp", "not codelets");
  expectError<graph_object_load_error>([&] { graph.addCodelets(damaged); },
                                       "damaged.gp");
  std::stringstream wrong("this is not C++");
  std::ostringstream output;
  EXPECT_THROW(graph.addCodelets(wrong, "", output),
               graph_program_compilation_error);
  EXPECT_NE(output.str().find("error"), std::string::npos);
}

TEST_F(GraphCodelets, LanguagesHaveExtensions) {
  EXPECT_EQ(getCodeletFileType("a/b.cpp"), CodeletFileType::CppSource);
  EXPECT_EQ(getCodeletFileType("b.gp"), CodeletFileType::Object);
  EXPECT_EQ(getExtensionFromFileType(CodeletFileType::CSource), ".c");
  EXPECT_EQ(getLanguageOption(CodeletFileType::CppSource), "-x c++");
  expectError<poplar_error>(
      [] { getExtensionFromFileType(CodeletFileType::Auto); }, "Auto");
}

} // namespace
