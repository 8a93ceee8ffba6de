#include "Build.hpp"

#include "Cache.hpp"
#include "Compiler.hpp"
#include "Files.hpp"
#include "Reflection.hpp"
#include "Registration.hpp"

#include <poplar/internal/CodeletFormat.hpp>
#include <support/Sha256.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <iterator>

namespace popc {

namespace fs = std::filesystem;

namespace {

using poplar::internal::CodeletUnit;

struct Inputs {
  std::vector<Source> sources;
  std::vector<CodeletUnit> linked; // of .gp files
};

Source openSource(const std::string &path, const std::string &language) {
  Source source;
  source.path = path;
  source.isC =
      language.empty() ? fs::path(path).extension() == ".c" : language == "c";
  if (path == "-") {
    source.text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (!readFile(path)) {
    throw UsageError(fmt::format("cannot read {}", path));
  }
  return source;
}

Inputs openInputs(const Options &options) {
  Inputs inputs;
  for (const std::string &path : options.inputs) {
    const std::string extension = fs::path(path).extension();
    if (extension == ".gp") {
      const auto bytes = readFile(path);
      if (!bytes) {
        throw UsageError(fmt::format("cannot read {}", path));
      }
      try {
        std::ranges::move(poplar::internal::decodeCodelets(*bytes),
                          std::back_inserter(inputs.linked));
      } catch (const poplar::internal::CodeletFormatError &error) {
        throw UsageError(fmt::format("cannot use {}: {}", path, error.what()));
      }
    } else if (extension == ".S" || extension == ".s") {
      throw UsageError(fmt::format(
          "cannot compile {}: there is no assembler for IPUs", path));
    } else {
      inputs.sources.push_back(openSource(path, options.language));
    }
  }
  return inputs;
}

// A source between two steps.
struct Preprocessed {
  bool isC = false;
  std::string text;
};

// Everything that the code depends on.
std::string keyOf(const Options &options, const Compiler &compiler,
                  const std::vector<Preprocessed> &sources) {
  support::Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.add(fmt::format("{}:", text.size()));
    hash.add(text);
  };
  add(poplar::internal::hostMachine());
  add(compiler.identity());
  for (const auto *list : {&options.compilerFlags, &options.targets}) {
    add(std::to_string(list->size()));
    std::ranges::for_each(*list, add);
  }
  for (const Preprocessed &source : sources) {
    add(source.isC ? "c" : "c++");
    add(source.text);
  }
  return support::toHex(hash.digest());
}

// Adds what describes their vertices to the sources, and returns the number of
// tables. If one source prints, all do: they call each other.
std::uint32_t addRegistrations(const Compiler &compiler,
                               std::vector<Preprocessed> &sources) {
  std::vector<Reflection> found;
  for (const Preprocessed &source : sources) {
    found.push_back(reflect(source.text, compiler.reflectionFlags(source.isC)));
  }
  const bool isPrinting = std::ranges::any_of(found, &Reflection::callsPrintf);
  std::uint32_t tables = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!found[i].classes.empty()) {
      sources[i].text +=
          registrationCode(found[i].classes, isPrinting, tables++);
    }
  }
  return tables;
}

// Compiles each source into a file of its own in the folder.
std::vector<fs::path> compileEach(const Compiler &compiler,
                                  const std::vector<Preprocessed> &sources,
                                  Compiler::CodeKind kind,
                                  const fs::path &folder) {
  std::vector<fs::path> files;
  for (const Preprocessed &source : sources) {
    const std::string name = std::to_string(files.size());
    const fs::path text = folder / (name + ".ii");
    if (!writeFile(text, source.text)) {
      throw UsageError(
          fmt::format("cannot write {}; is the disk full?", text.string()));
    }
    files.push_back(folder / (name + ".o"));
    compiler.compile(text, source.isC, kind, files.back());
  }
  return files;
}

CodeletUnit compile(const Compiler &compiler,
                    const std::vector<Source> &sources,
                    std::vector<Preprocessed> texts) {
  CodeletUnit unit;
  unit.machine = poplar::internal::hostMachine();
  for (const Source &source : sources) {
    unit.messages += compiler.check(source);
  }
  unit.tables = addRegistrations(compiler, texts);
  const TemporaryFolder folder;
  const fs::path library = folder.path() / "codelets.so";
  compiler.link(
      compileEach(compiler, texts, Compiler::CodeKind::Object, folder.path()),
      library);
  unit.code = readFile(library).value_or("");
  return unit;
}

std::vector<Preprocessed> preprocess(const Compiler &compiler,
                                     const std::vector<Source> &sources) {
  std::vector<Preprocessed> texts;
  for (const Source &source : sources) {
    texts.push_back({source.isC, compiler.preprocess(source)});
  }
  return texts;
}

CodeletUnit compileOrFind(const Options &options,
                          const std::vector<Source> &sources) {
  const Compiler compiler(options);
  std::vector<Preprocessed> texts = preprocess(compiler, sources);
  const Cache cache;
  const std::string key = keyOf(options, compiler, texts);
  if (auto known = cache.find(key)) {
    return std::move(*known);
  }
  CodeletUnit unit = compile(compiler, sources, std::move(texts));
  cache.add(key, unit);
  return unit;
}

// The assembly of each source, one after the other.
std::string assemble(const Options &options,
                     const std::vector<Source> &sources) {
  const Compiler compiler(options);
  std::vector<Preprocessed> texts = preprocess(compiler, sources);
  for (const Source &source : sources) {
    std::cerr << compiler.check(source);
  }
  addRegistrations(compiler, texts);
  const TemporaryFolder folder;
  std::string assembly;
  for (const fs::path &file : compileEach(
           compiler, texts, Compiler::CodeKind::Assembly, folder.path())) {
    assembly += readFile(file).value_or("");
  }
  return assembly;
}

void writeOutput(const std::string &path, const std::string &bytes) {
  bool isWritten = false;
  if (path == "-") {
    std::cout.write(bytes.data(), std::ssize(bytes)).flush();
    isWritten = !std::cout.fail();
  } else {
    isWritten = writeFile(path, bytes);
  }
  if (!isWritten) {
    throw UsageError(fmt::format("cannot write {}", path));
  }
}

} // namespace

void build(const Options &options) {
  const Inputs inputs = openInputs(options);
  if (options.writesAssembly) {
    writeOutput(options.output, assemble(options, inputs.sources));
    return;
  }
  std::vector<CodeletUnit> units = inputs.linked;
  if (!inputs.sources.empty()) {
    units.push_back(compileOrFind(options, inputs.sources));
    std::cerr << units.back().messages;
  }
  writeOutput(options.output, poplar::internal::encodeCodelets(units));
}

} // namespace popc
