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
  return fmt::format("template <typename V> struct Arguments{0} {{\n"
                     "  static constexpr Text *texts = nullptr;\n}};\n",
                     number) +
         (parameters.empty()
              ? ""
              : fmt::format("template <{1}>\n"
                            "struct Arguments{0}<::{2}<{3}>> {{\n"
                            "  static constexpr Text texts[] = {{{4}}};\n}};\n",
                            number, parameters, vertex.name, arguments, texts));
}

// A check with the place of the field in the user's file, then the records.
std::string fieldsCode(const VertexClass &vertex, std::size_t number) {
  std::string checks, records;
  for (const Field &field : vertex.fields) {
    const std::string message = fmt::format(
        "field '{}' of vertex '{}' has a type that vertices cannot have",
        field.name, vertex.name);
    checks += fmt::format("# {} {}\n"
                          "static_assert(isField<decltype(V{}::{})>(), {});\n",
                          field.line, quote(field.file), number, field.name,
                          quote(message));
    records += fmt::format("    describeField<decltype(V{0}::{1})>(\n"
                           "        \"{1}\", __builtin_offsetof(V{0}, {1})),\n",
                           number, field.name);
  }
  return checks + fmt::format("# 1 \"popc\" 3\n"
                              "const FieldRecord fields{}[] = {{\n{}"
                              "    {{}}}};\n",
                              number, records);
}

} // namespace

std::string registrationCode(const std::vector<VertexClass> &classes,
                             bool isPrinting, unsigned table) {
  // Marked as a system header: the user's warnings are not about this code.
  std::string code = "\n# 1 \"popc\" 3\n";
  std::string body, records;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const VertexClass &vertex = classes[i];
    code += aliasCode(vertex, i);
    body += argumentsCode(vertex, i) + fieldsCode(vertex, i);
    records += fmt::format("    describeType<V{0}>({1}, Arguments{0}<V{0}>::"
                           "texts, {2}, {3}, fields{0}, {4}),\n",
                           i, quote(vertex.name), vertex.parameters.size(),
                           isPrinting, vertex.fields.size());
  }
  return code +
         fmt::format("namespace poplar::popc {{\nnamespace {{\n{0}"
                     "const TypeRecord types[] = {{\n{1}}};\n}}\n"
                     "extern \"C\" [[gnu::visibility(\"default\")]]\n"
                     "const Table popcTable{2} = {{tableVersion, {3}, types, "
                     "&host}};\n}}\n",
                     body, records, table, classes.size());
}

} // namespace popc
