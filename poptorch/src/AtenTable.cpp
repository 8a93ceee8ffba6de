#include "AtenTable.hpp"

#include <map>
#include <utility>

namespace poptorch {
namespace {

std::map<std::string, AtenRow> makeTable() {
  std::vector<AtenRow> (*const families[])() = {
      activationRows, controlFlowRows, elementwiseRows, embeddingBagRows,
      formulaRows,    gradientRows,    imageRows,       indexingRows,
      labelLossRows,  linearRows,      lossRows,        marginLossRows,
      maskRows,       normRows,        poolRows,        poptorchRows,
      randomRows,     recurrentRows,   reductionRows,   scatterRows,
      shapeRows,      sliceRows,       sortRows,        specialFunctionRows,
  };
  std::map<std::string, AtenRow> table;
  for (auto *family : families) {
    for (AtenRow &row : family()) {
      std::string op = row.op;
      table.emplace(std::move(op), std::move(row));
    }
  }
  return table;
}

} // namespace

const AtenRow *findAtenRow(const std::string &op) {
  static const std::map<std::string, AtenRow> table = makeTable();
  auto found = table.find(op);
  return found == table.end() ? nullptr : &found->second;
}

} // namespace poptorch
