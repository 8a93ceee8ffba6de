// Finds the vertex classes of a source: their names and those of their fields.
// What the fields are, the compiler says later (poplar/popc/Register.hpp).
#pragma once

#include <string>
#include <vector>

namespace popc {

struct Field {
  std::string name;
  std::string file; // where the user declared it
  unsigned line = 0;
};

struct VertexClass {
  std::string name; // qualified; of a template, without its arguments
  // How the user wrote it, to be read in the namespaces `scope`: clang prints
  // the arguments of an instance as they were written there.
  std::string type;
  std::vector<std::string> scope; // outermost first; "" has no name
  // Of a template: 't' for a parameter that is a type, 'v' for a value.
  std::string parameters;
  std::vector<Field> fields; // those of its bases first
};

struct Reflection {
  bool callsPrintf = false;
  std::vector<VertexClass> classes;
};

// `text` is a preprocessed source that compiles with `flags`.
Reflection reflect(const std::string &text,
                   const std::vector<std::string> &flags);

} // namespace popc
