#include "Registration.hpp"

#include <fmt/format.h>

namespace popc {

namespace {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + '"';
}

// Names the class as V<number> in namespace poplar::popc.
std::string aliasCode(const VertexClass &vertex, std::size_t number) {
  if (vertex.parameters.empty()) {
    return fmt::format("namespace poplar::popc {{\n"
                       "using V{} = ::{};\n}}\n",
                       number, vertex.name);
  }
  // The alias goes where the instance was written, and is found from there.
  std::string code, path;
  for (const std::string &name : vertex.scope) {
    code += fmt::format("namespace {} {{\n", name);
    path += name.empty() ? "" : name + "::";
  }
  code += fmt::format("using popcV{} = {};\n", number, vertex.type);
  code += std::string(vertex.scope.size(), '}');
  return code + fmt::format("\nnamespace poplar::popc {{\n"
                            "using V{0} = ::{1}popcV{0};\n}}\n",
                            number, path);
}

// Takes the arguments of the template apart for the compiler to spell them in
// full: those as written may lean on aliases, defaults and the scope.
std::string argumentsCode(const VertexClass &vertex, std::size_t number) {
  std::string parameters, arguments, texts;
  for (std::size_t i = 0; i < vertex.parameters.size(); ++i) {
    const bool isType = vertex.parameters[i] == 't';
    const char *comma = i == 0 ? "" : ", ";
    parameters +=
        fmt::format("{}{} A{}", comma, isType ? "typename" : "auto", i);
    arguments += fmt::format("{}A{}", comma, i);
    texts +=
        fmt::format("{}spell{}<A{}>()", comma, isType ? "Type" : "Value", i);
  }
  return fmt::format("template <typename V> struct Arguments{0};\n"
                     "template <{1}> struct Arguments{0}<::{2}<{3}>> {{\n"
                     "  static constexpr Text texts[] = {{{4}}};\n}};\n",
                     number, parameters, vertex.name, arguments, texts);
}

// Checks and records, each at the place of the field in the user's file.
std::string fieldsCode(const VertexClass &vertex, std::size_t number) {
  std::string checks, records;
  for (const Field &field : vertex.fields) {
    const std::string place =
        fmt::format("# {} {}\n", field.line, quote(field.file));
    const std::string message = fmt::format(
        "field '{}' of vertex '{}' has a type that vertices cannot have",
        field.name, vertex.name);
    if (field.name.empty()) { // an unnamed union
      checks +=
          place + fmt::format("static_assert(false, {});\n", quote(message));
      continue;
    }
    checks += place + fmt::format("static_assert(isField<decltype(V{}::{})>(), "
                                  "{});\n",
                                  number, field.name, quote(message));
    records +=
        place + fmt::format("describeField<decltype(V{0}::{1})>(\"{1}\", "
                            "__builtin_offsetof(V{0}, {1})),\n",
                            number, field.name);
  }
  return checks + fmt::format("const FieldRecord fields{}[] = {{\n{}{{}}}};\n",
                              number, records);
}

} // namespace

std::string registrationCode(const std::vector<VertexClass> &classes,
                             bool isPrinting, unsigned table) {
  const std::string place = "\n# 1 \"popc\"\n";
  std::string aliases, body, records;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const VertexClass &vertex = classes[i];
    const bool isTemplate = !vertex.parameters.empty();
    aliases += aliasCode(vertex, i);
    body +=
        (isTemplate ? argumentsCode(vertex, i) : "") + fieldsCode(vertex, i);
    records += fmt::format(
        "describeType<V{0}>({1}, {2}, {3}, {4}, fields{0}, {5}),\n", i,
        quote(vertex.name),
        isTemplate ? fmt::format("Arguments{0}<V{0}>::texts", i) : "nullptr",
        vertex.parameters.size(), isPrinting, vertex.fields.size());
  }
  return place + aliases +
         fmt::format("namespace poplar::popc {{\nnamespace {{\n{0}{4}"
                     "const TypeRecord types[] = {{\n{1}}};\n}}\n"
                     "extern \"C\" [[gnu::visibility(\"default\")]]\n"
                     "const Table popcTable{2} = {{tableVersion, {3}, types, "
                     "&host}};\n}}\n",
                     body, records, table, classes.size(), place);
}

} // namespace popc
