// Element-wise work over any strides: the index space that the operands share
// is simplified, cut into shards and walked in blocks, which stay within rows
// where rows are long. Operands whose rows are not contiguous, or not of a type
// that blocks hold, pass through small buffers.
#pragma once

#include <kernels/KernelEntry.hpp>

#include <bitset>
#include <span>
#include <vector>

namespace kernels {

// An index space with equal neighbouring dimensions merged, outermost first in
// the order of the outputs' memory.
struct BlockSpace {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::int64_t>> strides; // of each operand

  std::int64_t elements() const { return support::elementCount(extents); }
};

// `operands` have equal shapes; the first one's memory sets the order.
BlockSpace makeBlockSpace(std::span<const OperandSpec *const> operands);

class BlockPlan : public Plan {
public:
  // More operands than any update and all but absurd expressions have.
  static constexpr std::size_t maxOperands = 64;

  void run(std::uint32_t task, std::byte *const *operands,
           Memory memory) const override;

protected:
  // What compute() gets for one block: at most blockElements, except where the
  // plan has no buffers at all, so that nothing must be kept small. Pointers
  // are to elements of the operands' lanes (loops/IntegerLoops.hpp): floats in
  // most plans.
  struct Block {
    const float *const *inputs;
    float *const *outputs;
    std::int64_t count;
    std::byte *const *operands; // of the call, for scalars
    float *buffers;             // the plan's own, one after another
  };

  // `inputs` and `outputs` are operands of the call with equal shapes;
  // `scalars` are other operands, which every task reads. `nanoseconds` is the
  // cost of an element, `buffers` the number of block buffers that compute()
  // wants, for elements of at most elementBytes. `singles` are the inputs (by
  // position) that compute() takes as one element where all of a block are
  // equal.
  BlockPlan(const Signature &signature, std::vector<std::size_t> inputs,
            std::vector<std::size_t> outputs, std::vector<std::size_t> scalars,
            double nanoseconds, std::size_t buffers,
            std::size_t elementBytes = sizeof(float),
            std::bitset<maxOperands> singles = {});

  // Whether compute() gets one element of this input, which stands for all.
  bool isSingle(std::size_t input) const { return inputs_[input].isSingle; }

  virtual void compute(const Block &block) const = 0;

private:
  enum class Use {
    InPlace, // the elements are where the space has them
    InRows,  // every row is contiguous or single, and blocks stay within rows
    Once,    // through a buffer that is the same for every block
    Each     // through a buffer
  };
  struct Operand {
    std::size_t index; // in the call
    DataType type;
    std::int64_t size; // bytes of an element
    std::vector<std::int64_t> strides;
    bool isSingle;
    Use use;
    bool hasBuffer() const { return use == Use::Once || use == Use::Each; }
  };
  struct Shard {
    std::int64_t begin, end; // elements of the space, row-major
  };

  bool hasOneValue(const std::vector<std::int64_t> &strides) const;
  Use useOf(DataType type, const std::vector<std::int64_t> &strides,
            bool isInput, bool isSingle) const;
  void addShards(const Signature &signature, double nanoseconds);
  std::vector<Access> accesses(const Signature &signature, std::int64_t begin,
                               std::int64_t end, std::int64_t unit) const;
  std::int64_t rowOffset(const Operand &operand, std::int64_t row) const;
  template <typename Visit>
  void forRuns(const Operand &operand, std::int64_t begin, std::int64_t count,
               const Visit &visit) const;
  void load(const Operand &operand, const std::byte *data, std::int64_t begin,
            std::int64_t count, std::byte *to) const;
  void store(const Operand &operand, std::byte *data, std::int64_t begin,
             std::int64_t count, const std::byte *from) const;

  std::vector<std::int64_t> extents_;
  bool hasLongRows_; // blocks stay within them
  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
  std::vector<std::size_t> scalars_;
  std::vector<Shard> shards_;
  std::size_t buffers_;    // of compute()
  std::size_t blockBytes_; // of a buffer
  std::int64_t step_;      // elements of a block, at most
};

} // namespace kernels
