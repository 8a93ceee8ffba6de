// What a session compiled, in files: for loadExecutable and the engine cache.
#include <session/Implementation.hpp>
#include <session/WholeFile.hpp>

#include <ir/Print.hpp>
#include <support/Sha256.hpp>

#include <poplar/Target.hpp>

#include <filesystem>
#include <fstream>

namespace popart {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "PopART executable 1\n";

void addMap(support::Sha256 &hash, const char *name,
            const std::map<std::string, std::string> &values) {
  hash.add(name);
  for (const auto &[key, value] : values) {
    hash.add(key + "=" + value + ";");
  }
}

template <typename T> void write(std::ostream &out, T value) {
  out.write(reinterpret_cast<const char *>(&value), sizeof(value));
}

template <typename T> T read(std::istream &in) {
  T value = 0;
  in.read(reinterpret_cast<char *>(&value), sizeof(value));
  return value;
}

// Reads into the variable of that name; false for what is not there.
void readVariables(Session::Implementation &session, std::istream &in) {
  Graph &graph = session.ir->getMainGraph();
  auto count = read<std::uint64_t>(in);
  for (std::uint64_t i = 0; in && i < count; ++i) {
    std::string id(std::min<std::uint64_t>(read<std::uint32_t>(in), 1u << 16),
                   '\0');
    in.read(id.data(), static_cast<std::streamsize>(id.size()));
    auto size = read<std::uint64_t>(in);
    support::requireUser<error>(
        in && graph.hasTensor(id) && graph.getTensor(id).data.size() == size,
        "[loadExecutable] the file's variable '{}' is not one of the session",
        id);
    in.read(graph.getTensor(id).data.change(),
            static_cast<std::streamsize>(size));
  }
  support::requireUser<error>(bool(in), "[loadExecutable] the file is not "
                                        "whole");
}

void writeVariables(const Session::Implementation &session, std::ostream &out) {
  const Graph &graph = session.ir->getMainGraph();
  std::vector<const Tensor *> variables;
  for (const TensorId &id : graph.getTensorIds()) {
    if (graph.getTensor(id).type == TensorType::Variable) {
      variables.push_back(&graph.getTensor(id));
    }
  }
  write<std::uint64_t>(out, variables.size());
  for (const Tensor *tensor : variables) {
    write(out, static_cast<std::uint32_t>(tensor->id.size()));
    out << tensor->id;
    write<std::uint64_t>(out, tensor->data.size());
    out.write(tensor->data.data(),
              static_cast<std::streamsize>(tensor->data.size()));
  }
}

std::string fileIn(const std::string &path, const char *name) {
  return fs::is_directory(path) ? (fs::path(path) / name).string() : path;
}

// What a program depends on of a tensor beside its name, type and shape.
void addTensor(support::Sha256 &hash, const Tensor &tensor,
               bool areWeightsConstant) {
  if (tensor.replicatedStreamMode == ReplicatedStreamMode::Broadcast) {
    hash.add("broadcast " + tensor.id);
  }
  bool isFrozen = tensor.type == TensorType::Variable && areWeightsConstant &&
                  !isRandomSeed(tensor.id);
  if (tensor.type == TensorType::Const || isFrozen) {
    hash.add({tensor.data.data(), tensor.data.size()});
  }
}

// Options that the program depends on and its graphs do not show.
void addOptions(support::Sha256 &hash, const Ir &ir) {
  const SessionOptions &options = ir.sessionOptions;
  hash.add(fmt::format("{} {} {} {} {} {}", ir.dataFlow.batchesPerStep(),
                       options.getAccumulationFactor(),
                       options.enablePipelining, options.partialsTypeMatMuls,
                       options.getGlobalReplicationFactor(),
                       options.enableLoadAndOffloadRNGState));
  hash.add(fmt::format("{} {} {} {} {} {}", options.enablePrefetchDatastreams,
                       options.enableStochasticRounding,
                       options.enableFloatingPointChecks, options.numIOTiles,
                       options.defaultBufferingDepth,
                       options.rearrangeAnchorsOnHost));
  for (const auto &[id, depth] : options.bufferingDepthMap) {
    hash.add(fmt::format("{} {};", id, depth));
  }
  for (const std::string &file : options.customCodelets) {
    std::ifstream in(file, std::ios::binary);
    hash.add(std::string(std::istreambuf_iterator<char>(in), {}));
  }
  hash.add(options.customCodeletCompileFlags);
  addMap(hash, "engine", options.engineOptions);
  addMap(hash, "convolution", options.convolutionOptions);
  addMap(hash, "matmul", options.matmulOptions);
  addMap(hash, "lstm", options.lstmOptions);
}

} // namespace

