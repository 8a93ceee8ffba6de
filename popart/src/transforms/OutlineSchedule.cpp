// The schedule's tables: made once, so that looking at a stretch costs no
// search for tensors.
#include <transforms/OutlineSchedule.hpp>

#include <ops/Custom.hpp>
#include <transforms/OpSignatures.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

namespace popart {
namespace {

constexpr std::size_t forever = std::numeric_limits<std::size_t>::max();

// There is no function for what several programs share, nor for what has
// effects, or memory on the host, of its own.
bool mayOutline(const Op &op, bool isPipelined) {
  const std::string &type = op.opid.type;
  bool isBetweenPrograms = type == "Stash" || type == "Restore" ||
                           type == "SumOfCopies" ||
                           (type == "IpuCopy" && isPipelined);
  bool isRemote = type == "RemoteLoad" || type == "RemoteStore";
  return op.isOutlineable() && !op.hasSideEffect() &&
         op.getCalledGraphs().empty() &&
         (op.opid.domain != "aspen" || !(isBetweenPrograms || isRemote));
}

// Products, convolutions, norms and what else takes much code: recurrent
// cells, softmax, pooling, look-ups by index, sorting. Gradients too.
bool isHeavy(const std::string &type) {
  constexpr std::array<std::string_view, 16> parts = {
      "Conv",   "MatMul",  "Gemm", "Norm", "LSTM", "GRU", "RNN",    "Softmax",
      "Gather", "Scatter", "TopK", "Sort", "Pool", "LRN", "Resize", "Ctc"};
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return type.find(part) != std::string::npos;
  });
}

double valueOf(const Op &op) {
  bool isCustom = &op.rule() == &customOpRule();
  return double{!isCustom && isHeavy(op.opid.type) ? Op::getHighSubgraphValue()
                                                   : op.getSubgraphValue()};
}

bool isOtherProgram(const Op &a, const Op &b) {
  return a.settings.pipelineStage != b.settings.pipelineStage ||
         a.settings.executionContext != b.settings.executionContext;
}

bool isElsewhere(const Op &a, const Op &b) {
  return a.settings.vgraphId != b.settings.vgraphId ||
         a.settings.executionPhase != b.settings.executionPhase;
}

// Whether a reader changes the tensor in place, so that it is gone afterwards.
bool isReplaced(const Tensor &tensor) {
  for (const Op *reader : tensor.consumers) {
    for (std::size_t i = 0; i < reader->outputs.size(); ++i) {
      InIndex modified = reader->modifiedInput(static_cast<OutIndex>(i));
      if (modified >= 0 &&
          reader->inputs[static_cast<std::size_t>(modified)] == tensor.id) {
        return true;
      }
    }
  }
  return false;
}

} // namespace

OutlineSchedule::OutlineSchedule(const Ir &ir, const Graph &graph)
    : options_(ir.sessionOptions) {
  OpSignatures signatures;
  std::unordered_map<const Op *, std::size_t> positions;
  for (const auto &op : graph.getOps()) {
    if (!entries_.empty() && entries_.back().op &&
        isOtherProgram(*entries_.back().op, *op)) {
      addEntry(nullptr, signatures.none());
    }
    positions[op.get()] = entries_.size();
    addEntry(op.get(), mayOutline(*op, options_.enablePipelining)
                           ? signatures.of(*op)
                           : signatures.none());
  }
  std::map<TensorId, int> tensors;
  std::unordered_map<int, std::size_t> lastReads; // by tensor
  std::size_t reads = 0;
  for (auto &[op, sources, lastUses] : entries_) {
    for (std::size_t i = 0; op && i < op->inputs.size(); ++i) {
      Source &source = sources.emplace_back();
      source.id = op->inputs[i];
      if (!source.id.empty()) {
        const Tensor &tensor = graph.getTensor(source.id);
        auto count = static_cast<int>(tensors.size());
        source.tensor = tensors.emplace(source.id, count).first->second;
        source.isConstant = tensor.type == TensorType::Const;
        source.isProduced = tensor.producer != nullptr;
        if (source.isProduced) {
          const std::vector<TensorId> &outputs = tensor.producer->outputs;
          source.producer = positions.at(tensor.producer);
          source.output = static_cast<std::size_t>(
              std::find(outputs.begin(), outputs.end(), source.id) -
              outputs.begin());
        }
        auto [last, isFirst] = lastReads.emplace(source.tensor, reads);
        source.sinceRead = isFirst ? forever : reads - last->second;
        last->second = reads;
      }
      ++reads;
    }
    for (std::size_t i = 0; op && i < op->outputs.size(); ++i) {
      const Tensor &tensor = graph.getTensor(op->outputs[i]);
      bool isVersion = op->modifiedInput(static_cast<OutIndex>(i)) >= 0;
      bool isKept = ir.dataFlow.isAnchored(tensor.id) ||
                    (isVersion && !isReplaced(tensor));
      std::size_t lastUse = isKept ? forever : 0;
      for (const Op *reader : tensor.consumers) {
        lastUse = std::max(lastUse, positions.at(reader));
      }
      lastUses.push_back(lastUse);
    }
  }
}

