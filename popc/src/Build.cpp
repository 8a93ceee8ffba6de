#include "Build.hpp"

#include "Cache.hpp"
#include "Compiler.hpp"
#include "Files.hpp"
#include "Reflection.hpp"
#include "Registration.hpp"

#include <poplar/internal/CodeletFormat.hpp>
#include <poplar/popc/Table.hpp>
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

// Everything that the code depends on.
std::string keyOf(const Options &options, const Compiler &compiler,
                  const std::vector<Source> &sources,
                  const std::vector<std::string> &texts) {
  support::Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.add(fmt::format("{}:", text.size()));
    hash.add(text);
  };
  add(fmt::format("{} {} {}", ASPEN_VERSION, poplar::internal::codeletVersion,
                  poplar::popc::tableVersion));
  add(poplar::internal::hostMachine());
  add(compiler.identity());
  for (const auto *list : {&options.compilerFlags, &options.targets}) {
    add(std::to_string(list->size()));
    std::ranges::for_each(*list, add);
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    add(sources[i].isC ? "c" : "c++");
    add(texts[i]);
  }
  return support::toHex(hash.digest());
}

// Writes the sources with what describes their vertices into the folder. Gives
// the number of tables to `tables`.
std::vector<fs::path> addRegistrations(const Compiler &compiler,
                                       const std::vector<Source> &sources,
                                       const std::vector<std::string> &texts,
                                       const fs::path &folder,
                                       std::uint32_t &tables) {
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::string code = texts[i];
    if (!sources[i].isC) {
      const Reflection found = reflect(code, compiler.reflectionFlags());
      if (!found.classes.empty()) {
        code += registrationCode(found.classes, found.callsPrintf, tables++);
      }
    }
    files.push_back(folder /
                    fmt::format("{}{}", i, sources[i].isC ? ".i" : ".ii"));
    if (!writeFile(files.back(), code)) {
      throw UsageError(fmt::format("cannot write {}; is the disk full?",
                                   files.back().string()));
    }
  }
  return files;
}

CodeletUnit compile(const Compiler &compiler,
                    const std::vector<Source> &sources,
                    const std::vector<std::string> &texts) {
  CodeletUnit unit;
  unit.machine = poplar::internal::hostMachine();
  for (const Source &source : sources) {
    unit.messages += compiler.check(source);
  }
  const TemporaryFolder folder;
  const auto files =
      addRegistrations(compiler, sources, texts, folder.path(), unit.tables);
  const fs::path library = folder.path() / "codelets.so";
  compiler.link(files, library);
  unit.code = readFile(library).value_or("");
  return unit;
}

CodeletUnit compileOrFind(const Options &options,
                          const std::vector<Source> &sources) {
  const Compiler compiler(options);
  std::vector<std::string> texts;
  for (const Source &source : sources) {
    texts.push_back(compiler.preprocess(source));
  }
  const Cache cache;
  const std::string key = keyOf(options, compiler, sources, texts);
  if (auto known = cache.find(key)) {
    return std::move(*known);
  }
  CodeletUnit unit = compile(compiler, sources, texts);
  cache.add(key, unit);
  return unit;
}

void writeOutput(const std::string &path, const std::string &bytes) {
  const bool isWritten =
      path == "-"
          ? bool(std::cout.write(bytes.data(), std::ssize(bytes)).flush())
          : writeFile(path, bytes);
  if (!isWritten) {
    throw UsageError(fmt::format("cannot write {}", path));
  }
}

// The assembly of each source, one after the other.
std::string assemble(const Options &options,
                     const std::vector<Source> &sources) {
  const Compiler compiler(options);
  std::vector<std::string> texts;
  for (const Source &source : sources) {
    texts.push_back(compiler.preprocess(source));
    std::cerr << compiler.check(source);
  }
  const TemporaryFolder folder;
  std::uint32_t tables = 0;
  std::string assembly;
  for (const fs::path &file :
       addRegistrations(compiler, sources, texts, folder.path(), tables)) {
    const fs::path output = folder.path() / "codelets.s";
    compiler.assemble(file, output);
    assembly += readFile(output).value_or("");
  }
  return assembly;
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
