// Optimisers' steps against their published formulas, evaluated in double.
#include "Models.hpp"

#include <popart/adam.hpp>
#include <popart/adaptive.hpp>
#include <popart/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace popart::tests {
namespace {

using Vector = std::vector<double>;
using Values = Optimizer::Values;

// loss = sum(w*x) + sum(u*z): the gradients are x and z.
std::shared_ptr<Ir> twoWeights() {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({3}));
  graph.addStream("z", floats({3}));
  addWeight(graph, "w", {3}, 1);
  addWeight(graph, "u", {3}, 2);
  TensorId sum =
      add(graph, "Add",
          {add(graph, "Mul", {"w", "x"}), add(graph, "Mul", {"u", "z"})});
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {sum}, {"loss"},
              Attributes().set("reduction", Attributes::Int{0}), {});
  ir->loss = "loss";
  return ir;
}

enum class Accumulation { None, Sum, MeanPost, MeanRunning };

constexpr int updates = 4;
constexpr int microBatches = 3;

// A session, and the gradients that its updates see.
struct Training {
  Training(std::shared_ptr<Optimizer> optimizer,
           Accumulation accumulation = Accumulation::None, int replicas = 1)
      : w(toDouble(Numbers(1).list(3))), u(toDouble(Numbers(2).list(3))) {
    auto ir = twoWeights();
    ir->optimizer = std::move(optimizer);
    ir->dataFlow = DataFlow(1);
    SessionOptions &options = ir->sessionOptions;
    options.enableReplicatedGraphs = replicas > 1;
    options.replicatedGraphCount = replicas;
    if (accumulation != Accumulation::None) {
      options.enableGradientAccumulation = true;
      options.accumulationFactor = batches_ = microBatches;
      isMean_ = accumulation != Accumulation::Sum;
      options.accumulationAndReplicationReductionType =
          isMean_ ? ReductionType::Mean : ReductionType::Sum;
      options.meanAccumulationAndReplicationReductionStrategy =
          accumulation == Accumulation::MeanRunning
              ? MeanReductionStrategy::Running
              : MeanReductionStrategy::Post;
    }
    batches_ *= replicas;
    session = train(ir, replicas);
  }

  static Vector toDouble(const std::vector<float> &values) {
    return {values.begin(), values.end()};
  }

  Vector reduced(const std::vector<float> &values) const {
    Vector sum(3, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum[i % 3] += double{values[i]} / (isMean_ ? batches_ : 1);
    }
    return sum;
  }

  // Runs one update and tells `step` the weights and their gradients.
  template <typename Step> void update(Step &&step) {
    auto x = numbers_.list(3 * batches_);
    auto z = numbers_.list(3 * batches_);
    tests::Step arrays;
    arrays.input("x", x);
    arrays.input("z", z);
    arrays.run(*session);
    step("w", w, reduced(x));
    step("u", u, reduced(z));
  }

  void expectWeights(double tolerance = 2e-5) {
    expectNear("w", w, tolerance);
    expectNear("u", u, tolerance);
  }
  void expectNear(const TensorId &id, const Vector &expected,
                  double tolerance = 2e-5) {
    auto values = readWeight(*session, id);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(values[i], expected[i],
                  tolerance * std::max(1.0, std::abs(expected[i])))
          << id << "[" << i << "]";
    }
  }

  Vector w, u;
  std::unique_ptr<TrainingSession> session;

private:
  Numbers numbers_{3};
  int batches_ = 1; // of all replicas, for each update
  bool isMean_ = false;
};

struct SgdCase {
  SGDAccumulatorAndMomentum form;
  float lr, wd, mm, dm, vs;
  bool nesterov;
  bool dampsLater = false;
};

