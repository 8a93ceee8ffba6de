// Operations as boxes and tensors as ellipses.
#include <ir/Dot.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace popart {
namespace {

std::string upperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

bool isWanted(const SessionOptions &options, const std::string &check) {
  auto matches = [&](const std::string &name) {
    return upperCase(name) == check || upperCase(name) == "ALL";
  };
  const char *list = std::getenv("POPART_DOT_CHECKS");
  std::istringstream names(list ? list : "");
  for (std::string name; std::getline(names, name, ':');) {
    if (matches(name)) {
      return true;
    }
  }
  return std::any_of(options.dotChecks.begin(), options.dotChecks.end(),
                     matches);
}

std::string inQuotes(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    result += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return result + "\"";
}

// Names of nodes start with that of their graph: drawings may share a file.
class Drawing {
public:
  Drawing(const Graph &graph, const SessionOptions &options)
      : graph_(graph), options_(options) {}

  std::string text() {
    int number = 0;
    for (const auto &op : graph_.getOps()) {
      if (options_.firstDotOp <= number && number < options_.finalDotOp) {
        draw(*op, number);
      }
      ++number;
    }
    return out_.str();
  }

private:
  std::string tensorNode(const TensorId &id) const {
    return inQuotes(graph_.id + "/" + id);
  }

  void drawTensor(const TensorId &id) {
    const TensorInfo &info = graph_.getTensor(id).info;
    out_ << fmt::format("  {} [shape=ellipse, label={}];\n", tensorNode(id),
                        inQuotes(fmt::format("{} {}{}", id, info.data_type(),
                                             support::toString(info.shape()))));
  }

  void draw(const Op &op, int number) {
    std::string node = inQuotes(fmt::format("{}/op {}", graph_.id, number));
    std::string label = fmt::format("{} {}", number, op.opid.type);
    if (options_.dotOpNames && !op.name().empty()) {
      label += " " + op.name();
    }
    out_ << fmt::format("  {} [shape=box, label={}];\n", node, inQuotes(label));
    for (const TensorId &id : op.inputs) {
      if (!id.empty()) {
        drawTensor(id);
        out_ << fmt::format("  {} -> {};\n", tensorNode(id), node);
      }
    }
    for (const TensorId &id : op.outputs) {
      drawTensor(id);
      out_ << fmt::format("  {} -> {};\n", node, tensorNode(id));
    }
  }

  const Graph &graph_;
  const SessionOptions &options_;
  std::ostringstream out_;
};

void collect(const Graph &graph, std::vector<const Graph *> &graphs) {
  graphs.push_back(&graph);
  for (const auto &op : graph.getOps()) {
    for (const Graph *called : op->getCalledGraphs()) {
      collect(*called, graphs);
    }
  }
}

void write(const std::filesystem::path &file, const std::string &text) {
  std::ofstream out(file);
  out << "digraph G {\n" << text << "}\n";
  support::requireUser<error>(bool(out), "[dotChecks] cannot write '{}'",
                              file.string());
}

} // namespace

void drawGraph(const Ir &ir, const Graph &graph, const std::string &check) {
  const SessionOptions &options = ir.sessionOptions;
  if (!isWanted(options, check)) {
    return;
  }
  std::filesystem::path folder = options.logDir;
  std::vector<const Graph *> graphs;
  collect(graph, graphs);
  std::string together;
  for (const Graph *one : graphs) {
    std::string text = Drawing(*one, options).text();
    if (one != &graph && options.separateCallOpPdfs) {
      write(folder / (check + "_" + one->id + ".dot"), text);
    } else {
      together += text;
    }
  }
  write(folder / (check + ".dot"), together);
}

} // namespace popart
