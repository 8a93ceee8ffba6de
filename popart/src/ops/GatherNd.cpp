// Elements and blocks of a tensor by tuples of indices: GatherND and ScatterND,
// as gathers and scatters of rows by one index each.
#include <ops/Common.hpp>
#include <ops/Composer.hpp>
#include <ops/Indices.hpp>
#include <ops/List.hpp>

#include <popart/operatorenums.hpp>

namespace popart {
namespace {

// Dimensions of the data: those of batches, those that tuples are about, and
// those of one block.
struct Places {
  Places(const Op &op, std::int64_t batchDims) {
    const Shape &data = op.inShape(0);
    const Shape &indices = op.inShape(1);
    requireIndices(op, 1);
    requireOp(op, !data.empty() && !indices.empty(),
              "data of shape {} and indices of shape {} must have a dimension",
              support::toString(data), support::toString(indices));
    auto rank = static_cast<std::int64_t>(data.size());
    requireOp(op,
              0 <= batchDims && batchDims < rank &&
                  batchDims < static_cast<std::int64_t>(indices.size()),
              "batch_dims is {}; data has {} dimensions, indices have {}",
              batchDims, rank, indices.size());
    requireOp(op, 1 <= indices.back() && indices.back() <= rank - batchDims,
              "indices of shape {} name {} dimensions; there are {} to name",
              support::toString(indices), indices.back(), rank - batchDims);
    auto batchEnd = data.begin() + batchDims;
    batches.assign(data.begin(), batchEnd);
    requireOp(op, std::equal(data.begin(), batchEnd, indices.begin()),
              "indices of shape {} do not begin as data of shape {}",
              support::toString(indices), support::toString(data));
    named.assign(batchEnd, batchEnd + indices.back());
    block.assign(batchEnd + indices.back(), data.end());
    tuples.assign(indices.begin(), indices.end() - 1);
  }

  std::int64_t rows() const {
    return support::elementCount(batches) * support::elementCount(named);
  }
  Shape data() const { return joined({rows()}, block); }
  static Shape joined(Shape first, const Shape &second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  Shape batches;
  Shape named;
  Shape block;
  Shape tuples; // how many, batches included
};

// The row that each tuple names, as one vector.
TensorId rowsOf(Composer &composer, const Op &op, const Places &places) {
  auto count = static_cast<std::int64_t>(places.named.size());
  std::vector<double> sizes(places.named.begin(), places.named.end());
  std::vector<double> strides(sizes.size(), 1);
  for (std::size_t d = sizes.size() - 1; d-- > 0;) {
    strides[d] = strides[d + 1] * sizes[d + 1];
  }
  TensorInfo info(DataType::INT32, {count});
  TensorId terms = composer.addFormula(
      "select(a+b,a,a<0)*c", {"", "", ""},
      {composer.cast(op.inputs[1], DataType::INT32),
       composer.constant(sizes, info), composer.constant(strides, info)});
  auto last = static_cast<std::int64_t>(places.tuples.size());
  TensorId rows = composer.add("ReduceSum", {terms},
                               Attributes()
                                   .set("axes", Attributes::Ints{last})
                                   .set("keepdims", Attributes::Int{0}));
  std::int64_t all = support::elementCount(places.tuples);
  std::int64_t batches = support::elementCount(places.batches);
  if (batches > 1) {
    std::vector<double> first;
    for (std::int64_t i = 0; i < batches; ++i) {
      first.push_back(
          static_cast<double>(i * support::elementCount(places.named)));
    }
    rows = composer.add(
        "Add", {composer.reshape(rows, {batches, all / batches}),
                composer.constant(first, {DataType::INT32, {batches, 1}})});
  }
  return composer.reshape(rows, {all});
}

void composeGather(Composer &composer, const Op &op) {
  requireInputCount(op, 2, 2);
  Places places(op, op.attributes.getInt("batch_dims", 0));
  TensorId found =
      composer.add("Gather", {composer.reshape(op.inputs[0], places.data()),
                              rowsOf(composer, op, places)});
  composer.setOutput(
      0, composer.reshape(found, Places::joined(places.tuples, places.block)));
}

void composeScatter(Composer &composer, const Op &op) {
  requireInputCount(op, 3, 3);
  Places places(op, 0);
  requireOp(op, op.inShape(2) == Places::joined(places.tuples, places.block),
            "updates of shape {} do not fit indices of shape {} and data of "
            "shape {}",
            support::toString(op.inShape(2)), support::toString(op.inShape(1)),
            support::toString(op.inShape(0)));
  std::string reduction = op.attributes.getString("reduction", "none");
  std::int64_t size = support::elementCount(places.block);
  std::int64_t count = support::elementCount(places.tuples);
  TensorId data = composer.reshape(op.inputs[0], {places.rows(), size});
  TensorId updates = composer.reshape(op.inputs[2], {count, size});
  TensorId rows = rowsOf(composer, op, places);
  TensorId result;
  if (reduction == "mul") {
    result = composer.addSeveral(
        {"ai.graphcore", "ScatterReduce"}, {updates, rows, data}, 1,
        Attributes()
            .set("axis", Attributes::Int{0})
            .set("axis_size", places.rows())
            .set("reduction",
                 static_cast<Attributes::Int>(ScatterReduction::Mul)))[0];
  } else {
    result = composer.add(
        "ScatterElements",
        {data,
         composer.expand(composer.reshape(rows, {count, 1}), {count, size}),
         updates},
        Attributes()
            .set("axis", Attributes::Int{0})
            .set("reduction", reduction),
        16);
  }
  composer.setOutput(0, composer.reshape(result, op.inShape(0)));
}

} // namespace

std::vector<OpRule> gatherNdRules() {
  return {{.domain = "ai.onnx",
           .type = "GatherND",
           .schema = {{11, 12, 13}, types::all()},
           .compose = composeGather},
          {.domain = "ai.onnx",
           .type = "ScatterND",
           .schema = {{11, 13, 16}, types::all()},
           .compose = composeScatter}};
}

} // namespace popart
