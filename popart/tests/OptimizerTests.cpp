// Optimisers and data flow: what they take, keep and refuse.
#include <popart/adam.hpp>
#include <popart/dataflow.hpp>
#include <popart/error.hpp>
#include <popart/sgd.hpp>

#include <gtest/gtest.h>

namespace popart::tests {
namespace {

template <typename F> std::string messageOf(F &&f) {
  try {
    f();
  } catch (const error &e) {
    return e.what();
  }
  return {};
}

TEST(Sgd, TakesDefaultsAndSpecificValues) {
  SGD sgd({{"defaultLearningRate", {0.5f, false}},
           {"defaultMomentum", {0.9f, true}}});
  sgd.insertSpecific("w", {{"learningRate", {0.25f, true}}});
  EXPECT_EQ(sgd.learningRates().getDefault(), OptimizerValue(0.5f, false));
  EXPECT_EQ(sgd.learningRates().get("w"), OptimizerValue(0.25f, true));
  EXPECT_EQ(sgd.momentums().get("w"), OptimizerValue(0.9f, true));
  EXPECT_TRUE(sgd.hasSpecific("w"));
  EXPECT_FALSE(sgd.hasSpecific("v"));
}

TEST(Sgd, RefusesValuesThatMakeNoSense) {
  auto message = [](const Optimizer::Values &values) {
    return messageOf([&] { SGD sgd(values); });
  };
  EXPECT_EQ(message({{"defaultLearningRate", {-0.5f, true}}}),
            "Negative learning rate (-0.5) in SGD, bailing as this might be a "
            "user error.");
  EXPECT_NE(message({{"defaultLearningRate", {0.0f, true}}})
                .find("Constant, zero learning rate in SGD"),
            std::string::npos);
  EXPECT_EQ(message({{"defaultLearningRate", {0.0f, false}}}), "");
  EXPECT_EQ(message({{"lossScaling", {0.0f, true}}}),
            "Loss scaling cannot be 0");
  EXPECT_EQ(message({{"defaultVelocityScaling", {0.0f, true}}}),
            "Non-positive velocity scaling (0) in SGD is not supported");
  EXPECT_NE(message({{"learningRate", {0.1f, true}}})
                .find("there is no value 'learningRate'"),
            std::string::npos);
  EXPECT_NE(message({{"nesterov", {1.0f, true}},
                     {"defaultMomentum", {0.9f, true}},
                     {"defaultDampening", {0.5f, true}}})
                .find("Nesterov"),
            std::string::npos);
}

TEST(Optimizer, ReplacesOnlyWhatIsAlike) {
  SGD old({{"defaultLearningRate", {0.5f, false}},
           {"defaultWeightDecay", {0.1f, true}}});
  auto message = [&](const Optimizer &other) {
    return messageOf([&] { old.validReplacement(other); });
  };
  EXPECT_EQ(message(SGD({{"defaultLearningRate", {0.1f, false}},
                         {"defaultWeightDecay", {0.1f, true}}})),
            "");
  std::string start = "New optimizer is not a valid replacement. ";
  EXPECT_EQ(message(SGD({{"defaultLearningRate", {0.5f, true}},
                         {"defaultWeightDecay", {0.1f, true}}}))
                .rfind(start + "Can not replace a non constant value with a "
                               "constant value. (defaultLearningRate)",
                       0),
            0u);
  EXPECT_EQ(message(SGD({{"defaultLearningRate", {0.5f, false}},
                         {"defaultWeightDecay", {0.2f, true}}}))
                .rfind(start + "Values are constant but do not match. "
                               "(defaultWeightDecay",
                       0),
            0u);
  EXPECT_EQ(message(Adam({})).rfind(
                start + "Can not replace optimizer of type SGD with new "
                        "optimizer of type Adam",
                0),
            0u);
}

TEST(Adam, RefusesOtherModes) {
  Adam plain({});
  Adam lamb({}, AdamMode::Lamb);
  EXPECT_NE(messageOf([&] {
              plain.validReplacement(lamb);
            }).find("Adam modes do not match"),
            std::string::npos);
}

TEST(DataFlow, RefusesPeriodsThatDoNotFit) {
  EXPECT_EQ(messageOf([] { AnchorReturnType("EveryN"); }),
            "Must specify return period with option 'EVERYN'");
  EXPECT_EQ(messageOf([] { AnchorReturnType("EVERYN", 0); }),
            "Anchor return period must be greater than zero");
  EXPECT_EQ(messageOf([] { AnchorReturnType("Final", 2); }),
            "A return period should not be supplied for this anchor return "
            "type");
  EXPECT_EQ(messageOf([] { AnchorReturnType("Some"); }),
            "Invalid anchor return type ID supplied: Some");
  EXPECT_EQ(messageOf([] { DataFlow(0); }),
            "'Batches per step' must be greater than zero");
  EXPECT_EQ(messageOf([] {
              DataFlow(4, {{"x", AnchorReturnType("EveryN", 8)}});
            }).rfind("Return period must be <= to the number of batches", 0),
            0u);
  EXPECT_EQ(messageOf([] {
              DataFlow(4, {{"x", AnchorReturnType("EveryN", 3)}});
            }).rfind("Return period must be a factor of the number", 0),
            0u);
}

} // namespace
} // namespace popart::tests