std::vector<SgdCase> sgdCases() {
  std::vector<SgdCase> cases;
  for (auto form : {SGDAccumulatorAndMomentum::Combined,
                    SGDAccumulatorAndMomentum::Separate}) {
    for (float mm : {0.0f, 0.75f}) {
      for (float wd : {0.0f, 0.125f}) {
        cases.push_back({form, 0.25f, wd, mm, 0.0f, 1.0f, false});
        cases.push_back({form, 0.25f, wd, mm, 0.25f, 1.0f, false});
        cases.push_back({form, 0.25f, wd, mm, 0.25f, 4.0f, false});
        cases.push_back({form, 0.25f, wd, mm, 0.25f, 1.0f, false, true});
        cases.push_back({form, 0.25f, wd, mm, 0.25f, 4.0f, false, true});
      }
    }
    cases.push_back({form, 0.25f, 0.125f, 0.75f, 0.0f, 1.0f, true});
    cases.push_back({form, 0.25f, 0.125f, 0.75f, 0.0f, 4.0f, true});
  }
  return cases;
}

void checkSgd(const SgdCase &c, Accumulation accumulation, bool isConst,
              int replicas) {
  Values values = {{"defaultLearningRate", {c.lr, isConst}},
                   {"defaultWeightDecay", {c.wd, isConst}},
                   {"defaultMomentum", {c.mm, c.mm == 0 || isConst}},
                   {"defaultDampening", {c.dm, isConst}},
                   {"defaultVelocityScaling", {c.vs, isConst}},
                   {"lossScaling", {8.0f, isConst}},
                   {"nesterov", {c.nesterov, true}},
                   {"dampsLater", {c.dampsLater, true}}};
  Training training(
      std::make_shared<SGD>(values, std::vector<ClipNormSettings>(), c.form),
      accumulation, replicas);
  std::map<TensorId, Vector> velocity;
  for (int i = 0; i < updates; ++i) {
    // By PyTorch's rule there must be something to dampen.
    double dm = c.dampsLater && (i == 0 || c.mm == 0) ? 0 : c.dm;
    training.update([&](const TensorId &id, Vector &w, const Vector &g) {
      Vector &v = velocity[id];
      v.resize(w.size());
      for (std::size_t k = 0; k < w.size(); ++k) {
        double gradient = c.vs * (g[k] + c.wd * w[k]);
        v[k] = c.mm * v[k] + (1 - dm) * gradient;
        w[k] -= c.lr / c.vs * (c.nesterov ? gradient + c.mm * v[k] : v[k]);
      }
    });
  }
  training.expectWeights();
  if (c.mm == 0) {
    return;
  }
  if (c.form == SGDAccumulatorAndMomentum::Separate) {
    training.expectNear("Accl1___w", velocity["w"]);
    return;
  }
  Vector next = velocity["w"]; // what the next step starts from
  for (std::size_t k = 0; k < next.size(); ++k) {
    next[k] = c.mm * next[k] + (1 - c.dm) * c.wd * c.vs * training.w[k];
  }
  training.expectNear("Accl___w", next);
}

TEST(SgdUpdate, FollowsItsFormulas) {
  for (const SgdCase &c : sgdCases()) {
    for (auto accumulation :
         {Accumulation::None, Accumulation::Sum, Accumulation::MeanPost,
          Accumulation::MeanRunning}) {
      SCOPED_TRACE(fmt::format(
          "form {} mm {} wd {} dm {} later {} vs {} nesterov {} accumulation "
          "{}",
          static_cast<int>(c.form), c.mm, c.wd, c.dm, c.dampsLater, c.vs,
          c.nesterov, static_cast<int>(accumulation)));
      checkSgd(c, accumulation, true, 1);
      checkSgd(c, accumulation, false, 1);
      checkSgd(c, accumulation, true, 2);
    }
  }
}

