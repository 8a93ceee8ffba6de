// Sums of products by Einstein's notation: each operand is brought to the
// dimensions that are still needed, and products of two become matrix products.
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/List.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace popart {
namespace {

// A letter, or a dimension of "..." counted from the last one, less 1.
using Label = int;
using Labels = std::vector<Label>;

bool contains(const Labels &labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

struct Operand {
  TensorId id;
  Labels labels;
};

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

bool isLetter(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
}

// The dimensions that a term names; "..." stands for `others` of them.
Labels labelsOf(const Op &op, const std::string &term, int others) {
  Labels labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, "...") == 0) {
      for (int d = others; d-- > 0;) {
        labels.push_back(-1 - d);
      }
      i += 2;
      continue;
    }
    requireOp(op, isLetter(term[i]),
              "'{}' in the term '{}' is neither a letter nor '...'", term[i],
              term);
    labels.push_back(term[i]);
  }
  return labels;
}

std::vector<std::string> splitTerms(const std::string &text) {
  std::vector<std::string> terms(1);
  for (char c : text) {
    c == ',' ? terms.emplace_back() : terms.back() += c;
  }
  return terms;
}

// Without "->": the dimensions of "...", then letters that come once, sorted.
Labels impliedResult(const std::vector<Labels> &operands) {
  std::map<Label, int> counts;
  for (const Labels &labels : operands) {
    for (Label label : labels) {
      ++counts[label];
    }
  }
  Labels result;
  for (const auto &[label, count] : counts) {
    if (label < 0 || count == 1) {
      result.push_back(label);
    }
  }
  return result;
}

Equation parse(const Op &op) {
  std::string text = op.attributes.getString("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  std::size_t arrow = text.find("->");
  auto terms = splitTerms(text.substr(0, arrow));
  requireOp(op, terms.size() == op.inputs.size(),
            "equation '{}' has {} terms for {} inputs", text, terms.size(),
            op.inputs.size());
  Equation equation;
  int most = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    bool hasOthers = terms[i].find("...") != std::string::npos;
    auto named = static_cast<int>(terms[i].size()) - (hasOthers ? 3 : 0);
    int others =
        static_cast<int>(op.inShape(static_cast<InIndex>(i)).size()) - named;
    requireOp(op, hasOthers ? others >= 0 : others == 0,
              "the term '{}' does not fit input {} of shape {}", terms[i], i,
              support::toString(op.inShape(static_cast<InIndex>(i))));
    equation.operands.push_back(labelsOf(op, terms[i], others));
    most = std::max(most, others);
  }
  equation.result = arrow == std::string::npos
                        ? impliedResult(equation.operands)
                        : labelsOf(op, text.substr(arrow + 2), most);
  return equation;
}

class Contraction {
public:
  Contraction(Composer &composer, const Op &op)
      : composer_(composer), op_(op) {}

  TensorId run() {
    Equation equation = parse(op_);
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < equation.operands.size(); ++i) {
      operands.push_back({op_.inputs[i], equation.operands[i]});
      takeDiagonals(operands.back());
    }
    findSizes(operands, equation.result);
    Operand whole = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      std::set<Label> later(equation.result.begin(), equation.result.end());
      for (std::size_t j = i + 1; j < operands.size(); ++j) {
        later.insert(operands[j].labels.begin(), operands[j].labels.end());
      }
      whole = product(whole, operands[i], later);
    }
    sumOthers(whole, {equation.result.begin(), equation.result.end()});
    arrange(whole, equation.result);
    return composer_.expand(whole.id, shapeOf(equation.result));
  }

