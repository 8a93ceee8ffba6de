// Losses of log-probabilities and labels, or probabilities in the place of
// labels.
#include "AtenTable.hpp"
#include "Losses.hpp"
#include "Parts.hpp"

namespace poptorch {
namespace {

using popart::Attributes;
using popart::DataType;
using popart::TensorId;

// The classes last, as PopART wants them; torch has them second.
TensorId classesLast(CallLowering &call, const TensorId &x) {
  popart::Rank rank = call.rank(x);
  return rank > 2 ? moved(call, x, 1, rank - 1) : x;
}

// Arguments of nll_loss(x, labels, weight, reduction, ignore_index); those of
// cross_entropy_loss are in the same places, with the smoothing behind.
struct LabelLoss {
  TensorId logProbabilities; // the classes last
  TensorId labels;
  double smoothing = 0;
};

TensorId nllLoss(CallLowering &call, const LabelLoss &loss,
                 Reduction reduction) {
  return call.addGraphcore(
      "Nllloss", {loss.logProbabilities, loss.labels},
      Attributes()
          .set("reduction", popartReduction(reduction))
          .set("ignoreIndex", call.integer(4))
          .set("inputIsLogProbability", Attributes::Int{1}));
}

// What each sample counts: the weight of its class, nothing where its label is
// the one to ignore.
TensorId countsOf(CallLowering &call, const LabelLoss &loss) {
  DataType type = call.type(loss.logProbabilities);
  TensorId ignored =
      call.scalar(static_cast<double>(call.integer(4)), DataType::INT32);
  TensorId isCounted = call.add("NotEqual", {loss.labels, ignored});
  if (call.isNone(2)) {
    return call.cast(isCounted, type);
  }
  TensorId inside =
      chosen(call, isCounted, loss.labels, call.scalar(0, DataType::INT32));
  return chosen(call, isCounted,
                gathered(call, call.tensorAs(2, type), inside, 0),
                call.scalar(0, type));
}

// The weighted sum of log-probabilities of all classes, as smoothing wants it.
TensorId sumOfClasses(CallLowering &call, TensorId x) {
  if (!call.isNone(2)) {
    x = call.add("Mul", {x, call.tensorAs(2, call.type(x))});
  }
  return reducedOver(call, "ReduceSum", x, {call.rank(x) - 1}, false);
}

// Each class is as good as any other with the probability of the smoothing.
// Means are over what counts.
void setWeightedLoss(CallLowering &call, const LabelLoss &loss) {
  TensorId counts = countsOf(call, loss);
  TensorId terms =
      call.add("Mul", {nllLoss(call, loss, Reduction::None), counts});
  if (loss.smoothing != 0) {
    DataType type = call.type(counts);
    TensorId isCounted =
        call.add("NotEqual",
                 {loss.labels, call.scalar(static_cast<double>(call.integer(4)),
                                           DataType::INT32)});
    TensorId all =
        chosen(call, isCounted, sumOfClasses(call, loss.logProbabilities),
               call.scalar(0, type));
    auto classes =
        static_cast<double>(call.shape(loss.logProbabilities).back());
    terms = call.add("Sub", {call.times(terms, 1 - loss.smoothing),
                             call.times(all, loss.smoothing / classes)});
  }
  if (static_cast<Reduction>(call.integer(3)) != Reduction::Mean) {
    call.setResult(0, reducedLoss(call, terms, call.integer(3)));
    return;
  }
  Ints dims = numbersTo(call.rank(terms));
  TensorId mean =
      call.add("Div", {reducedOver(call, "ReduceSum", terms, dims, false),
                       reducedOver(call, "ReduceSum", counts, dims, false)});
  call.setResult(0, reducedLoss(call, mean, 0));
}

void setLabelLoss(CallLowering &call, const LabelLoss &loss) {
  if (call.isNone(2) && loss.smoothing == 0) {
    auto reduction = static_cast<Reduction>(call.integer(3));
    call.setResult(0, nllLoss(call, loss, reduction));
  } else {
    setWeightedLoss(call, loss);
  }
}

void lowerNllLoss(CallLowering &call) {
  setLabelLoss(call, {classesLast(call, call.tensor(0)),
                      call.tensorAs(1, DataType::INT32)});
}

// -sum over the classes of p * weight * log-probability, its mean being over
// samples.
void setProbabilityLoss(CallLowering &call, const TensorId &logProbabilities,
                        TensorId p) {
  auto classes = call.shape(p).back();
  double smoothing = call.real(5);
  p = call.plus(call.times(p, 1 - smoothing),
                smoothing / static_cast<double>(classes));
  TensorId sum = sumOfClasses(call, call.add("Mul", {p, logProbabilities}));
  call.setResult(0, reducedLoss(call, call.add("Neg", {sum}), call.integer(3)));
}

// cross_entropy_loss(x, labels, weight, reduction, ignore_index, smoothing)
void lowerCrossEntropy(CallLowering &call) {
  TensorId x = classesLast(call, call.tensor(0));
  TensorId logProbabilities =
      call.add("LogSoftmax", {x},
               Attributes().set("axis", std::int64_t{call.rank(x) - 1}));
  TensorId target = call.tensor(1);
  if (isFloat(call.type(target))) {
    target = call.cast(classesLast(call, target), call.type(x));
    setProbabilityLoss(call, logProbabilities, target);
    return;
  }
  setLabelLoss(call, {logProbabilities, call.cast(target, DataType::INT32),
                      call.real(5)});
}

} // namespace

std::vector<AtenRow> labelLossRows() {
  std::vector<AtenRow> rows = {
      {"aten::nll_loss", lowerNllLoss},
      {"aten::nll_loss2d", lowerNllLoss},
      {"aten::nll_loss_nd", lowerNllLoss},
      {"aten::nll_loss_forward", lowerNllLoss},
      {"aten::cross_entropy_loss", lowerCrossEntropy},
  };
  for (AtenRow &row : rows) {
    row.isLoss = true;
  }
  return rows;
}

} // namespace poptorch