void OutlineSchedule::addEntry(Op *op, int number) {
  const Op *previous = entries_.empty() ? nullptr : entries_.back().op;
  bool isChange = op && previous && isElsewhere(*previous, *op);
  changes_.push_back(changes_.back() + (isChange ? 1 : 0));
  values_.push_back(values_.back() + (op ? valueOf(*op) : 0));
  entries_.push_back({op, {}, {}});
  numbers_.push_back(number);
}

std::vector<Op *> OutlineSchedule::ops(std::size_t begin,
                                       std::size_t length) const {
  std::vector<Op *> ops;
  for (std::size_t i = begin; i < begin + length; ++i) {
    ops.push_back(entries_[i].op);
  }
  return ops;
}

double OutlineSchedule::worth(std::size_t begin, std::size_t length) const {
  double value = values_[begin + length] - values_[begin];
  int changes = changes_[begin + length] - changes_[begin + 1];
  return value - changes * double{options_.outlineSequenceBreakCost};
}

std::size_t OutlineSchedule::lengthInPlace(std::size_t begin,
                                           std::size_t length) const {
  std::size_t end = begin + 1;
  while (end < begin + length && changes_[end + 1] == changes_[begin + 1]) {
    ++end;
  }
  return end - begin;
}

template <typename F>
void OutlineSchedule::forEachInput(std::size_t begin, std::size_t length,
                                   F visit) const {
  std::unordered_map<int, int> outside;
  for (std::size_t i = begin; i < begin + length; ++i) {
    for (const Source &source : entries_[i].sources) {
      bool isInside = source.isProduced && source.producer >= begin;
      int number = -1;
      if (!isInside && !source.isConstant && source.tensor >= 0) {
        number =
            outside.emplace(source.tensor, static_cast<int>(outside.size()))
                .first->second;
      }
      visit(source, isInside, number);
    }
  }
}

// Inputs from inside have the same producers, counted back from their readers;
// one from outside was last read as many inputs ago, if that was inside.
bool OutlineSchedule::areAlike(std::size_t a, std::size_t b,
                               std::size_t length) const {
  std::size_t reads = 0; // since the beginning
  for (std::size_t i = 0; i < length; ++i) {
    const Entry &first = entries_[a + i];
    const Entry &second = entries_[b + i];
    if (first.sources.size() != second.sources.size()) {
      return false;
    }
    for (std::size_t s = 0; s < first.sources.size(); ++s, ++reads) {
      if (linkOf(first, s, a, i, reads) != linkOf(second, s, b, i, reads)) {
        return false;
      }
    }
  }
  return true;
}

OutlineSchedule::Link OutlineSchedule::linkOf(const Entry &entry,
                                              std::size_t input,
                                              std::size_t begin,
                                              std::size_t offset,
                                              std::size_t reads) const {
  const Source &source = entry.sources[input];
  if (source.isProduced && source.producer >= begin) {
    return {Link::Inside, begin + offset - source.producer, source.output};
  }
  if (source.isConstant || source.tensor < 0) {
    return {Link::None, 0, 0};
  }
  return {Link::Outside, source.sinceRead <= reads ? source.sinceRead : 0, 0};
}

std::vector<int> OutlineSchedule::connections(std::size_t begin,
                                              std::size_t length) const {
  // An inner tensor is its producer and its place among the outputs, which
  // makes two numbers below those of tensors from outside.
  std::vector<int> result;
  forEachInput(
      begin, length, [&](const Source &source, bool isInside, int number) {
        if (!isInside) {
          result.push_back(number);
          return;
        }
        result.push_back(-2 - static_cast<int>(source.producer - begin));
        result.push_back(static_cast<int>(source.output));
      });
  return result;
}

std::vector<TensorId> OutlineSchedule::inputs(std::size_t begin,
                                              std::size_t length) const {
  std::vector<TensorId> ids;
  forEachInput(begin, length, [&](const Source &source, bool, int number) {
    if (number == static_cast<int>(ids.size())) {
      ids.push_back(source.id);
    }
  });
  return ids;
}

std::vector<std::pair<std::size_t, OutIndex>>
OutlineSchedule::outputs(std::size_t begin, std::size_t length) const {
  std::vector<std::pair<std::size_t, OutIndex>> result;
  for (std::size_t i = 0; i < length; ++i) {
    const std::vector<std::size_t> &lastUses = entries_[begin + i].lastUses;
    for (std::size_t j = 0; j < lastUses.size(); ++j) {
      if (lastUses[j] >= begin + length) {
        result.emplace_back(i, static_cast<OutIndex>(j));
      }
    }
  }
  return result;
}

} // namespace popart
