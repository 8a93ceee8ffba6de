#include "Reflection.hpp"

#include <clang-c/Index.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>

namespace popc {

namespace {

constexpr const char *fileName = "codelet.ii";

std::string toText(CXString string) {
  const char *text = clang_getCString(string);
  std::string result = text ? text : "";
  clang_disposeString(string);
  return result;
}

// Calls f(child) for the direct children, in order.
template <typename F> void forEachChild(CXCursor cursor, F &&f) {
  clang_visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData data) {
        (*static_cast<std::remove_reference_t<F> *>(data))(child);
        return CXChildVisit_Continue;
      },
      &f);
}

template <typename F> void forEachField(CXType type, F &&f) {
  clang_Type_visitFields(
      type,
      [](CXCursor field, CXClientData data) {
        (*static_cast<std::remove_reference_t<F> *>(data))(field);
        return CXVisit_Continue;
      },
      &f);
}

bool isClass(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  return kind == CXCursor_ClassDecl || kind == CXCursor_StructDecl;
}

// Without what clang writes for a namespace that has no name: C++ does not need
// one to look inside.
std::string spellType(CXCursor cursor) {
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  std::string text = toText(clang_getTypeSpelling(
      clang_getCanonicalType(clang_getCursorType(cursor))));
  for (std::size_t at; (at = text.find(anonymous)) != std::string::npos;) {
    text.erase(at, anonymous.size());
  }
  return text;
}

std::string nameOf(CXCursor cursor) {
  return toText(clang_getCursorSpelling(cursor));
}

// The name with those of the namespaces and classes around it.
std::string qualifiedName(CXCursor cursor) {
  std::string name = nameOf(cursor);
  for (CXCursor scope = clang_getCursorSemanticParent(cursor);
       clang_getCursorKind(scope) != CXCursor_TranslationUnit;
       scope = clang_getCursorSemanticParent(scope)) {
    if (const std::string outer = nameOf(scope); !outer.empty()) {
      name.insert(0, outer + "::");
    }
  }
  return name;
}

std::vector<std::string> namespacesAround(CXCursor cursor) {
  std::vector<std::string> names;
  for (CXCursor scope = clang_getCursorLexicalParent(cursor);
       clang_getCursorKind(scope) != CXCursor_TranslationUnit;
       scope = clang_getCursorLexicalParent(scope)) {
    if (clang_getCursorKind(scope) == CXCursor_Namespace) {
      names.insert(names.begin(), nameOf(scope));
    }
  }
  return names;
}

std::string parametersOf(CXCursor classTemplate) {
  std::string kinds;
  forEachChild(classTemplate, [&](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    if (kind == CXCursor_TemplateTypeParameter) {
      kinds += 't';
    } else if (kind == CXCursor_NonTypeTemplateParameter) {
      kinds += 'v';
    }
  });
  return kinds;
}

// Where the members of a class are declared: an instance of a template has none
// of its own in the syntax tree, so for it this is the template (or the partial
// specialisation) that it was made from.
CXCursor declarationOf(CXCursor cursor) {
  const CXCursor definition = clang_getCursorDefinition(cursor);
  bool hasBody = false;
  forEachChild(definition, [&](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    hasBody |= kind == CXCursor_FieldDecl || kind == CXCursor_CXXMethod ||
               kind == CXCursor_CXXBaseSpecifier;
  });
  if (hasBody) {
    return definition;
  }
  const CXCursor pattern = clang_getSpecializedCursorTemplate(definition);
  return clang_Cursor_isNull(pattern) ? definition
                                      : clang_getCursorDefinition(pattern);
}

// The template, for an instance or a specialisation, itself not partial.
CXCursor primaryTemplateOf(CXCursor cursor) {
  CXCursor pattern = clang_getSpecializedCursorTemplate(cursor);
  while (clang_getCursorKind(pattern) ==
         CXCursor_ClassTemplatePartialSpecialization) {
    pattern = clang_getSpecializedCursorTemplate(pattern);
  }
  return pattern;
}

// The class, or class template, that a base specifier names.
CXCursor baseOf(CXCursor specifier) {
  const CXCursor declaration = clang_getTypeDeclaration(
      clang_getCanonicalType(clang_getCursorType(specifier)));
  if (isClass(declaration)) {
    return declaration;
  }
  CXCursor named = clang_getNullCursor(); // a base that depends on parameters
  forEachChild(specifier, [&](CXCursor child) {
    if (clang_getCursorKind(child) == CXCursor_TemplateRef) {
      named = clang_getCursorReferenced(child);
    }
  });
  return named;
}

// What a class has, itself and through its bases.
class ClassReader {
public:
  explicit ClassReader(CXCursor cursor) { read(cursor); }

  bool isVertex() const { return isVertex_ && hasCompute_; }
  std::vector<Field> takeFields() { return std::move(fields_); }

private:
  void read(CXCursor cursor) {
    if (clang_Cursor_isNull(cursor)) {
      return;
    }
    const std::string name = spellType(cursor);
    isVertex_ |= name == "poplar::Vertex" || name == "poplar::MultiVertex" ||
                 name == "poplar::SupervisorVertex";
    const CXCursor declaration = declarationOf(cursor);
    forEachChild(declaration, [&](CXCursor child) {
      if (clang_getCursorKind(child) == CXCursor_CXXBaseSpecifier) {
        read(baseOf(child));
      } else if (clang_getCursorKind(child) == CXCursor_CXXMethod) {
        hasCompute_ |= nameOf(child) == "compute";
      }
    });
    readFields(cursor, declaration);
  }

