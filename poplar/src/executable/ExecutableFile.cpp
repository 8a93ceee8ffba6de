// Executables in streams: a header, sections and a checksum, as
// docs/executables.md describes them.
#include <poplar/Executable.hpp>

#include "compiler/CheckPrograms.hpp"
#include "executable/CheckReading.hpp"
#include "executable/Programs.hpp"
#include "executable/VisitVertices.hpp"

#include <support/Sha256.hpp>

#include <algorithm>
#include <istream>
#include <ostream>

namespace poplar {
namespace executable {
namespace {

using Bytes = std::vector<std::byte>;
using Reading = ExecutableImpl::Reading;
using Options = std::map<std::string, std::string>;
using support::requireUser;
using support::Sha256;

// No text starts like this, and who converts line ends breaks it.
constexpr char magic[8] = {'\x89', 'A', 'S', 'P', 'E', 'N', '\r', '\n'};

// Raised by every change of what is stored, how it is stored, or what it means:
// a field, a kind's attributes, the order of an enumeration.
constexpr std::uint32_t formatVersion = 4;

constexpr std::size_t longestHash = 64;

template <typename Archive>
void visit(Archive &archive, Is<Reading> auto &reading) {
  auto &[graph, programs] = reading;
  // Not stored, because they serve to build a graph: its number in a process,
  // what finishGraph() uses, what libraries keep with it.
  auto &[id, target, replicationFactor, variables, computeSets, vertices,
         fieldConstants, perfEstimators, streams, remoteBuffers, functions,
         hostWrites, hostReads, libraryData] = graph;
  archive.section("target", [&] { archive(target, replicationFactor); });
  archive.section("variables", [&] { archive(variables); });
  archive.section("vertices", [&] { archive(vertices); });
  archive.section("compute sets", [&] { archive(computeSets); });
  archive.section(
      "host", [&] { archive(streams, remoteBuffers, hostWrites, hostReads); });
  archive.section("programs",
                  [&] { visitPrograms(archive, functions, programs); });
}

// Returns `isLinked`: whether there are two readings, or `values` is both.
template <typename Archive, typename Readings>
bool visitBody(Archive &archive, Is<Options> auto &options, Readings &values,
               Readings &machine, bool isLinked) {
  archive.section("options", [&] { archive(options, isLinked); });
  archive.section("values", [&] { visit(archive, values); });
  if (isLinked) {
    archive.section("machine", [&] { visit(archive, machine); });
  }
  return isLinked;
}

Bytes write(const ExecutableImpl &executable) {
  const Options options(executable.options().begin(),
                        executable.options().end());
  const Reading &values = executable.values();
  const Reading &machine = executable.machine();
  Writer writer;
  writer.raw(magic, sizeof magic);
  writer(formatVersion, packageHash().cloneAsString());
  writer.sized([&] {
    visitBody(writer, options, values, machine, &values != &machine);
  });
  Bytes &bytes = writer.bytes();
  const Sha256::Digest digest = Sha256::of(bytes);
  bytes.insert(bytes.end(), digest.begin(), digest.end());
  return std::move(bytes);
}

std::shared_ptr<const ExecutableImpl>
readBody(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Options options;
  const auto values = std::make_shared<Reading>();
  auto machine = std::make_shared<Reading>();
  if (visitBody(reader, options, *values, *machine, true)) {
    requireIntact(values->programs.size() == machine->programs.size(),
                  "{} programs are linked with {}", values->programs.size(),
                  machine->programs.size());
    checkReading(*machine);
  } else {
    machine = values;
  }
  requireIntact(reader.isAtEnd(), "more follows its last section");
  checkReading(*values);
  compiler::checkTileMapping(machine->graph, machine->programs);
  OptionFlags flags;
  for (const auto &[name, value] : options) {
    flags.set(name, value);
  }
  return std::make_shared<const ExecutableImpl>(values, machine,
                                                std::move(flags));
}

// Takes an executable's bytes from a stream that may go on after it.
class StreamReader {
public:
  explicit StreamReader(std::istream &stream) : stream_(stream) {}

