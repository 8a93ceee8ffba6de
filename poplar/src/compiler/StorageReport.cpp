#include "compiler/StorageReport.hpp"

#include "compiler/Analysis.hpp"
#include "compiler/Rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace poplar::compiler {
namespace {

using Block = StorageAssignment::Block;

// The first position where blocks are the most bytes.
struct Peak {
  std::uint32_t position = 0;
  std::size_t bytes = 0;
};

Peak findPeak(const StorageAssignment &storage) {
  std::map<std::uint32_t, std::ptrdiff_t> changes; // by position
  for (const Block &block : storage.blocks) {
    changes[block.begin] += static_cast<std::ptrdiff_t>(block.bytes);
    changes[block.end + 1] -= static_cast<std::ptrdiff_t>(block.bytes);
  }
  Peak peak;
  std::size_t bytes = 0;
  for (const auto &[position, change] : changes) {
    bytes += static_cast<std::size_t>(change);
    if (bytes > peak.bytes) {
      peak = {position, bytes};
    }
  }
  return peak;
}

class Reporter {
public:
  Reporter(ValueProgram &program, const StorageAssignment &storage)
      : program_(program), storage_(storage) {
    const Analysis analysis(program);
    forEachNode(program.body, [&](const Node &node) {
      nodes_[analysis.placeOf(node).position] = &node;
    });
  }

  std::string run(const std::string &title) {
    const Peak peak = findPeak(storage_);
    text_ = fmt::format("{}: {} B of arena, of which at most {} B are in use "
                        "at once, at {}\n",
                        title, storage_.arenaBytes, peak.bytes,
                        nameAt(peak.position));
    addBlocks(peak.position);
    addVariables();
    return std::move(text_);
  }

private:
  std::string nameAt(std::uint32_t position) const {
    const auto found = nodes_.find(position);
    if (found == nodes_.end()) {
      return fmt::format("{}, the end of a loop", position);
    }
    const Node &node = *found->second;
    return fmt::format("{} {} {}", position,
                       node.kind == nullptr ? "" : node.kind->name, node.name);
  }

  void addBlocks(std::uint32_t position) {
    std::vector<Block> alive;
    for (const Block &block : storage_.blocks) {
      if (block.begin <= position && position <= block.end) {
        alive.push_back(block);
      }
    }
    std::stable_sort(
        alive.begin(), alive.end(),
        [](const Block &a, const Block &b) { return a.bytes > b.bytes; });
    text_ += fmt::format("{:>12}  {:<30}  {}\n", "bytes", "what",
                         "from where to where");
    for (const Block &block : alive) {
      text_ += fmt::format("{:>12}  {:<30}  {} -> {}\n", block.bytes,
                           block.scratchOf != nullptr ? "scratch"
                                                      : describe(block.value),
                           nameAt(block.begin), nameAt(block.end));
    }
    text_ += fmt::format("{:>12}  {:<30}  {}\n", storage_.workspaceBytes,
                         "workspace", "of every worker");
  }

  void addVariables() {
    std::vector<ValueId> entries;
    for (const Binding &binding : program_.bindings) {
      entries.push_back(binding.entry);
    }
    std::stable_sort(entries.begin(), entries.end(), [&](ValueId a, ValueId b) {
      return bytesOf(a) > bytesOf(b);
    });
    text_ += fmt::format("{:>12}  {}\n", "bytes", "variable");
    for (ValueId entry : entries) {
      text_ += fmt::format("{:>12}  {}\n", bytesOf(entry), describe(entry));
    }
  }

  std::size_t bytesOf(ValueId id) const {
    const Value &value = program_[id];
    return static_cast<std::size_t>(
               kernels::storageElements(value.layout, value.shape)) *
           support::sizeOf(value.type);
  }

  std::string describe(ValueId id) const {
    const Value &value = program_[id];
    return fmt::format(
        "{}{}{} {}", support::toString(value.type),
        support::toString(value.shape),
        value.layout == kernels::Layout::Plain
            ? ""
            : fmt::format(" layout {}", static_cast<int>(value.layout)),
        value.name);
  }

  const ValueProgram &program_;
  const StorageAssignment &storage_;
  std::map<std::uint32_t, const Node *> nodes_; // by position
  std::string text_;
};

} // namespace

std::size_t liveBytes(const StorageAssignment &storage) {
  return findPeak(storage).bytes;
}

std::string storageReport(ValueProgram &program,
                          const StorageAssignment &storage,
                          const std::string &title) {
  return Reporter(program, storage).run(title);
}

} // namespace poplar::compiler
