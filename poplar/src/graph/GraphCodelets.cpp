// Graph: codelets and the vertex types that they hold.
#include <poplar/Graph.hpp>

#include "Handles.hpp"
#include "VertexNames.hpp"

#include "codelets/Codelets.hpp"

#include <support/Error.hpp>
#include <support/Logging.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace poplar {

using internal::CodeletFile;
using support::requireUser;

namespace {

constexpr support::Logger logger(support::LogChannel::Poplar, "CODELETS");

struct FileTypeRow {
  CodeletFileType type;
  const char *extension;
  const char *language;
};
constexpr FileTypeRow fileTypes[] = {
    {CodeletFileType::PreprocessedAsmSource, ".S", "-x assembler-with-cpp"},
    {CodeletFileType::AsmSource, ".s", "-x assembler"},
    {CodeletFileType::CSource, ".c", "-x c"},
    {CodeletFileType::CppSource, ".cpp", "-x c++"},
    {CodeletFileType::IrSource, ".ll", "-x ir"},
    {CodeletFileType::Object, ".gp", "-x none"},
};

const FileTypeRow &rowOf(CodeletFileType type) {
  for (const FileTypeRow &row : fileTypes) {
    if (row.type == type) {
      return row;
    }
  }
  throw poplar_error(
      "[poplar::CodeletFileType] Auto is not the type of a file");
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw file_load_error(path);
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The same compiled codelets; files that were not compiled are told apart by
// being different objects.
bool isSameFile(const CodeletFile &a, const CodeletFile &b) {
  return &a == &b || (!a.bytes.empty() && a.bytes == b.bytes);
}

std::string targetOr(StringRef name, const Target &target) {
  return (name.empty() ? target.getTargetArchString() : name).cloneAsString();
}

} // namespace

CodeletFileType getCodeletFileType(const char *path) {
  const std::string extension = std::filesystem::path(path).extension();
  for (const FileTypeRow &row : fileTypes) {
    if (extension == row.extension) {
      return row.type;
    }
  }
  if (extension == ".cc" || extension == ".cxx" || extension == ".C") {
    return CodeletFileType::CppSource;
  }
  throw poplar_error(fmt::format("[poplar::getCodeletFileType] '{}' has the "
                                 "extension '{}'; allowed: .cpp, "
                                 ".c, .S, .s, .ll and .gp",
                                 path, extension));
}

std::string getExtensionFromFileType(CodeletFileType type) {
  return rowOf(type).extension;
}

std::string getLanguageOption(CodeletFileType type) {
  return rowOf(type).language;
}

bool internal::addCodeletFile(Graph &graph,
                              std::shared_ptr<const CodeletFile> file) {
  VertexTable &table = graphData(graph).vertices;
  if (std::any_of(
          table.codelets.begin(), table.codelets.end(),
          [&](const auto &known) { return isSameFile(*known, *file); })) {
    return false;
  }
  for (const VertexType &type : file->types) {
    const auto id = static_cast<std::uint32_t>(table.types.size());
    if (table.typeIds.try_emplace(normaliseVertexName(type.name), id).second) {
      table.types.push_back(&type);
    } else {
      logger.warn("vertex type {} of {} is already known; the first one stays",
                  type.name, file->name);
    }
  }
  table.codelets.push_back(std::move(file));
  return true;
}

bool Graph::addCodelets(StringRef source, CodeletFileType type,
                        StringRef compileFlags, StringRef targetName) {
  const std::string path = source.cloneAsString();
  const CodeletFileType wanted =
      type == CodeletFileType::Auto ? getCodeletFileType(path.c_str()) : type;
  if (wanted == CodeletFileType::Object) {
    return internal::addCodeletFile(*this, codelets::loadFile(path));
  }
  if (type == CodeletFileType::Auto ||
      std::filesystem::path(path).extension() == rowOf(type).extension) {
    return addCodelets({path}, compileFlags, targetName);
  }
  // Another language than the name says: what it includes is beside it.
  const auto folder = std::filesystem::absolute(path).parent_path();
  std::stringstream text(readFile(path));
  return addCodelets(
      text,
      fmt::format("{} -I{}", compileFlags.cloneAsString(), folder.string()),
      type, targetName);
}

bool Graph::addCodelets(ArrayRef<std::string> files, StringRef compileFlags,
                        StringRef targetName) {
  return internal::addCodeletFile(
      *this, codelets::compileFiles(files.cloneAsVector(),
                                    compileFlags.cloneAsString(),
                                    targetOr(targetName, target_), std::cerr));
}

bool Graph::addCodelets(std::stringstream &source, StringRef compileFlags,
                        CodeletFileType type, StringRef targetName) {
  return addCodelets(source, compileFlags, std::cerr, type, targetName);
}

bool Graph::addCodelets(std::stringstream &source, StringRef compileFlags,
                        std::ostream &compileOutput, CodeletFileType type,
                        StringRef targetName) {
  return internal::addCodeletFile(
      *this,
      codelets::compileSource(source.str(), rowOf(type).extension,
                              compileFlags.cloneAsString(),
                              targetOr(targetName, target_), compileOutput));
}

bool Graph::hasCodelet(StringRef vertexName) const {
  return data_->vertices.typeIds.count(
             internal::normaliseVertexName(vertexName)) > 0;
}

} // namespace poplar
