// A tensor is a view of elements of variables. Copies are cheap and refer to
// the same elements; views cost the same whatever the element count.
#pragma once

#include <poplar/ArrayRef.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Type.hpp>
#include <poplar/VariableRef.hpp>

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace poplar {

namespace internal {
struct Access;
struct TensorData;
} // namespace internal

enum class UpsampleMethod { REPEAT };

class Tensor {
public:
  Tensor() = default; // invalid

  bool valid() const { return data_ != nullptr; }
  Type elementType() const;
  unsigned rank() const;
  std::size_t dim(unsigned index) const;
  std::vector<std::size_t> shape() const;
  std::size_t numElements() const;
  bool hasSameShape(const Tensor &other) const;

  // Element `index` of the first dimension, which goes.
  Tensor operator[](std::size_t index) const;
  // The same for one leading dimension per index.
  Tensor index(ArrayRef<std::size_t> indices) const;

  Tensor slice(std::size_t begin, std::size_t end, unsigned dimension) const;
  Tensor slice(std::size_t begin, std::size_t end) const;
  Tensor slice(const Interval &region, unsigned dimension = 0) const;
  // One [begin, end) per leading dimension.
  Tensor slice(ArrayRef<std::size_t> begin, ArrayRef<std::size_t> end) const;
  std::vector<Tensor> slices(ArrayRef<Interval> intervals,
                             unsigned dimension = 0) const;
  // Each result joins the slices of its intervals.
  std::vector<Tensor>
  slices(const std::vector<std::vector<Interval>> &intervals,
         unsigned dimension = 0) const;
  std::vector<Tensor> slices(ArrayRef<unsigned> indices,
                             unsigned dimension = 0) const;

  Tensor flatten() const;
  // Merges dimensions [dimBegin, dimEnd).
  Tensor flatten(unsigned dimBegin, unsigned dimEnd) const;
  Tensor reshape(ArrayRef<std::size_t> shape) const;
  Tensor reshapePartial(unsigned beginIndex, unsigned endIndex,
                        ArrayRef<std::size_t> newDims) const;
  // Dimension i of the result is dimension permutation[i].
  Tensor dimShuffle(ArrayRef<unsigned> permutation) const;
  // Dimension source[i] goes to destination[i]; the others keep their order.
  Tensor dimShufflePartial(ArrayRef<unsigned> source,
                           ArrayRef<unsigned> destination) const;
  Tensor dimRoll(unsigned dimIdx, unsigned newIdx = 0) const;
  // Reverses the order of the dimensions.
  Tensor transpose() const;
  // Inserts a dimension of size 1 before each of these dimensions.
  Tensor expand(ArrayRef<std::size_t> indices) const;
  // Removes these dimensions, all of size 1.
  Tensor squeeze(ArrayRef<std::size_t> indices) const;
  Tensor reverse(unsigned dimension) const;
  Tensor subSample(unsigned stride, unsigned dimension) const;
  // N copies side by side along the dimension.
  Tensor broadcast(unsigned N, unsigned dimension) const;
  Tensor upsample(unsigned scale, unsigned dimension,
                  UpsampleMethod method = UpsampleMethod::REPEAT) const;
  // The same bytes as another type of the same size.
  Tensor reinterpret(const Type &type) const;

  // QUARTER: the tensor that says what the bits mean (MetadataCreation.hpp).
  // Views and clones have the metadata of their tensor.
  bool hasMetadata() const;
  Tensor getMetadata() const;
  void associateMetadata(const Tensor &metadata);

  // One run of consecutive elements of one variable.
  bool isContiguous() const;
  bool containsAliases() const;
  bool containsConstant() const;
  // Neither aliases nor constants.
  bool isParallelWriteable() const;
  bool intersectsWith(const Tensor &other) const;
  // Runs of the flattened tensor that are consecutive in one variable.
  std::vector<Interval> getContiguousRegions() const;
  std::vector<VariableInterval> getVarRegions() const;

  std::string shapeToString() const;
  void output(std::ostream &stream) const;
  void dump() const; // to standard error
  // One line for each region.
  void outputRegions(std::ostream &stream) const;
  void dumpRegions() const; // to standard error
  // The names of the variables, and the whole text of output().
  std::string getVarStr() const;
  std::string getDebugStr() const;

  friend bool operator==(const Tensor &a, const Tensor &b) {
    return a.isSame(b);
  }
  friend bool operator!=(const Tensor &a, const Tensor &b) { return !(a == b); }
  friend std::ostream &operator<<(std::ostream &stream, const Tensor &tensor) {
    tensor.output(stream);
    return stream;
  }

private:
  friend struct internal::Access;
  explicit Tensor(std::shared_ptr<const internal::TensorData> data)
      : data_(std::move(data)) {}
  bool isSame(const Tensor &other) const;

  std::shared_ptr<const internal::TensorData> data_;
};

// Joins tensors along a dimension; all others must match.
Tensor concat(ArrayRef<Tensor> tensors, unsigned dimension = 0);
Tensor concat(const Tensor &first, const Tensor &second,
              unsigned dimension = 0);
// Joins `second`, seen as one element of `first` along the dimension.
Tensor append(const Tensor &first, const Tensor &second, unsigned dimension);
Tensor append(const Tensor &first, const Tensor &second);

} // namespace poplar