  // The body, after everything around it was found right.
  std::span<const std::byte> read(bool isHashChecked) {
    requireUser<poplar_error>(
        std::ranges::equal(take(sizeof magic), std::as_bytes(std::span(magic))),
        "[Executable::deserialize] the stream does not hold an executable; "
        "write one with Executable::serialize");
    const auto version = number<std::uint32_t>();
    requireUser<poplar_error>(
        version == formatVersion,
        "[Executable::deserialize] the executable has format version {}; this "
        "library reads version {}: compile the graph again",
        version, formatVersion);
    const auto hashSize = number<std::uint64_t>();
    requireIntact(hashSize <= longestHash, "its package hash has {} bytes",
                  hashSize);
    const std::span<const std::byte> hashBytes = take(hashSize);
    const std::string hash(reinterpret_cast<const char *>(hashBytes.data()),
                           hashBytes.size());
    const auto size = number<std::uint64_t>();
    take(size);
    const std::size_t end = bytes_.size();
    const Sha256::Digest digest = Sha256::of(bytes_);
    requireIntact(std::ranges::equal(take(digest.size()), digest),
                  "its checksum is wrong");
    const std::string expected = packageHash().cloneAsString();
    requireUser<poplar_error>(
        !isHashChecked || hash == expected,
        "[Executable::deserialize] the executable was written by package {}; "
        "this is {}: compile the graph again, or read it without checking the "
        "package hash",
        hash, expected);
    return std::span(bytes_).first(end).last(size);
  }

private:
  // The next bytes, good until the next call.
  std::span<const std::byte> take(std::uint64_t size) {
    // In steps, so that memory is only taken for what is there.
    constexpr std::uint64_t step = 16 << 20;
    const std::size_t start = bytes_.size();
    for (std::uint64_t done = 0; done < size;) {
      const auto count = static_cast<std::size_t>(std::min(step, size - done));
      const std::size_t at = bytes_.size();
      bytes_.resize(at + count);
      stream_.read(reinterpret_cast<char *>(bytes_.data() + at),
                   static_cast<std::streamsize>(count));
      const auto found = static_cast<std::size_t>(stream_.gcount());
      requireUser<poplar_error>(
          found == count,
          "[Executable::deserialize] the stream {} of an executable; compile "
          "the graph again",
          at + found == 0
              ? std::string("is empty or cannot be read: it has no byte")
              : fmt::format("ends after {} bytes", at + found));
      done += count;
    }
    return std::span(bytes_).subspan(start);
  }

  template <typename T> T number() {
    T value;
    Reader(take(sizeof value))(value);
    return value;
  }

  std::istream &stream_;
  Bytes bytes_;
};

} // namespace
} // namespace executable

void Executable::serialize(std::ostream &stream) const {
  support::requireUser<poplar_error>(
      impl_ != nullptr, "[Executable::serialize] the executable is empty; make "
                        "one with compileGraph");
  const executable::Bytes bytes = executable::write(*impl_);
  try {
    stream.write(reinterpret_cast<const char *>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    // A full disk may only be found now.
    stream.flush();
  } catch (const std::ios_base::failure &) {
    // What is wrong is also in the stream's state.
  }
  support::requireUser<poplar_error>(
      stream.good(),
      "[Executable::serialize] {} bytes could not be written; is the file open "
      "and the disk not full?",
      bytes.size());
}

Executable Executable::deserialize(std::istream &stream,
                                   bool checkPackageHash) {
  executable::StreamReader reader(stream);
  try {
    return Executable(executable::readBody(reader.read(checkPackageHash)));
  } catch (const poplar_error &) {
    throw;
  } catch (const std::exception &error) {
    // The stream's own exceptions, and those of code that meets attributes
    // which no library of ours would write.
    throw poplar_error(fmt::format(
        "[Executable::deserialize] {}; compile the graph again", error.what()));
  }
}

Executable Executable::deserialize(std::unique_ptr<std::istream> stream,
                                   bool checkPackageHash) {
  support::requireUser<poplar_error>(
      stream != nullptr, "[Executable::deserialize] there is no stream");
  return deserialize(*stream, checkPackageHash);
}

} // namespace poplar
