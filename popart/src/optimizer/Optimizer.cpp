// Tables of hyper-parameters: reading them from the user's keys, checking and
// replacing them.
#include <popart/optimizer.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace popart {
namespace {

std::string defaultKey(const Optimizer::Hyperparameter &row) {
  if (!row.defaultKey.empty()) {
    return row.defaultKey;
  }
  std::string result = "default" + row.key;
  result[7] =
      static_cast<char>(std::toupper(static_cast<unsigned char>(result[7])));
  return result;
}

std::string join(const std::vector<std::string> &names) {
  std::string result;
  for (const std::string &name : names) {
    result += (result.empty() ? "" : ", ") + name;
  }
  return result;
}

[[noreturn]] void rejectKey(const std::string &optimizer,
                            const std::string &key,
                            const std::vector<std::string> &allowed) {
  throw error(fmt::format("[{}] there is no value '{}'; the values are {}",
                          optimizer, key, join(allowed)));
}

} // namespace

Optimizer::Optimizer(std::string name, std::vector<Hyperparameter> table,
                     const Values &values,
                     std::vector<ClipNormSettings> clipping)
    : name_(std::move(name)), hyperparameters_(std::move(table)),
      clipNormSettings_(std::move(clipping)) {
  std::vector<std::string> allowed = {"lossScaling"};
  for (Hyperparameter &row : hyperparameters_) {
    std::string key = defaultKey(row);
    allowed.push_back(key);
    auto found = values.find(key);
    if (found != values.end()) {
      row.values.setDefault(found->second);
    }
  }
  for (const auto &[key, value] : values) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      rejectKey(name_, key, allowed);
    }
    if (key == "lossScaling") {
      lossScaling_ = value;
    }
  }
  support::requireUser<error>(lossScaling_.val() != 0,
                              "Loss scaling cannot be 0");
  for (const ClipNormSettings &settings : clipNormSettings_) {
    support::requireUser<error>(
        settings.getMaxNorm() > 0,
        "[{}] clip_norm_settings: the norm ({}) must be more than 0", name_,
        settings.getMaxNorm());
  }
}

void Optimizer::insertSpecific(const TensorId &weight, const Values &values) {
  std::vector<std::string> allowed;
  for (Hyperparameter &row : hyperparameters_) {
    allowed.push_back(row.key);
    auto found = values.find(row.key);
    row.values.insertSpecific(weight, found == values.end()
                                          ? row.values.getDefault()
                                          : OptimizerValue(found->second));
  }
  for (const auto &[key, value] : values) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      rejectKey(name_, key, allowed);
    }
  }
  check(weight);
}

bool Optimizer::hasSpecific(const TensorId &weight) const {
  return hyperparameters_.front().values.hasSpecific(weight);
}

bool Optimizer::hasSpecific() const {
  return hyperparameters_.front().values.hasSpecific();
}

const OptimizerValueMap &
Optimizer::hyperparameter(const std::string &key) const {
  for (const Hyperparameter &row : hyperparameters_) {
    if (row.key == key) {
      return row.values;
    }
  }
  throw internal_error("[" + name_ + "] has no hyper-parameter " + key);
}

void Optimizer::check(const TensorId &) const {}

void Optimizer::requireNonNegative(const std::string &key,
                                   const TensorId &weight) const {
  float value = hyperparameter(key).get(weight).val();
  // "learningRate" as "learning rate".
  std::string words;
  for (char c : key) {
    if (std::isupper(static_cast<unsigned char>(c))) {
      words += ' ';
    }
    words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  support::requireUser<error>(
      value >= 0,
      "Negative {} ({}) in {}, bailing as this might be a user error.", words,
      value, name_);
}

void Optimizer::validReplacement(const Optimizer &other) const {
  auto require = [](bool condition, const std::string &reason) {
    support::requireUser<error>(
        condition, "New optimizer is not a valid replacement. {}", reason);
  };
  auto requireSame = [&](OptimizerValue mine, OptimizerValue theirs,
                         const std::string &key) {
    auto kind = [](OptimizerValue value) {
      return value.isConst() ? "constant" : "non constant";
    };
    require(mine.isConst() == theirs.isConst(),
            fmt::format("Can not replace a {} value with a {} value. ({})",
                        kind(mine), kind(theirs), key));
    require(!mine.isConst() || mine.val() == theirs.val(),
            fmt::format("Values are constant but do not match. ({} is {} and "
                        "would become {})",
                        key, mine.val(), theirs.val()));
  };
  require(type() == other.type(),
          fmt::format("Can not replace optimizer of type {} with new "
                      "optimizer of type {}.",
                      type_s(), other.type_s()));
  require(modes() == other.modes(),
          fmt::format("{} modes do not match: {} and {}.", type_s(), modes(),
                      other.modes()));
  require(clipNormSettings_ == other.clipNormSettings_,
          "Clip norm settings do not match.");
  requireSame(lossScaling_, other.lossScaling_, "lossScaling");
  for (std::size_t i = 0; i < hyperparameters_.size(); ++i) {
    const Hyperparameter &row = hyperparameters_[i];
    const OptimizerValueMap &theirs = other.hyperparameters_[i].values;
    requireSame(row.values.getDefault(), theirs.getDefault(), defaultKey(row));
    require(row.values.getSpecific().size() == theirs.getSpecific().size(),
            "It has specific values for other weights.");
    for (const auto &[weight, value] : row.values.getSpecific()) {
      require(theirs.hasSpecific(weight),
              fmt::format("It has no specific values for '{}'.", weight));
      requireSame(value, theirs.get(weight), row.key + " of " + weight);
    }
  }
}

} // namespace popart