std::string fingerprint(const Session::Implementation &session) {
  const Ir &ir = *session.ir;
  const DeviceInfo &device = *session.device;
  support::Sha256 hash;
  hash.add(printGraph(ir.getMainGraph()));
  hash.add(printGraph(session.machineGraph));
  hash.add(session.runsMachine ? "machine" : "value");
  addOptions(hash, ir);
  for (const auto &[id, type] : ir.dataFlow.getAnchorReturnTypeMap()) {
    hash.add(fmt::format("{} {} {} {} {};", id, type.str(), type.rp(),
                         int(type.tileSet()), int(type.exchangeStrategy())));
  }
  for (const auto &[id, settings] : ir.inputSettings) {
    hash.add(fmt::format("{} {} {};", id, int(settings.tileSet()),
                         int(settings.exchangeStrategy())));
  }
  // What is compiled without a device runs on one.
  const DeviceType type = device.getType() == DeviceType::OfflineIpu
                              ? DeviceType::Ipu
                              : device.getType();
  hash.add(fmt::format("{} {} {} {}", static_cast<int>(type),
                       device.getNumIpus(), device.getTilesPerIPU(),
                       device.getIpuVersion()));
  for (const Graph *graph : ir.getAllGraphs()) {
    for (const TensorId &id : graph->getTensorIds()) {
      addTensor(hash, graph->getTensor(id), session.areWeightsConstant());
    }
  }
  return support::toHex(hash.digest());
}

void writeExecutable(const Session::Implementation &session,
                     const std::string &fileName, bool hasVariables) {
  writeWholeFile(fileName, [&](std::ostream &out) {
    out << magic << fingerprint(session) << '\n';
    session.executable.serialize(out);
    write<std::uint8_t>(out, hasVariables);
    if (hasVariables) {
      writeVariables(session, out);
    }
  });
}

void readExecutable(Session::Implementation &session,
                    const std::string &fileName, bool takesVariables) {
  std::ifstream in(fileName, std::ios::binary);
  std::string line;
  std::getline(in, line);
  support::requireUser<error>(in && line + "\n" == magic,
                              "[loadExecutable] '{}' is not an executable that "
                              "saveExecutable wrote",
                              fileName);
  std::getline(in, line);
  support::requireUser<error>(
      line == fingerprint(session),
      "[loadExecutable] '{}' was compiled from another model, other options or "
      "for another device",
      fileName);
  try {
    session.executable = poplar::Executable::deserialize(in);
  } catch (const std::exception &e) {
    throw error(fmt::format("[loadExecutable] '{}': {}", fileName, e.what()));
  }
  bool hasVariables = read<std::uint8_t>(in) != 0;
  support::requireUser<error>(bool(in), "[loadExecutable] '{}' is not whole",
                              fileName);
  if (takesVariables && hasVariables) {
    readVariables(session, in);
  }
}

void Session::saveExecutable(const std::string &path, bool,
                             bool saveVariables) {
  implementation_->requireEngine("saveExecutable");
  writeExecutable(*implementation_, fileIn(path, "executable.popef"),
                  saveVariables);
}

void Session::saveVariables(const std::string &path) {
  writeWholeFile(fileIn(path, "variables.popef"), [&](std::ostream &out) {
    writeVariables(*implementation_, out);
  });
}

void Session::loadExecutable(const std::string &fileName) {
  readExecutable(*implementation_, fileIn(fileName, "executable.popef"),
                 /*takesVariables=*/true);
}

void Session::compileAndExport(const std::string &fileName) {
  if (!implementation_->engine) {
    prepareDevice(false);
  }
  saveExecutable(fileName);
}

} // namespace popart
