// The table of torch operators: what each becomes in PopART's IR. One row per
// operator, grouped by family in the files of aten/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace poptorch {

class CallLowering;

struct AtenRow {
  std::string op; // "aten::relu", with the overload where there is one
  void (*lower)(CallLowering &call);
  // For `lower` functions shared by many rows: the PopART operation.
  std::string popart = {};
  // Calls of this operator are losses to minimise when training.
  bool isLoss = false;
  // The call does something even when its results are not used.
  bool hasEffect = false;
};

// What PopART calls the host function of this number in a trace.
std::string hostFunctionHandle(std::int64_t number);

// Null when the operator is not supported.
const AtenRow *findAtenRow(const std::string &op);

std::vector<AtenRow> activationRows();
std::vector<AtenRow> controlFlowRows();
std::vector<AtenRow> elementwiseRows();
std::vector<AtenRow> embeddingBagRows();
std::vector<AtenRow> formulaRows();
std::vector<AtenRow> gradientRows();
std::vector<AtenRow> imageRows();
std::vector<AtenRow> indexingRows();
std::vector<AtenRow> labelLossRows();
std::vector<AtenRow> linearRows();
std::vector<AtenRow> lossRows();
std::vector<AtenRow> marginLossRows();
std::vector<AtenRow> maskRows();
std::vector<AtenRow> normRows();
std::vector<AtenRow> poolRows();
std::vector<AtenRow> poptorchRows();
std::vector<AtenRow> randomRows();
std::vector<AtenRow> recurrentRows();
std::vector<AtenRow> reductionRows();
std::vector<AtenRow> scatterRows();
std::vector<AtenRow> shapeRows();
std::vector<AtenRow> sliceRows();
std::vector<AtenRow> sortRows();
std::vector<AtenRow> specialFunctionRows();

} // namespace poptorch