  void readFields(CXCursor cursor, CXCursor declaration) {
    const CXType type = clang_getCursorType(cursor);
    if (type.kind == CXType_Invalid ||
        clang_getCursorKind(cursor) == CXCursor_ClassTemplate) {
      forEachChild(declaration, [&](CXCursor child) {
        if (clang_getCursorKind(child) == CXCursor_FieldDecl) {
          addField(child);
        }
      });
    } else {
      forEachField(type, [&](CXCursor field) { addField(field); });
    }
  }

  void addField(CXCursor cursor) {
    Field field;
    field.name = nameOf(cursor);
    CXString file;
    clang_getPresumedLocation(clang_getCursorLocation(cursor), &file,
                              &field.line, nullptr);
    field.file = toText(file);
    // A field hides one of the same name in a base.
    std::erase_if(fields_,
                  [&](const Field &other) { return other.name == field.name; });
    fields_.push_back(std::move(field));
  }

  bool isVertex_ = false;
  bool hasCompute_ = false;
  std::vector<Field> fields_;
};

VertexClass describe(CXCursor cursor, std::vector<Field> fields) {
  VertexClass result;
  const CXCursor primary = primaryTemplateOf(cursor);
  if (!clang_Cursor_isNull(primary)) {
    result.parameters = parametersOf(primary);
    result.scope = namespacesAround(cursor);
    result.type = spellType(cursor);
  }
  result.name = qualifiedName(cursor);
  result.fields = std::move(fields);
  return result;
}

class ClassFinder {
public:
  std::vector<VertexClass> find(CXCursor unit) {
    visit(unit);
    return std::move(classes_);
  }

private:
  void visit(CXCursor scope) {
    forEachChild(scope, [&](CXCursor cursor) {
      if (clang_Location_isInSystemHeader(clang_getCursorLocation(cursor))) {
        return;
      }
      const CXCursorKind kind = clang_getCursorKind(cursor);
      if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec) {
        visit(cursor);
      } else if (isClass(cursor) &&
                 !clang_Cursor_isNull(clang_getCursorDefinition(cursor))) {
        visit(cursor);
        addClass(cursor);
      }
    });
  }

  void addClass(CXCursor cursor) {
    ClassReader reader(cursor);
    const bool isNew = seen_.insert(toText(clang_getCursorUSR(cursor))).second;
    if (isNew && reader.isVertex()) {
      classes_.push_back(describe(cursor, reader.takeFields()));
    }
  }

  std::vector<VertexClass> classes_;
  std::set<std::string> seen_; // a class may be declared many times
};

// Whether code of the user refers to printf.
bool callsPrintf(CXCursor unit) {
  bool found = false;
  clang_visitChildren(
      unit,
      [](CXCursor cursor, CXCursor parent, CXClientData data) {
        const bool isTop =
            clang_getCursorKind(parent) == CXCursor_TranslationUnit;
        if (isTop &&
            clang_Location_isInSystemHeader(clang_getCursorLocation(cursor))) {
          return CXChildVisit_Continue;
        }
        if (clang_getCursorKind(cursor) == CXCursor_DeclRefExpr &&
            nameOf(cursor) == "printf") {
          *static_cast<bool *>(data) = true;
          return CXChildVisit_Break;
        }
        return CXChildVisit_Recurse;
      },
      &found);
  return found;
}

// The compiler had no objection, so one of libclang's means that the two are
// not of the same version.
void requireNoErrors(CXTranslationUnit unit) {
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    const bool isError =
        clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
    const std::string text = toText(clang_formatDiagnostic(
        diagnostic, clang_defaultDiagnosticDisplayOptions()));
    clang_disposeDiagnostic(diagnostic);
    if (isError) {
      throw std::runtime_error("libclang cannot read what clang++ compiles; "
                               "are they of one version? " +
                               text);
    }
  }
}

} // namespace

Reflection reflect(const std::string &text,
                   const std::vector<std::string> &flags) {
  std::vector<const char *> arguments;
  arguments.reserve(flags.size());
  for (const std::string &flag : flags) {
    arguments.push_back(flag.c_str());
  }
  CXUnsavedFile file{fileName, text.data(), text.size()};
  const std::unique_ptr<void, void (*)(CXIndex)> index(clang_createIndex(0, 0),
                                                       clang_disposeIndex);
  const std::unique_ptr<CXTranslationUnitImpl, void (*)(CXTranslationUnit)>
      unit(clang_parseTranslationUnit(index.get(), fileName, arguments.data(),
                                      static_cast<int>(arguments.size()), &file,
                                      1, CXTranslationUnit_None),
           clang_disposeTranslationUnit);
  if (!unit) {
    throw std::runtime_error("libclang cannot read the source");
  }
  requireNoErrors(unit.get());
  const CXCursor cursor = clang_getTranslationUnitCursor(unit.get());
  return {callsPrintf(cursor), ClassFinder().find(cursor)};
}

} // namespace popc
