// What the classes of built-in operators are declared with. Their objects are
// operations of the IR: getters read the attributes and the indices that the
// operator's rule (popart/src/ops/) has, setters write them.
#pragma once

#include <popart/op.hpp>
#include <popart/operators.hpp>

// The constructor that the IR makes objects with, and the copy of one.
#define POPART_OP_CLASS(CLASS, BASE)                                           \
  explicit CLASS(const IrOperation &operation) : BASE(operation) {}            \
  std::unique_ptr<Op> clone() const override {                                 \
    return std::unique_ptr<Op>(new CLASS(*this));                              \
  }

// A class that adds nothing but its name and its operator's meaning.
#define POPART_PLAIN_OP(CLASS, BASE, DOMAIN, TYPE)                             \
  class CLASS : public BASE {                                                  \
  public:                                                                      \
    CLASS(const OperatorIdentifier &opid, const Op::Settings &settings)        \
        : CLASS(opid, OperatorIdentifier(DOMAIN, TYPE), settings) {}           \
    POPART_OP_CLASS(CLASS, BASE)                                               \
                                                                               \
  protected:                                                                   \
    CLASS(const OperatorIdentifier &opid, const OperatorIdentifier &meaning,   \
          const Op::Settings &settings, Attributes attributes = {})            \
        : BASE(opid, meaning, settings, std::move(attributes)) {}              \
  };

// The same for an operator whose first input and output have no names of their
// own.
#define POPART_SIMPLE_OP(CLASS, DOMAIN, TYPE)                                  \
  class CLASS : public Op {                                                    \
  public:                                                                      \
    CLASS(const OperatorIdentifier &opid, const Op::Settings &settings)        \
        : Op(opid, OperatorIdentifier(DOMAIN, TYPE), settings) {}              \
    POPART_OP_CLASS(CLASS, Op)                                                 \
                                                                               \
    static InIndex getInIndex() { return 0; }                                  \
    static OutIndex getOutIndex() { return 0; }                                \
  };
