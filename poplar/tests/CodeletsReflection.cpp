// Every kind of field that a vertex may have is found and described: private,
// inherited, of templates, in every layout.
#include "CodeletSource.hpp"
#include "ExpectError.hpp"

#include <poplar/exceptions.hpp>

#include <array>

namespace {

using poplar::internal::EdgeDirection;
using poplar::internal::FieldLayout;
using poplar::internal::FieldShape;
using poplar::internal::VertexBase;
using poplar::internal::VertexField;
using poplar::internal::VertexType;
using support::DataType;

class CodeletsReflection : public CodeletTest {};

// The field called `name`; fails the test if there is none.
const VertexField &fieldOf(const VertexType &type, const std::string &name) {
  static const VertexField none;
  const std::size_t index = type.findField(name);
  if (index == VertexType::npos) {
    ADD_FAILURE() << type.name << " has no field " << name;
    return none;
  }
  return type.fields[index];
}

std::vector<std::string> fieldNames(const VertexType &type) {
  std::vector<std::string> names;
  for (const VertexField &field : type.fields) {
    names.push_back(field.name);
  }
  return names;
}

std::vector<std::string>
typeNames(const poplar::codelets::CodeletFilePtr &file) {
  std::vector<std::string> names;
  for (const VertexType &type : file->types) {
    names.push_back(type.name);
  }
  return names;
}

TEST_F(CodeletsReflection, ShapesAndDirections) {
  const auto file = compile(R"(
#include <poplar/Vertex.hpp>
using namespace poplar;
struct All : Vertex {
  float value;
  const int array[3];
  Vector<unsigned> values;
  Input<float> scalar;
  Output<Vector<int>> vector;
  Vector<InOut<float>> scalars;
  Vector<Input<Vector<short>>> vectors;
  InOut<VectorList<float, VectorListLayout::DELTAN>> list;
  static const bool isExternalCodelet = false;
  bool compute() { return true; }
};)");
  struct Row {
    const char *name;
    FieldShape shape;
    EdgeDirection direction;
    DataType type;
    std::uint32_t offset, count;
    FieldLayout layout, itemLayout;
  };
  using enum FieldShape;
  // Offsets by the rules of the x86-64 ABI: pointers and spans of 8 and 16
  // bytes, each aligned to 8.
  const std::array rows = {
      Row{"value", Value, EdgeDirection::None, DataType::Float, 0, 1,
          FieldLayout::None, FieldLayout::None},
      Row{"array", Value, EdgeDirection::None, DataType::Int, 4, 3,
          FieldLayout::None, FieldLayout::None},
      Row{"values", ValueVector, EdgeDirection::None, DataType::UnsignedInt, 16,
          1, FieldLayout::Span, FieldLayout::None},
      Row{"scalar", Scalar, EdgeDirection::Input, DataType::Float, 32, 1,
          FieldLayout::None, FieldLayout::None},
      Row{"vector", Vector, EdgeDirection::Output, DataType::Int, 40, 1,
          FieldLayout::Span, FieldLayout::None},
      Row{"scalars", ScalarList, EdgeDirection::InOut, DataType::Float, 56, 1,
          FieldLayout::Span, FieldLayout::None},
      Row{"vectors", VectorList, EdgeDirection::Input, DataType::Short, 72, 1,
          FieldLayout::Span, FieldLayout::Span},
      Row{"list", VectorList, EdgeDirection::InOut, DataType::Float, 88, 1,
          FieldLayout::DeltaN, FieldLayout::None},
  };
  const VertexType &type = typeOf(file, "All");
  EXPECT_EQ(type.size, 104u);
  EXPECT_EQ(type.alignment, 8u);
  EXPECT_EQ(type.base, VertexBase::Worker);
  ASSERT_EQ(type.fields.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const VertexField &field = type.fields[i];
    SCOPED_TRACE(rows[i].name);
    EXPECT_EQ(field.name, rows[i].name);
    EXPECT_EQ(field.shape, rows[i].shape);
    EXPECT_EQ(field.direction, rows[i].direction);
    EXPECT_EQ(field.type, rows[i].type);
    EXPECT_EQ(field.offset, rows[i].offset);
    EXPECT_EQ(field.count, rows[i].count);
    EXPECT_EQ(field.layout, rows[i].layout);
    EXPECT_EQ(field.itemLayout, rows[i].itemLayout);
  }
}

TEST_F(CodeletsReflection, ElementTypes) {
  const auto file = compile(R"(
#include <cstddef>
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>
enum class Mode : unsigned char { A };
struct Types : poplar::Vertex {
  bool b;
  char c;
  signed char sc;
  unsigned char uc;
  short s;
  unsigned short us;
  int i;
  unsigned u;
  long long ll;
  unsigned long long ull;
  half h;
  float f;
  Mode mode;
  std::size_t size;
  poplar::Input<poplar::Vector<half>> halves;
  bool compute() { return true; }
};)");
  const std::pair<const char *, DataType> rows[] = {
      {"b", DataType::Bool},
      {"c", DataType::Char},
      {"sc", DataType::SignedChar},
      {"uc", DataType::UnsignedChar},
      {"s", DataType::Short},
      {"us", DataType::UnsignedShort},
      {"i", DataType::Int},
      {"u", DataType::UnsignedInt},
      {"ll", DataType::LongLong},
      {"ull", DataType::UnsignedLongLong},
      {"h", DataType::Half},
      {"f", DataType::Float},
      {"mode", DataType::UnsignedChar},
      {"size", DataType::UnsignedLongLong},
      {"halves", DataType::Half},
  };
  for (const auto &[name, type] : rows) {
    EXPECT_EQ(fieldOf(typeOf(file, "Types"), name).type, type) << name;
  }
}

TEST_F(CodeletsReflection, EveryLayoutOfVectors) {
  const auto file = compile(R"(
#include <poplar/Vertex.hpp>
using namespace poplar;
struct Layouts : Vertex {
  Input<Vector<float, VectorLayout::SPAN>> v0;
  Input<Vector<float, VectorLayout::SHORT_SPAN>> v1;
  Input<Vector<float, VectorLayout::ONE_PTR>> v2;
  Input<Vector<float, VectorLayout::SCALED_PTR32>> v3;
  Input<Vector<float, VectorLayout::SCALED_PTR64>> v4;
  Input<Vector<float, VectorLayout::SCALED_PTR128>> v5;
  Input<Vector<float, VectorLayout::COMPACT_PTR>> v6;
  Input<VectorList<float, VectorListLayout::ONE_PTR>> l0;
  Input<VectorList<float, VectorListLayout::SCALED_PTR32>> l1;
  Input<VectorList<float, VectorListLayout::SCALED_PTR64>> l2;
  Input<VectorList<float, VectorListLayout::SCALED_PTR128>> l3;
  Input<VectorList<float, VectorListLayout::DELTAN>> l4;
  Input<VectorList<float, VectorListLayout::DELTANELEMENTS>> l5;
  Input<VectorList<float, VectorListLayout::COMPACT_DELTAN>> l6;
  Vector<Output<Vector<float, VectorLayout::ONE_PTR>>,
         VectorLayout::SHORT_SPAN> nested;
  Output<Vector<float, VectorLayout::SPAN, 16, true>> aligned;
  Input<VectorList<float, VectorListLayout::DELTAN, 8, true>> alignedList;
  Vector<InOut<Vector<float, VectorLayout::SPAN, 32, true>>> alignedItems;
  bool compute() { return true; }
};)");
  using enum FieldLayout;
  const VertexType &type = typeOf(file, "Layouts");
  const FieldLayout vectors[] = {Span,        ShortSpan,   OnePtr,
                                 ScaledPtr32, ScaledPtr64, ScaledPtr128,
                                 CompactPtr};
  const FieldLayout lists[] = {OnePtr,       ScaledPtr32, ScaledPtr64,
                               ScaledPtr128, DeltaN,      DeltaNElements,
                               CompactDeltaN};
  for (std::size_t i = 0; i < 7; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(fieldOf(type, "v" + number).layout, vectors[i]) << i;
    EXPECT_EQ(fieldOf(type, "v" + number).shape, FieldShape::Vector) << i;
    EXPECT_EQ(fieldOf(type, "l" + number).layout, lists[i]) << i;
    EXPECT_EQ(fieldOf(type, "l" + number).shape, FieldShape::VectorList) << i;
  }
  EXPECT_EQ(fieldOf(type, "nested").layout, ShortSpan);
  EXPECT_EQ(fieldOf(type, "nested").itemLayout, OnePtr);
  EXPECT_EQ(fieldOf(type, "v0").alignment, 4u);
  EXPECT_FALSE(fieldOf(type, "v0").isInterleaved);
  for (const auto &[name, alignment] : {std::pair{"aligned", 16u},
                                        {"alignedList", 8u},
                                        {"alignedItems", 32u}}) {
    EXPECT_EQ(fieldOf(type, name).alignment, alignment) << name;
    EXPECT_TRUE(fieldOf(type, name).isInterleaved) << name;
  }
}

TEST_F(CodeletsReflection, PrivateFieldsAndBases) {
  const auto file = compile(R"cpp(
#include <poplar/Vertex.hpp>
using namespace poplar;
class Base : MultiVertex {
  Input<float> first;
protected:
  float hidden;
};
class Middle : protected Base {
  int hidden;
  Output<int> second;
};
class Derived : Middle {
  InOut<unsigned> third;
  void compute(unsigned) {}
};
class NoCompute : public Vertex { Input<float> x; };
struct NoVertex { float x; bool compute() { return true; } };
class [[poplar::constraint("elem(*a) != elem(*b)")]] Supervisor
    : public SupervisorVertex {
  Input<Vector<float>> a, b;
public:
  Supervisor();
  __attribute__((target("supervisor"))) bool compute() { return true; }
};
struct Inherited : Supervisor {};
)cpp",
                            "-Wall -Wno-unused-private-field -Werror");
  EXPECT_EQ(messages, "");
  EXPECT_EQ(typeNames(file),
            (std::vector<std::string>{"Derived", "Supervisor", "Inherited"}));
  const VertexType &derived = typeOf(file, "Derived");
  EXPECT_EQ(derived.base, VertexBase::Multi);
  // A field hides that of the same name in a base: int, at its own place.
  EXPECT_EQ(fieldNames(derived),
            (std::vector<std::string>{"first", "hidden", "second", "third"}));
  EXPECT_EQ(fieldOf(derived, "hidden").type, DataType::Int);
  EXPECT_EQ(fieldOf(derived, "first").offset, 0u);
  EXPECT_EQ(fieldOf(derived, "third").offset, 24u);
  EXPECT_EQ(typeOf(file, "Supervisor").base, VertexBase::Supervisor);
  EXPECT_EQ(fieldNames(typeOf(file, "Inherited")),
            (std::vector<std::string>{"a", "b"}));
}