// Combined decays the velocity at the end of a step, Separate at the start of
// the next one: they differ when the momentum changes in between.
TEST(SgdUpdate, DecaysTheVelocityAtItsFormsTime) {
  for (auto form : {SGDAccumulatorAndMomentum::Combined,
                    SGDAccumulatorAndMomentum::Separate}) {
    auto sgd = [&](float momentum) {
      return SGD({{"defaultMomentum", {momentum, false}}}, {}, form);
    };
    Training training(std::make_shared<SGD>(sgd(0.5f)));
    Vector first;
    training.update([&](const TensorId &id, Vector &w, const Vector &g) {
      first = id == "w" ? g : first;
      for (std::size_t k = 0; k < w.size(); ++k) {
        w[k] -= double{0.1f} * g[k];
      }
    });
    training.session->updateOptimizerFromHost(sgd(0.25f));
    double momentum = form == SGDAccumulatorAndMomentum::Combined ? 0.5 : 0.25;
    training.update([&](const TensorId &id, Vector &w, const Vector &g) {
      for (std::size_t k = 0; id == "w" && k < w.size(); ++k) {
        w[k] -= double{0.1f} * (momentum * first[k] + g[k]);
      }
    });
    training.expectNear("w", training.w);
  }
}

double norm(const Vector &values) {
  double sum = 0;
  for (double value : values) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

struct AdamReference {
  AdamMode mode;
  WeightDecayMode decay;
  double lr, wd, b1, b2, eps, maxNorm;
  Vector m = Vector(3, 0.0), v = Vector(3, 0.0);
  int t = 0;

  void operator()(Vector &w, const Vector &g) {
    ++t;
    bool isCorrected =
        mode != AdamMode::AdamNoBias && mode != AdamMode::LambNoBias;
    bool isLamb = mode == AdamMode::Lamb || mode == AdamMode::LambNoBias;
    double c1 = isCorrected ? 1 - std::pow(b1, t) : 1;
    double c2 = isCorrected ? 1 - std::pow(b2, t) : 1;
    Vector x(3);
    for (std::size_t k = 0; k < 3; ++k) {
      double s =
          g[k] + (decay == WeightDecayMode::L2Regularization ? wd * w[k] : 0);
      m[k] = b1 * m[k] + (1 - b1) * s;
      if (mode == AdamMode::AdaMax) {
        v[k] = std::max(b2 * v[k], std::abs(s));
        x[k] = m[k] / c1 / (v[k] + eps);
      } else {
        v[k] = b2 * v[k] + (1 - b2) * s * s;
        x[k] = m[k] / c1 / (std::sqrt(v[k] / c2) + eps);
      }
      x[k] += decay == WeightDecayMode::Decay ? wd * w[k] : 0;
    }
    double ratio = isLamb ? std::min(norm(w), maxNorm) / norm(x) : 1;
    for (std::size_t k = 0; k < 3; ++k) {
      w[k] -= lr * ratio * x[k];
    }
  }
};

void checkAdam(AdamMode mode, WeightDecayMode decay, bool isScaled,
               bool isConst, Accumulation accumulation, int replicas = 1) {
  Values values = {{"defaultLearningRate", {0.125f, isConst}},
                   {"defaultWeightDecay", {0.25f, isConst}},
                   {"defaultBeta1", {0.75f, isConst}},
                   {"defaultBeta2", {0.875f, isConst}},
                   {"defaultEps", {0.0625f, isConst}},
                   {"maxWeightNorm", {0.75f, isConst}},
                   {"lossScaling", {16.0f, isConst}}};
  auto adam = std::make_shared<Adam>(values, mode, decay, DataType::UNDEFINED,
                                     DataType::FLOAT, DataType::FLOAT,
                                     std::vector<ClipNormSettings>(), isScaled);
  adam->insertSpecific("u", {{"learningRate", {0.5f, isConst}}});
  Training training(adam, accumulation, replicas);
  std::map<TensorId, AdamReference> references;
  AdamReference reference{mode, decay, 0.125, 0.25, 0.75, 0.875, 0.0625, 0.75};
  references.emplace("w", reference);
  reference.lr = 0.5;
  references.emplace("u", reference);
  for (int i = 0; i < updates; ++i) {
    training.update([&](const TensorId &id, Vector &w, const Vector &g) {
      references.at(id)(w, g);
    });
  }
  training.expectWeights();
  Vector m = references.at("w").m;
  for (double &value : m) {
    value *= isScaled ? 16 : 1;
  }
  training.expectNear("Accl1___w", m);
  training.expectNear("Step___w", {double{updates}});
}

TEST(AdamUpdate, FollowsItsFormulas) {
  for (int mode = 0; mode < 5; ++mode) {
    for (auto decay :
         {WeightDecayMode::Decay, WeightDecayMode::L2Regularization}) {
      for (bool isScaled : {false, true}) {
        for (bool isConst : {false, true}) {
          SCOPED_TRACE(fmt::format("mode {} decay {} scaled {} const {}", mode,
                                   static_cast<int>(decay), isScaled, isConst));
          checkAdam(static_cast<AdamMode>(mode), decay, isScaled, isConst,
                    Accumulation::None);
          checkAdam(static_cast<AdamMode>(mode), decay, isScaled, isConst,
                    Accumulation::MeanPost);
          checkAdam(static_cast<AdamMode>(mode), decay, isScaled, isConst,
                    Accumulation::MeanRunning);
          checkAdam(static_cast<AdamMode>(mode), decay, isScaled, isConst,
                    Accumulation::None, 2);
        }
      }
    }
  }
}

TEST(AdamUpdate, KeepsItsStateInTheTypesAskedFor) {
  Training training(std::make_shared<Adam>(
      Values{{"defaultLearningRate", {0.125f, true}}}, AdamMode::Lamb,
      WeightDecayMode::Decay, DataType::UNDEFINED, DataType::FLOAT16,
      DataType::UNDEFINED));
  Session &session = *training.session;
  EXPECT_EQ(session.getInfo("Accl1___w").dataType(), DataType::FLOAT16);
  EXPECT_EQ(session.getInfo("Accl2___w").dataType(), DataType::FLOAT);
  EXPECT_EQ(session.getInfo("Step___w"), TensorInfo(DataType::FLOAT, {}));
  AdamReference w{
      AdamMode::Lamb, WeightDecayMode::Decay, 0.125, 0, 0.9, 0.999, 1e-6, 10};
  AdamReference u = w;
  training.update([&](const TensorId &id, Vector &weight, const Vector &g) {
    (id == "w" ? w : u)(weight, g);
  });
  training.expectWeights(1e-3); // the moment is rounded to FLOAT16
}

struct AdaptiveReference {
  AdaptiveMode mode;
  WeightDecayMode decay;
  bool isTensorFlow;
  double momentum;
  double lr = 0.125, wd = 0.25, a = 0.75, eps = 0.0625;
  Vector v1 = Vector(3, isTensorFlow ? 1.0 : 0.0), v2 = Vector(3, 0.0), v3 = v2;

  double direction(std::size_t k, double s) {
    v1[k] = mode == AdaptiveMode::AdaGrad ? v1[k] + s * s
                                          : a * v1[k] + (1 - a) * s * s;
    if (mode == AdaptiveMode::AdaDelta) {
      double x = s * std::sqrt(v2[k] + eps) / std::sqrt(v1[k] + eps);
      v2[k] = a * v2[k] + (1 - a) * x * x;
      return x;
    }
    double variance = v1[k];
    if (mode == AdaptiveMode::CenteredRMSProp) {
      v2[k] = a * v2[k] + (1 - a) * s;
      variance -= v2[k] * v2[k];
    }
    return s / (isTensorFlow ? std::sqrt(variance + eps)
                             : std::sqrt(variance) + eps);
  }

  void operator()(Vector &w, const Vector &g) {
    bool isL2 = decay == WeightDecayMode::L2Regularization;
    for (std::size_t k = 0; k < 3; ++k) {
      double x = direction(k, g[k] + (isL2 ? wd * w[k] : 0));
      double step = lr * x;
      if (momentum != 0) {
        v3[k] = momentum * v3[k] + (isTensorFlow ? lr * x : x);
        step = isTensorFlow ? v3[k] : lr * v3[k];
      }
      w[k] -= step + (isL2 ? 0 : lr * wd * w[k]);
    }
  }
};

void checkAdaptive(const AdaptiveReference &reference, bool isConst) {
  Values values = {
      {"defaultLearningRate", {0.125f, isConst}},
      {"defaultWeightDecay", {0.25f, isConst}},
      {"defaultAlpha", {0.75f, isConst}},
      {"defaultMomentum", {static_cast<float>(reference.momentum), true}},
      {"defaultEps", {0.0625f, isConst}},
      {"lossScaling", {16.0f, isConst}}};
  Training training(std::make_shared<Adaptive>(
      values, reference.mode, reference.decay, DataType::UNDEFINED,
      DataType::FLOAT, DataType::FLOAT, DataType::UNDEFINED,
      reference.isTensorFlow));
  AdaptiveReference w = reference;
  AdaptiveReference u = reference;
  for (int i = 0; i < updates; ++i) {
    training.update([&](const TensorId &id, Vector &weight, const Vector &g) {
      (id == "w" ? w : u)(weight, g);
    });
  }
  training.expectWeights();
  training.expectNear("Accl1___w", w.v1);
}

TEST(AdaptiveUpdate, FollowsItsFormulas) {
  for (int mode = 0; mode < 4; ++mode) {
    for (auto decay :
         {WeightDecayMode::Decay, WeightDecayMode::L2Regularization}) {
      for (bool isTensorFlow : {false, true}) {
        for (double momentum : {0.0, 0.5}) {
          for (bool isConst : {false, true}) {
            SCOPED_TRACE(fmt::format(
                "mode {} decay {} TensorFlow {} momentum {} const {}", mode,
                static_cast<int>(decay), isTensorFlow, momentum, isConst));
            checkAdaptive({static_cast<AdaptiveMode>(mode), decay, isTensorFlow,
                           momentum},
                          isConst);
          }
        }
      }
    }
  }
}

TEST(ClipNorm, LimitsTheNormOfAGroupOfGradients) {
  for (bool isAll : {true, false}) {
    for (auto accumulation : {Accumulation::None, Accumulation::MeanPost}) {
      for (float momentum : {0.0f, 0.5f}) {
        auto settings = isAll ? ClipNormSettings::clipAllWeights(0.25f)
                              : ClipNormSettings::clipWeights({"u"}, 0.25f);
        Training training(
            std::make_shared<SGD>(Values{{"defaultMomentum", {momentum, true}},
                                         {"lossScaling", {4.0f, false}}},
                                  std::vector<ClipNormSettings>{settings}),
            accumulation);
        Vector gradients;
        Vector weights = training.w;
        weights.insert(weights.end(), training.u.begin(), training.u.end());
        training.update([&](const TensorId &, Vector &, const Vector &g) {
          gradients.insert(gradients.end(), g.begin(), g.end());
        });
        Vector u(gradients.begin() + 3, gradients.end());
        double length = norm(isAll ? gradients : u);
        for (std::size_t k = 0; k < 6; ++k) {
          double factor = isAll || k >= 3 ? 0.25 / std::max(length, 0.25) : 1;
          weights[k] -= double{0.1f} * factor * gradients[k];
        }
        training.expectNear("w", {weights.begin(), weights.begin() + 3});
        training.expectNear("u", {weights.begin() + 3, weights.end()});
      }
    }
  }
}

TEST(ClipNorm, RefusesWeightsThatAreNotThere) {
  auto sgd = std::make_shared<SGD>(
      Values{}, std::vector<ClipNormSettings>{{{"w", "other"}, 1.0f}});
  try {
    Training training(sgd);
    FAIL() << "an unknown weight was taken";
  } catch (const error &e) {
    EXPECT_NE(std::string(e.what()).find("'other' is not a weight"),
              std::string::npos);
  }
}

} // namespace
} // namespace popart::tests
