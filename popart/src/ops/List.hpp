// The rules of all operations, a function for each file of this folder.
#pragma once

#include <ops/OpRule.hpp>

#include <vector>

namespace popart {

std::vector<OpRule> castRules();
std::vector<OpRule> convRules();
std::vector<OpRule> expressionRules();
std::vector<OpRule> formulaRules();
std::vector<OpRule> groupNormRules();
std::vector<OpRule> ipuCopyRules();
std::vector<OpRule> lossRules();
std::vector<OpRule> matMulRules();
std::vector<OpRule> maxPoolRules();
std::vector<OpRule> reduceRules();
std::vector<OpRule> softmaxRules();
std::vector<OpRule> stashRules();
std::vector<OpRule> updateRules();
std::vector<OpRule> variadicRules();
std::vector<OpRule> viewRules();

} // namespace popart