TEST_F(CodeletsReflection, NamesOfTemplatesAndNamespaces) {
  const auto file = compile(R"(
#include <cstdint>
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>
namespace outer {
namespace inner { enum class Op { ADD, SUB }; }
using Index = std::uint32_t;
template <typename T> struct Pair { T a, b; };
template <inner::Op op, typename T, bool fast = true, unsigned N = 2>
class Binary : public poplar::Vertex {
  poplar::Input<poplar::Vector<T>> in;
  T scale;
  bool compute() { return true; }
};
template class Binary<inner::Op::SUB, Index>;
template class Binary<static_cast<inner::Op>(0), half, false, 7 + 1>;
struct Plain : poplar::Vertex { bool compute() { return true; } };
}
template class outer::Binary<outer::inner::Op::ADD, unsigned char>;
template <typename A, typename B> struct Base : poplar::Vertex {
  poplar::Output<A> a;
  bool compute() { return true; }
};
template <typename T> struct Two : Base<T, short> { poplar::Input<T> t; };
template <typename T> struct Two<T *> : Base<int, T> { poplar::Input<T> p; };
template <> struct Two<bool> : Base<int, bool> { poplar::Input<bool> q; };
template struct Two<unsigned>;
template struct Two<float *>;
template <typename T> struct Unused : poplar::Vertex {
  bool compute() { return true; }
};
namespace {
template <int N> struct Hidden : poplar::Vertex { bool compute() { return N; } };
template struct Hidden<-3>;
}
template <typename T> struct Holder : poplar::Vertex {
  bool compute() { return true; }
};
template struct Holder<outer::Pair<outer::Pair<half>>>;
template struct Holder<long long>;
)");
  EXPECT_EQ(typeNames(file),
            (std::vector<std::string>{
                "outer::Binary<outer::inner::Op::SUB,unsigned int,true,2>",
                "outer::Binary<outer::inner::Op::ADD,half,false,8>",
                "outer::Plain",
                "outer::Binary<outer::inner::Op::ADD,unsigned char,true,2>",
                "Two<bool>",
                "Two<unsigned int>",
                "Two<float *>",
                "Hidden<-3>",
                "Holder<outer::Pair<outer::Pair<half>>>",
                "Holder<long long>",
            }));
  const VertexType &binary = file->types.at(1);
  EXPECT_EQ(fieldNames(binary), (std::vector<std::string>{"in", "scale"}));
  EXPECT_EQ(fieldOf(binary, "scale").type, DataType::Half);
  using Names = std::vector<std::string>;
  EXPECT_EQ(fieldNames(typeOf(file, "Two<bool>")), (Names{"a", "q"}));
  EXPECT_EQ(fieldNames(typeOf(file, "Two<unsigned int>")), (Names{"a", "t"}));
  EXPECT_EQ(fieldNames(typeOf(file, "Two<float *>")), (Names{"a", "p"}));
}