private:
  // A dimension of one element meets any size.
  void findSizes(const std::vector<Operand> &operands, const Labels &result) {
    for (const Operand &operand : operands) {
      const Shape &shape = composer_.shape(operand.id);
      for (std::size_t d = 0; d < shape.size(); ++d) {
        std::int64_t &size = sizes_.emplace(operand.labels[d], 1).first->second;
        requireOp(op_, size == shape[d] || size == 1 || shape[d] == 1,
                  "input dimensions of sizes {} and {} do not fit", size,
                  shape[d]);
        size = size == 1 ? shape[d] : size;
      }
    }
    std::set<Label> seen;
    for (Label label : result) {
      requireOp(op_, seen.insert(label).second && sizes_.count(label) > 0,
                "the result names a dimension twice, or one that no input has");
    }
  }

  Shape shapeOf(const Labels &labels) const {
    Shape shape;
    for (Label label : labels) {
      shape.push_back(sizes_.at(label));
    }
    return shape;
  }

  // A label that an operand has twice means the elements on the diagonal.
  void takeDiagonals(Operand &operand) {
    auto isTwice = [&](Label label) {
      return std::count(operand.labels.begin(), operand.labels.end(), label) >
             1;
    };
    for (;;) {
      auto found =
          std::find_if(operand.labels.begin(), operand.labels.end(), isTwice);
      if (found == operand.labels.end()) {
        return;
      }
      takeDiagonal(operand, *found);
    }
  }

  // Both dimensions go last, where one index counts through the diagonal.
  void takeDiagonal(Operand &operand, Label label) {
    const Shape shape = composer_.shape(operand.id);
    Attributes::Ints order;
    Attributes::Ints pair;
    Shape kept;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      bool isOfPair = operand.labels[d] == label && pair.size() < 2;
      (isOfPair ? pair : order).push_back(static_cast<std::int64_t>(d));
      if (!isOfPair) {
        kept.push_back(shape[d]);
      }
    }
    std::int64_t size = shape[static_cast<std::size_t>(pair[0])];
    requireOp(op_, size == shape[static_cast<std::size_t>(pair[1])],
              "the diagonal of dimensions of sizes {} and {}", size,
              shape[static_cast<std::size_t>(pair[1])]);
    Labels labels;
    for (std::int64_t d : order) {
      labels.push_back(operand.labels[static_cast<std::size_t>(d)]);
    }
    order.insert(order.end(), pair.begin(), pair.end());
    std::vector<double> places;
    for (std::int64_t i = 0; i < size; ++i) {
      places.push_back(static_cast<double>(i * (size + 1)));
    }
    auto axis = static_cast<std::int64_t>(kept.size());
    kept.push_back(size * size);
    operand.id = composer_.add(
        "Gather",
        {composer_.reshape(composer_.transpose(operand.id, order), kept),
         composer_.constant(places, {DataType::INT32, {size}})},
        Attributes().set("axis", axis));
    operand.labels = labels;
    operand.labels.push_back(label);
  }

  void sumOthers(Operand &operand, const std::set<Label> &needed) {
    Attributes::Ints axes;
    Labels left;
    for (std::size_t d = 0; d < operand.labels.size(); ++d) {
      if (needed.count(operand.labels[d]) == 0) {
        axes.push_back(static_cast<std::int64_t>(d));
      } else {
        left.push_back(operand.labels[d]);
      }
    }
    if (!axes.empty()) {
      operand.id = composer_.add(
          "ReduceSum", {operand.id},
          Attributes().set("axes", axes).set("keepdims", Attributes::Int{0}));
      operand.labels = left;
    }
  }

  // The operand's dimensions in this order, which has all of its labels; those
  // that it lacks are of one element.
  void arrange(Operand &operand, const Labels &labels) {
    Attributes::Ints order;
    Shape shape;
    for (Label label : labels) {
      auto found =
          std::find(operand.labels.begin(), operand.labels.end(), label);
      if (found == operand.labels.end()) {
        shape.push_back(1);
        continue;
      }
      order.push_back(found - operand.labels.begin());
      shape.push_back(
          composer_.shape(operand.id)[static_cast<std::size_t>(order.back())]);
    }
    operand.id =
        composer_.reshape(composer_.transpose(operand.id, order), shape);
    operand.labels = labels;
  }

  Operand product(Operand a, Operand b, const std::set<Label> &later) {
    std::set<Label> neededOfA = later;
    neededOfA.insert(b.labels.begin(), b.labels.end());
    std::set<Label> neededOfB = later;
    neededOfB.insert(a.labels.begin(), a.labels.end());
    sumOthers(a, neededOfA);
    sumOthers(b, neededOfB);
    Labels batch;
    Labels summed;
    Labels ofA;
    Labels ofB;
    for (Label label : a.labels) {
      (!contains(b.labels, label) ? ofA
       : later.count(label) > 0   ? batch
                                  : summed)
          .push_back(label);
    }
    for (Label label : b.labels) {
      if (!contains(a.labels, label)) {
        ofB.push_back(label);
      }
    }
    if (!summed.empty() && isFloat(composer_.type(a.id))) {
      return matrixProduct(a, b, batch, ofA, summed, ofB);
    }
    Labels all = joined({&batch, &ofA, &ofB, &summed});
    arrange(a, all);
    arrange(b, all);
    Operand result{composer_.add("Mul", {a.id, b.id}), all};
    sumOthers(result, later);
    return result;
  }

  Operand matrixProduct(Operand a, Operand b, const Labels &batch,
                        const Labels &ofA, const Labels &summed,
                        const Labels &ofB) {
    arrangeWhole(a, {&batch, &ofA, &summed});
    arrangeWhole(b, {&batch, &summed, &ofB});
    auto count = [&](const Labels &labels) {
      return support::elementCount(shapeOf(labels));
    };
    TensorId result = composer_.add(
        "MatMul",
        {composer_.reshape(a.id, {count(batch), count(ofA), count(summed)}),
         composer_.reshape(b.id, {count(batch), count(summed), count(ofB)})});
    Labels labels = joined({&batch, &ofA, &ofB});
    return {composer_.reshape(result, shapeOf(labels)), labels};
  }

  void arrangeWhole(Operand &operand,
                    const std::vector<const Labels *> &groups) {
    Labels labels = joined(groups);
    arrange(operand, labels);
    operand.id = composer_.expand(operand.id, shapeOf(labels));
  }

  static Labels joined(const std::vector<const Labels *> &groups) {
    Labels all;
    for (const Labels *group : groups) {
      all.insert(all.end(), group->begin(), group->end());
    }
    return all;
  }

  Composer &composer_;
  const Op &op_;
  std::map<Label, std::int64_t> sizes_;
};

void composeEinsum(Composer &composer, const Op &op) {
  requireInputCount(op, 1, std::numeric_limits<int>::max());
  composer.setOutput(0, Contraction(composer, op).run());
}

} // namespace

std::vector<OpRule> einsumRules() {
  return {{.domain = "ai.onnx",
           .type = "Einsum",
           .schema = {{12}, types::numbers()},
           .compose = composeEinsum}};
}

} // namespace popart