TEST_F(CodeletsReflection, FieldsThatVerticesCannotHaveAreErrors) {
  const auto action = [&] {
    compile(R"(#include <poplar/Vertex.hpp>
struct S { int x; };
struct V : poplar::Vertex {
  double f4;
  float *f5;
  S f6;
  int &f7;
  poplar::Input<double> f8;
  poplar::Input<poplar::Vector<S>> f9;
  poplar::Vector<poplar::Vector<int>> f10;
  poplar::Input<poplar::Vector<poplar::Input<int>>> f11;
  poplar::Input<int[2]> f12;
  union { int a; float b; };
  int fine;
  bool compute() { return true; }
};)");
  };
  // Each field's number is that of its line.
  expectError<poplar::graph_program_compilation_error>(
      action, "<stdin>:4:", "'f4' of vertex 'V'", "<stdin>:5:", "'f5'",
      "<stdin>:6:", "'f6'", "<stdin>:7:", "'f7'", "<stdin>:8:", "'f8'",
      "<stdin>:9:", "'f9'", "<stdin>:10:", "'f10'", "<stdin>:11:", "'f11'",
      "<stdin>:12:", "'f12'", "<stdin>:13:", "field '' of vertex 'V'");
  expectError<poplar::graph_program_compilation_error>(
      [&] {
        compile("#include <poplar/Vertex.hpp>\n"
                "struct V : poplar::Vertex {\n"
                "  int bits : 3;\n"
                "  bool compute() { return true; }\n"
                "};");
      },
      "<stdin>:3:", "bits");
}

TEST_F(CodeletsReflection, AHostProgramMayBeItsOwnCodelet) {
  const auto file = compile(R"(
#include <poplar/Engine.hpp>
#ifdef __POPC__
#include <poplar/Vertex.hpp>
using namespace poplar;
using namespace poplar::program;
class Own : public poplar::Vertex {
public:
  poplar::Input<poplar::Vector<float>> x;
  poplar::Output<poplar::Vector<float>> y;
  bool compute() {
    for (unsigned i = 0; i < x->size(); i++)
      y[i] = x[i];
    return true;
  }
};
#else
int main() {}
#endif
#ifdef __IPU__
#error "this is no IPU"
#endif)");
  EXPECT_EQ(typeNames(file), std::vector<std::string>{"Own"});
}

} // namespace
